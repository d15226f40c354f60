"""In which language something is said: that of most of its words."""

from __future__ import annotations

import pytest

from agent.languages.codes import Language
from agent.model.offline.intent import told_language

EN, DE, ES, FR, IT, ZH, JA = (Language(code) for code in ("en", "de", "es", "fr", "it", "zh", "ja"))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I love 寿司 and my cat", EN),
        ("The word for tea is お茶 and I like it", EN),
        ("我 is the word for I", EN),
        ("Das ist ein 寿司 und der Tee", DE),
        ("Me gusta el 刺身 y mi té", ES),
        ("J'aime le 寿司 et mon chat est là", FR),
        ("我今天下午要去看牙医，请提醒我", ZH),
        ("我用 iPhone 拍了很多照片，你要看吗", ZH),
        ("请看 https://example.com/a/long/path/of/words 谢谢你", ZH),
        ("猫的名字是露娜", ZH),
        ("我喜欢吃寿司と刺身", ZH),
        ("今日は歯医者に行きます", JA),
        ("東京都渋谷区で会議", JA),
        ("iPhone で写真を撮りました", JA),
    ],
)
def test_it_is_that_of_most_of_the_words(text: str, language: Language) -> None:
    assert told_language(text) is language


@pytest.mark.parametrize("text", ["寿司", "東京大学", "明日会議", "4711", "…", "寿司 🍣"])
def test_kanji_alone_prove_nothing(text: str) -> None:
    assert told_language(text) is None


@pytest.mark.parametrize("text", ["こんにちは", "ありがとうございます", "你好", "谢谢", "寿司", "お茶"])
def test_one_word_is_not_clear(text: str) -> None:
    assert told_language(text, 2) is None


@pytest.mark.parametrize(
    ("text", "language"), [("我今天去看牙医", ZH), ("今日は歯医者に行く", JA), ("my cat is ill", EN)]
)
def test_a_sentence_is_clear(text: str, language: Language) -> None:
    assert told_language(text, 2) is language


ROMANCE = {
    IT: """\
        Mi piace il tè verde e odio il caffè|Mia sorella si chiama Anna|Ho comprato una macchina nuova
        Oggi sono andato al mare con i bambini|Dove ho messo le chiavi?|Quando parte il treno per Milano?
        Domani devo pagare la bolletta|Non mi piace la pioggia|Che cosa mi hai detto ieri?
        La password del wifi è gatto|Ricordami di comprare il latte|Un caffè e una brioche
        Vado a Parigi la settimana prossima|la riunione di lunedì è spostata|La mia casa è piccola""",
    ES: """\
        Me gusta el té verde y odio el café|Mi hermana se llama Ana|He comprado un coche nuevo
        Hoy fui a la playa con los niños|¿Dónde puse las llaves?|¿Cuándo sale el tren para Madrid?
        Mañana tengo que pagar la factura|No me gusta la lluvia|¿Qué me dijiste ayer?
        La contraseña del wifi es gato|Esta noche comemos pizza en el centro|Un café y una tostada
        La reunión del lunes se ha movido|no sé si ha llamado mi madre|Mi casa es pequeña""",
    FR: """\
        J'aime le thé vert et je déteste le café|Ma sœur s'appelle Anne|J'ai acheté une voiture neuve
        Aujourd'hui je suis allé à la plage avec les enfants|Où ai-je mis les clés ?|Quand part le train pour Lyon ?
        Demain je dois payer la facture|Je n'aime pas la pluie|Qu'est-ce que tu m'as dit hier ?
        Le mot de passe du wifi est chat|Rappelle-moi d'acheter du lait|Un café et une tartine
        il est tard et je suis fatigué|il ne mange pas de viande|Ma maison est petite""",
}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (text.strip(), language)
        for language, texts in ROMANCE.items()
        for text in texts.replace("\n", "|").split("|")
        if text.strip()
    ],
)
def test_italian_spanish_and_french_are_told_apart(text: str, language: Language) -> None:
    assert told_language(text) is language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("60 miles per hour", None),
        ("Wir sind da", DE),
        ("Alle Kinder sind da", DE),
        ("lo siento mucho", None),
    ],
)
def test_what_another_language_has_too_is_not_italian(text: str, language: Language | None) -> None:
    assert told_language(text) is language
