"""Orders in plain words are told from statements in every language."""

from __future__ import annotations

import pytest

from agent.languages.orders import without_articles
from agent.model.offline.intent import IntentKind, plain_command, understand


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("delete the bread reminder", "/order cancel"),
        ("cancel the reminder", "/order cancel"),
        ("Cancel my reminder to call mum", "/order cancel"),
        ("can you delete the dentist reminder?", "/order cancel"),
        ("Lösch die Erinnerung an den Zahnarzt", "/order cancel"),
        ("lösche bitte die Erinnerung", "/order cancel"),
        ("Sag die Erinnerung an den Zahnarzt ab", "/order cancel"),
        ("stell den Wecker aus", "/order cancel"),
        ("Borra el recordatorio de mamá", "/order cancel"),
        ("cancela el recordatorio", "/order cancel"),
        ("Supprime le rappel du dentiste", "/order cancel"),
        ("annule le rappel", "/order cancel"),
        ("取消给妈妈打电话的提醒", "/order cancel"),
        ("把牙医的提醒取消掉", "/order cancel"),
        ("歯医者のリマインダーを消して", "/order cancel"),
        ("actually make it 4 instead of 3", "/order move"),
        ("make it 5pm", "/order move"),
        ("change the call mum reminder to 5pm", "/order move"),
        ("move the dentist to Friday at 9", "/order move"),
        ("Verschieb den Zahnarzt auf 16 Uhr", "/order move"),
        ("mach es lieber um 4", "/order move"),
        ("cambia el dentista a las 5", "/order move"),
        ("décale le dentiste à 16h", "/order move"),
        ("改成下午4点", "/order move"),
        ("把牙医改到下午四点", "/order move"),
        ("歯医者を16時に変えて", "/order move"),
        ("what reminders do I have?", "/order due"),
        ("What do I have to do tomorrow?", "/order due"),
        ("what's due today?", "/order due"),
        ("show me my reminders", "/order due"),
        ("what's on this week?", "/order due"),
        ("Was steht morgen an?", "/order due"),
        ("Welche Erinnerungen habe ich?", "/order due"),
        ("was hab ich heute zu tun?", "/order due"),
        ("¿Qué recordatorios tengo?", "/order due"),
        ("¿qué tengo que hacer mañana?", "/order due"),
        ("Quels rappels ai-je ?", "/order due"),
        ("qu'est-ce que j'ai à faire demain ?", "/order due"),
        ("我明天有什么安排？", "/order due"),
        ("我有哪些提醒", "/order due"),
        ("明日の予定は？", "/order due"),
        ("set a timer for 10 minutes", "/order timer"),
        ("Stell einen Timer auf 10 Minuten", "/order timer"),
        ("pon un temporizador de 10 minutos", "/order timer"),
        ("mets un minuteur de 10 minutes", "/order timer"),
        ("设一个10分钟的定时器", "/order timer"),
        ("10分のタイマーをかけて", "/order timer"),
        ("wake me up at 7", "/order wake"),
        ("Weck mich um 7", "/order wake"),
        ("despiértame a las 7", "/order wake"),
        ("réveille-moi à 7h", "/order wake"),
        ("明天早上7点叫醒我", "/order wake"),
        ("明日7時に起こして", "/order wake"),
        ("Cancella il promemoria del dentista", "/order cancel"),
        ("elimina tutti i promemoria", "/order cancel"),
        ("togli la sveglia", "/order cancel"),
        ("sposta il dentista a venerdì alle 9", "/order move"),
        ("no, meglio alle 5", "/order move"),
        ("Quali promemoria ho?", "/order due"),
        ("che cosa ho da fare domani?", "/order due"),
        ("cosa c'è in programma questa settimana?", "/order due"),
        ("metti un timer di 10 minuti", "/order timer"),
        ("svegliami alle 7", "/order wake"),
        ("metti la sveglia alle 7", "/order wake"),
        ("stop", "/stop"),
        ("Hör auf", "/stop"),
        ("arrête", "/stop"),
        ("fermati", "/stop"),
        ("停", "/stop"),
        ("sum up my day", "/order sum_up"),
        ("Fass meinen Tag zusammen", "/order sum_up"),
        ("resume mi día", "/order sum_up"),
        ("résume ma journée", "/order sum_up"),
        ("总结一下今天", "/order sum_up"),
        ("今日のまとめ", "/order sum_up"),
        ("riassumi la giornata", "/order sum_up"),
    ],
)
def test_an_order_is_what_its_command_does(line: str, command: str) -> None:
    assert str(plain_command(line)).startswith(command)


@pytest.mark.parametrize(
    "line",
    [
        "I cancelled my gym membership",
        "Cancel culture is a topic at work",
        "The reminder app at work is broken",
        "We moved to Berlin in May",
        "Stop signs are red here",
        "My alarm rings at 7",
        "Mum wakes me at 7",
        "I made it to the finals",
        "What do I have in my cellar?",
        "What is today?",
        "what",
        "What is the wifi password?",
        "Der Wecker ist kaputt",
        "Ich verschiebe den Urlaub",
        "Was steht im Vertrag?",
        "Mi alarma es muy fuerte",
        "¿Qué tengo en el garaje?",
        "Le rappel des vaccins est en mai",
        "Il promemoria dei vaccini è a maggio",
        "La sveglia è rotta",
        "Che cosa ho in garage?",
        "Basta pane per oggi",
        "我取消了会员",
        "闹钟坏了",
        "我有一辆自行车",
        "予定より早く着いた",
        "アラームが壊れた",
        "Léo passe le bac en juin",
        "On a décalé la réunion à jeudi",
        "Paul me rappelle demain à 15h",
        "Hanno spostato la riunione a giovedì",
        "Giulia mi sveglia sempre alle 6",
        "早上八点叫了出租车去机场",
        "牙医改到下周二了，前台打电话说的",
        "妈妈提醒我明天带伞",
        "清单写好了",
        "リマインダーを全部消した",
        "母が6時に起こしてくれた",
    ],
)
def test_a_statement_or_another_question_is_no_order(line: str) -> None:
    assert plain_command(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "What's the weather tomorrow?",
        "tell me a joke",
        "how much is 17 * 23",
        "translate good morning into French",
        "Wie wird das Wetter morgen?",
        "Erzähl mir einen Witz",
        "Was ist 17 * 23?",
        "Übersetze guten Morgen ins Englische",
        "¿Qué tiempo hace hoy?",
        "cuéntame un chiste",
        "¿cuánto es 12 + 30?",
        "Quel temps fait-il demain ?",
        "raconte-moi une blague",
        "Che tempo fa domani?",
        "raccontami una barzelletta",
        "quanto fa 12 * 4?",
        "combien font 12 x 12 ?",
        "明天天气怎么样？",
        "讲个笑话",
        "17*23等于多少",
        "明日の天気は？",
        "おはようを英語に翻訳して",
    ],
)
def test_what_only_a_model_can_do_is_told_from_a_question_about_notes(line: str) -> None:
    assert understand(line).wish is IntentKind.NEEDS_MODEL


@pytest.mark.parametrize(
    "line",
    [
        "The weather was lovely in Rome",
        "I told a joke at work",
        "今天天气很好",
        "Das Wetter war schön",
        "What is 42 about?",
    ],
)
def test_a_statement_about_such_a_thing_is_kept(line: str) -> None:
    assert understand(line).wish is not IntentKind.NEEDS_MODEL


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("the bike", "bike"),
        ("my old bike", "old bike"),
        ("das Fahrrad", "Fahrrad"),
        ("mi bici", "bici"),
        ("l'appartement", "appartement"),
        ("我的自行车", "自行车"),
        ("Theo", "Theo"),
        ("the", "the"),
        ("Las Vegas", "Vegas"),
    ],
)
def test_articles_and_possessives_say_nothing_of_what_is_meant(said: str, left: str) -> None:
    assert without_articles(said) == left
