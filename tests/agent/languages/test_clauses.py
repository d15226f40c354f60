"""An order may be one clause of a longer line, in any language; a statement with the same words stays one."""

from __future__ import annotations

import pytest

from agent.languages.order_words import MOST_CHARS
from agent.model.offline.intent import IntentKind, plain_command, understand


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("gonna nap, wake me up in 40 mins", "/order wake en in 40 mins |  | gonna nap"),
        ("knackered, set an alarm for 6", "/order wake en for 6 |  | knackered"),
        ("so i'm off to bed. wake me at 7 please", "/order wake en at 7 |  | i'm off to bed"),
        ("feeling better so cancel the dentist", "/order cancel en the dentist |  | feeling better"),
        (
            "not going to the dentist after all, get rid of that reminder",
            "/order cancel en that reminder |  | not going to the dentist after all",
        ),
        ("the vitamins are annoying, turn them off", "/order cancel en  |  | the vitamins are annoying"),
        ("we're out of milk, put it on the list", "/order add en milk | the list"),
        ("we've got enough eggs so take them off the list", "/order take en eggs | the list"),
        ("muss gleich los, stell mir einen Timer auf 10 Minuten", "/order timer de Timer auf 10 Minuten"),
        ("der Zahnarzt ist jetzt um halb fünf, änder das bitte", "/order move de  |  | der Zahnarzt ist"),
        ("der Zahnarzt hat abgesagt, lösch die Erinnerung", "/order cancel de die Erinnerung |  | der Zahnarzt"),
        ("Milch ist alle, setz sie auf die Liste", "/order add de Milch | die Liste"),
        ("hab gleich Meeting, also erinner mich in 20 Minuten an den Kuchen", "/order remind de in 20 Minuten"),
        ("me echo una siesta, despiértame en 40 min", "/order wake es en 40 min |  | me echo una siesta"),
        ("no queda leche, ponla en la lista", "/order add es leche | la lista"),
        ("el dentista es el viernes a las 9, cámbialo", "/order move es  |  | el dentista es el viernes"),
        ("las vitaminas me molestan, quítalas", "/order cancel es  |  | las vitaminas me molestan"),
        ("je fais une sieste réveille-moi dans 40 minutes", "/order wake fr dans 40 minutes"),
        ("y a plus de lait, mets-le sur la liste", "/order add fr lait | la liste"),
        ("on a assez d'œufs donc enlève-les de la liste", "/order take fr d'œufs | la liste"),
        ("je suis malade alors annule le dentiste", "/order cancel fr le dentiste |  | je suis malade"),
        ("faccio un pisolino svegliami tra 40 min", "/order wake it tra 40 min |  | faccio un pisolino"),
        ("è finito il latte, mettilo sulla lista della spesa", "/order add it latte | lista della spesa"),
        ("sto male quindi cancella il dentista", "/order cancel it il dentista |  | sto male"),
        ("歯医者が来週月曜の12時になったから直しといて", "/order move ja  |  | 歯医者が来週月曜の12時になった"),
        ("卵がなくなった。買い物リストに入れといて", "/order add ja 卵 | 買い物リスト"),
        ("ビタミンもう飲んでないから消して", "/order cancel ja  |  | ビタミンもう飲んでない"),
        ("后天上午十点水管工上门，到时候叫我一声", "/order remind zh  |  | 后天上午十点水管工上门"),
        ("鸡蛋没了，加到购物清单上", "/order add zh 鸡蛋 | 购物清单"),
        ("不去看牙了，把提醒删了", "/order cancel zh  |  | 不去看牙了"),
    ],
)
def test_an_order_is_found_in_its_clause(line: str, command: str) -> None:
    assert str(plain_command(line)).startswith(command)


@pytest.mark.parametrize(
    "line",
    [
        "Bob said, remind me tomorrow",
        "Remind me tomorrow, Bob said",
        "She told me, wake me up at 6",
        "Mum asked, can you remind me to take my pills at 8",
        "“Wake me up” is a great song, we danced to it",
        "I woke up at 6, set the alarm for 7 and went back to sleep",
        "The kids broke the timer, 10 minutes of crying",
        "Anna cancelled, her reminder app failed",
        "the alarm didn't go off, i was late by an hour",
        "Took the bread out of the oven, it smells great",
        "Anna called, she will move the sofa on Friday",
        "Bob hat gesagt, erinner mich morgen um 9",
        "Mama meinte gestern, weck mich bitte um 7",
        "Erinner mich morgen, sagte Bob",
        "Der Timer ist kaputt, 10 Minuten gewartet",
        "Anna hat den Wecker gestellt, um 7 sind wir los",
        "Bob dijo, recuérdame mañana",
        "mi madre me dijo, despiértame a las 7",
        "puse la alarma a las 7, pero no sonó",
        "Anna canceló la cita, qué pena",
        "Paul a dit, rappelle-moi demain",
        "j'ai mis le réveil à 7h, mais il n'a pas sonné",
        "Bob ha detto, ricordami domani alle 9",
        "ho messo la sveglia alle 7, ma non ha suonato",
        "ボブが明日リマインドしてと言った",
        "母が、7時に起こしてって言ってた",
        "タイマーが壊れた。10分待った",
        "鲍勃说，明天提醒我",
        "闹钟坏了，早上七点没响",
    ],
)
def test_what_tells_of_an_order_is_kept(line: str) -> None:
    assert plain_command(line) is None
    assert understand(line).wish is IntentKind.FILE


@pytest.mark.parametrize("line", ["cancel bread, mum and dentist", "remove the milk, it's sour"])
def test_the_clause_at_the_start_is_the_order(line: str) -> None:
    assert plain_command(line) is not None


@pytest.mark.parametrize(
    "line",
    [
        "the bike is in the garage now, change that",
        "Das Sofa kostet 480 Euro, korrigier das",
        "ho cambiato la password, aggiorna",
    ],
)
def test_what_no_command_carries_out_is_kept(line: str) -> None:
    command = plain_command(line)
    assert command is not None and command.is_from_clause
    assert understand(line).wish is IntentKind.FILE


@pytest.mark.parametrize("filling", [", a", "，那", " - b ", ". so, "])
def test_of_many_clauses_none_is_an_order(filling: str) -> None:
    assert plain_command((filling * MOST_CHARS)[: MOST_CHARS - 20] + ", wake me at 7") is None


@pytest.mark.parametrize(
    "line",
    [
        "oops, that was wrong, delete it again",
        "sorry, wrong chat, please undo",
        "ne warte, nimm das letzte zurück",
        "ups falsch, mach das wieder weg",
        "uy, chat equivocado, bórralo",
        "oups, c'était faux, efface ça",
        "ops, era sbagliato, cancellalo",
        "ごめん違った、取り消して",
        "等等，刚才那条不算",
    ],
)
def test_a_slip_beside_it_takes_back_what_came_last(line: str) -> None:
    assert str(plain_command(line)) == "/undo"


@pytest.mark.parametrize(
    "line",
    [
        "that's wrong, the bike is at Ben's place",
        "sorry I meant the bike is at Ben's place",
        "das ist falsch, das Fahrrad ist bei Ben",
        "perdón, quería decir que la bici está en casa de Ben",
        "pardon, je voulais dire que le vélo est chez Ben",
        "scusa, volevo dire che la bici è da Ben",
    ],
)
def test_a_slip_beside_the_right_fact_is_no_order(line: str) -> None:
    assert plain_command(line) is None
