"""In which language something is said: that of most of its words."""

from __future__ import annotations

import pytest

from agent.languages.codes import Language
from agent.model.offline.intent import told_language

EN, DE, ES, FR, ZH, JA = (Language(code) for code in ("en", "de", "es", "fr", "zh", "ja"))


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
