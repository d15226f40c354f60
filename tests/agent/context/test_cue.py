"""What a message says that can call memories up, read from it alone."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.context.recall_gate import cue_of

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("When is my dentist appointment?", ["dentist", "appointment"]),
        ("hmm, never mind, that was funny", []),
        ("What did I do last Friday?", []),
        ("我的牙医是谁？", ["牙医"]),
        ("我不喜欢健身", ["健身"]),  # 欢健 is cut from two words
        ("秋についてのレシピ", ["レシ", "シピ"]),
        ("7 and 42 and KX-2291", ["kx", "2291"]),
    ],
)
def test_informative_words_are_neither_small_talk_nor_days_nor_grammar(message: str, words: list[str]) -> None:
    assert list(cue_of(message, TODAY).words) == words


def test_every_word_of_a_long_chinese_message_counts() -> None:
    message = "上海浦东机场到苏州园林酒店的高铁车票，还有杭州西湖边茶馆里的龙井价格，南京博物院展览门票"
    assert {"浦东", "园林", "龙井", "门票"} <= cue_of(message, TODAY).words.keys()


def test_four_characters_are_two_words() -> None:
    assert cue_of("龙井茶叶", TODAY).size == 2


@pytest.mark.parametrize(
    "message",
    [
        "What is my blood type?",
        "where did we park",
        "Did you recommend a novel?",
        "Wo habe ich geparkt?",
        "Was hast du mir empfohlen?",
        "¿Dónde aparcamos nuestro coche?",
        "¿Qué vino me recomendaste?",
        "Où est mon passeport ?",
        "Tu te rappelles le nom du vin ?",
        "我的护照在哪里？",
        "你给我推荐过什么书？",
        "私のパスポートはどこ？",
    ],
)
def test_a_question_about_one_s_own_life_is_known_by_who_is_meant(message: str) -> None:
    cue = cue_of(message, TODAY)
    assert cue.is_life and cue.asks and not cue.is_task


@pytest.mark.parametrize(
    "message",
    [
        "write a haiku about autumn",
        "Could you please explain the tides to me?",
        "tell me a joke",
        "Schreib mir bitte ein Gedicht über den Regen",
        "Kannst du mir die Gezeiten erklären und eine Skizze machen?",
        "Traduce esto al inglés",
        "Explique-moi les marées",
        "给我推荐一家咖啡店的名字",
        "请帮我把这句话翻译成英文",
        "潮の満ち引きを説明してください",
    ],
)
def test_whom_a_task_is_for_makes_it_no_question_about_a_life(message: str) -> None:
    assert not cue_of(message, TODAY).is_life


@pytest.mark.parametrize(
    "message",
    [
        "write a haiku about autumn",
        "Can you please summarize this text?",
        "bitte übersetze das ins Englische",
        "¿Puedes escribir un poema?",
        "peux-tu rédiger une lettre ?",
        "请写一首诗",
        "帮我翻译这句话",
        "俳句を書いてください",
    ],
)
def test_a_task_begins_by_asking_for_something_to_be_made(message: str) -> None:
    assert cue_of(message, TODAY).is_task


@pytest.mark.parametrize(
    ("message", "asks"),
    [("was steht heute an", True), ("that was a long meeting", False), ("creo que sí", False), ("qui a gagné", True)],
)
def test_a_word_that_asks_in_one_language_may_be_another_s(message: str, asks: bool) -> None:
    assert cue_of(message, TODAY).asks == asks


def test_a_name_has_a_capital_and_begins_no_sentence() -> None:
    assert cue_of("Yesterday Odette won. Chess is hard", TODAY).names == {"odette"}
    assert not cue_of("Ich habe das Auto in der Garage", TODAY).names  # in German every noun has one


@pytest.mark.parametrize(
    ("message", "is_of_days"),
    [("what did I do yesterday?", True), ("was war am 3. Mai?", True), ("I am tired today", False), ("see you", False)],
)
def test_only_past_days_call_up_what_is_of_them(message: str, is_of_days: bool) -> None:
    assert cue_of(message, TODAY).is_of_days == is_of_days


@given(st.text(max_size=400))
def test_any_message_can_be_read(message: str) -> None:
    cue = cue_of(message, TODAY)
    assert all(cue.words) and cue.names <= cue.words.keys()
    assert all(count in (0.5, 1.0) for count in cue.words.values())
