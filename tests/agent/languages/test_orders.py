"""Orders in plain words are told from statements in every language."""

from __future__ import annotations

import pytest

from agent.languages.orders import without_articles
from agent.model.offline.intent import IntentKind, plain_command, understand


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("delete the bread reminder", "/jobs drop bread"),
        ("cancel the reminder", "/jobs drop"),
        ("Cancel my reminder to call mum", "/jobs drop call mum"),
        ("can you delete the dentist reminder?", "/jobs drop dentist"),
        ("Lösch die Erinnerung an den Zahnarzt", "/jobs drop den Zahnarzt"),
        ("lösche bitte die Erinnerung", "/jobs drop"),
        ("Sag die Erinnerung an den Zahnarzt ab", "/jobs drop den Zahnarzt"),
        ("stell den Wecker aus", "/jobs drop"),
        ("Borra el recordatorio de mamá", "/jobs drop mamá"),
        ("cancela el recordatorio", "/jobs drop"),
        ("Supprime le rappel du dentiste", "/jobs drop dentiste"),
        ("annule le rappel", "/jobs drop"),
        ("Cancella il promemoria del dentista", "/jobs drop dentista"),
        ("elimina tutti i promemoria", "/jobs drop"),
        ("togli la sveglia", "/jobs drop"),
        ("取消给妈妈打电话的提醒", "/jobs drop 给妈妈打电话"),
        ("把牙医的提醒取消掉", "/jobs drop 牙医"),
        ("歯医者のリマインダーを消して", "/jobs drop 歯医者"),
        ("actually make it 4 instead of 3", "/jobs move 4"),
        ("make it 5pm", "/jobs move 5pm"),
        ("change the call mum reminder to 5pm", "/jobs move call mum reminder to 5pm"),
        ("move the dentist to Friday at 9", "/jobs move dentist to Friday at 9"),
        ("Verschieb den Zahnarzt auf 16 Uhr", "/jobs move Zahnarzt auf 16 Uhr"),
        ("mach es lieber um 4", "/jobs move um 4"),
        ("cambia el dentista a las 5", "/jobs move dentista a las 5"),
        ("décale le dentiste à 16h", "/jobs move dentiste à 16h"),
        ("sposta il dentista a venerdì alle 9", "/jobs move dentista a venerdì alle 9"),
        ("no, meglio alle 5", "/jobs move alle 5"),
        ("改成下午4点", "/jobs move 下午4点"),
        ("把牙医改到下午四点", "/jobs move 牙医 | 下午四点"),
        ("歯医者を16時に変えて", "/jobs move 歯医者 | 16時"),
        ("what reminders do I have?", "/jobs due"),
        ("What do I have to do tomorrow?", "/jobs due tomorrow"),
        ("what's due today?", "/jobs due today"),
        ("show me my reminders", "/jobs due"),
        ("what's on this week?", "/jobs due week"),
        ("Was steht morgen an?", "/jobs due tomorrow"),
        ("Welche Erinnerungen habe ich?", "/jobs due"),
        ("was hab ich heute zu tun?", "/jobs due today"),
        ("¿Qué recordatorios tengo?", "/jobs due"),
        ("¿qué tengo que hacer mañana?", "/jobs due tomorrow"),
        ("Quels rappels ai-je ?", "/jobs due"),
        ("qu'est-ce que j'ai à faire demain ?", "/jobs due tomorrow"),
        ("Quali promemoria ho?", "/jobs due"),
        ("che cosa ho da fare domani?", "/jobs due tomorrow"),
        ("cosa c'è in programma questa settimana?", "/jobs due week"),
        ("我明天有什么安排？", "/jobs due tomorrow"),
        ("我有哪些提醒", "/jobs due"),
        ("明日の予定は？", "/jobs due tomorrow"),
        ("set a timer for 10 minutes", "/jobs timer 10 minutes"),
        ("Stell einen Timer auf 10 Minuten", "/jobs timer 10 Minuten"),
        ("pon un temporizador de 10 minutos", "/jobs timer 10 minutos"),
        ("mets un minuteur de 10 minutes", "/jobs timer 10 minutes"),
        ("metti un timer di 10 minuti", "/jobs timer 10 minuti"),
        ("设一个10分钟的定时器", "/jobs timer 10分钟"),
        ("10分のタイマーをかけて", "/jobs timer 10分"),
        ("wake me up at 7", "/jobs wake at 7"),
        ("Weck mich um 7", "/jobs wake um 7"),
        ("despiértame a las 7", "/jobs wake a las 7"),
        ("réveille-moi à 7h", "/jobs wake à 7h"),
        ("svegliami alle 7", "/jobs wake alle 7"),
        ("metti la sveglia alle 7", "/jobs wake alle 7"),
        ("明天早上7点叫醒我", "/jobs wake 明天早上7点"),
        ("明日7時に起こして", "/jobs wake 明日7時"),
        ("stop", "/stop"),
        ("Hör auf", "/stop"),
        ("arrête", "/stop"),
        ("fermati", "/stop"),
        ("停", "/stop"),
        ("sum up my day", "/daily now"),
        ("Fass meinen Tag zusammen", "/daily now"),
        ("resume mi día", "/daily now"),
        ("résume ma journée", "/daily now"),
        ("riassumi la giornata", "/daily now"),
        ("总结一下今天", "/daily now"),
        ("今日のまとめ", "/daily now"),
    ],
)
def test_an_order_is_what_its_command_does(line: str, command: str) -> None:
    assert str(plain_command(line)) == command


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
