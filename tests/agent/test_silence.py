"""NO_REPLY, cut in every way."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.silence import NO_REPLY, SilentFilter, deliverable_text
from tests.strength import examples


def streamed(pieces: list[str]) -> list[str]:
    stream = SilentFilter()
    return [*(stream.feed(piece) for piece in pieces), stream.finish()]


def cuts(text: str, most: int) -> list[list[str]]:
    """Every way to cut a text in at most `most` places."""
    ways = []
    for count in range(most + 1):
        for places in itertools.combinations(range(1, len(text)), count):
            edges = [0, *places, len(text)]
            ways.append([text[a:b] for a, b in itertools.pairwise(edges)])
    return ways


@pytest.mark.parametrize("token", [NO_REPLY, "no_reply", "No_Reply", " NO_REPLY\n", "\n\nNO_REPLY  "])
def test_invariant_10_nothing_of_a_bare_token_is_shown_however_it_is_cut(token: str) -> None:
    for pieces in cuts(token, 3):
        assert "".join(streamed(pieces)).strip() == "", pieces
    assert "".join(streamed(list(token))).strip() == ""
    assert deliverable_text(token) == ""


def test_invariant_10_no_split_of_any_case_shows_anything() -> None:
    """128 cases of its letters, each in all 128 splits."""
    cases = map("".join, itertools.product(*((one.upper(), one.lower()) if one != "_" else one for one in NO_REPLY)))
    count = 0
    for token in cases:
        for pieces in cuts(token, len(token)):
            assert "".join(streamed(pieces)) == "", pieces
            count += 1
    assert count == 128 * 128


@pytest.mark.parametrize("text", ["Done.", "See the list:\n- a", "猫", "N", "NO", "x_NO", "Say"])
@pytest.mark.parametrize("gap", [" ", "\n", "\n\n"])
def test_invariant_10_a_token_behind_real_text_is_taken_off_however_it_is_cut(text: str, gap: str) -> None:
    whole = f"{text}{gap}NO_REPLY\n"
    for pieces in cuts(whole, 2):
        assert "".join(streamed(pieces)).rstrip() == text, pieces
    assert deliverable_text(whole) == text


AROUND = [
    *("**{}**", "*{}*", "_{}_", "__{}__", "***{}***", "`{}`", "```\n{}\n```", "~~{}~~", "**`{}`**", "** {} **"),
    *('"{}"', "'{}'", "„{}“", "“{}”", "«{}»", "»{}«", "「{}」", "『{}』", "‹{}›", "[{}]", "({})", "【{}】", "<{}>"),
    *(
        "{}.",
        "{}!",
        "{}…",
        "{}。",
        '"{}."',
        '"{}".',
        "**{}.**",
        " {} ",
        "\n{}\n\n",
        "*{}",
        "{}**",
        "> {}",
        "- {}",
        "# {}",
        "\u200b{}\u200b",
    ),
]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("token", [NO_REPLY, "no_reply", "No\\_Reply", "NO_REPLY NO_REPLY"])
def test_invariant_10_nothing_of_a_decorated_token_is_shown_however_it_is_cut(around: str, token: str) -> None:
    said = around.format(token)
    for pieces in cuts(said, 2 if len(said) < 20 else 1):
        assert "".join(streamed(pieces)) == "", pieces
    assert streamed(list(said)) == [""] * (len(said) + 1)
    assert deliverable_text(said) == ""


@pytest.mark.parametrize("around", [one for one in AROUND if one not in ("*{}", "{}**")])
@pytest.mark.parametrize(
    "text", ["Done.", "**All done.**", "- a\n- b", "猫です。", 'He said "no."', "```\ncode\n```", "N", "(x)"]
)
def test_invariant_10_a_decorated_token_at_either_end_is_taken_off(around: str, text: str) -> None:
    for said in (f"{text}\n\n{around}", f"{text} {around}", f"{around}\n\n{text}"):
        whole = said.replace("{}", NO_REPLY)
        for pieces in (list(whole), *cuts(whole, 1)):
            assert "".join(streamed(pieces)).strip() == text, pieces
        assert deliverable_text(whole) == text


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("**All done. NO_REPLY**", "**All done.**"),
        ("**NO_REPLY\n\nHere it is**", "**Here it is**"),
        ("NO_REPLY: nothing to say", "nothing to say"),
        ("NO_REPLY **Here** it is", "**Here** it is"),
        ("NO_REPLY\n- one\n- two", "- one\n- two"),
        ("NO_REPLY\n* one\n* two", "* one\n* two"),
        ("NO_REPLY .gitignore", ".gitignore"),
        ("```\ncode\nNO_REPLY\n```", "```\ncode\n```"),
        ("Done.NO_REPLY", "Done."),
        ('It is called "NO_REPLY".', "It is called"),
    ],
)
def test_what_stood_around_the_text_stays_with_it(said: str, shown: str) -> None:
    assert deliverable_text(said) == shown


@pytest.mark.parametrize(
    "text",
    [
        *("NO_REPLYING", "**NO_REPLYING**", "NO_REPLY_TO", "_NO_REPLY_TO_", "MY_NO_REPLY", "DO_NO_REPLY", "NO_REPLY2"),
        *("No reply.", "no-reply@a.org", '"No"', "*Nothing*", "The NO_REPLY token is silent", "No_REPLAY", "NO\\REPLY"),
        *("NO_", "**NO_REP", "...", "**", '"', "(", "Well…"),
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert deliverable_text(text) == text
    for pieces in cuts(text, 2):
        assert "".join(streamed(pieces)) == text


@pytest.mark.parametrize(
    "text", ["Nothing new", "No, I do", "NO_REPLAY", '"No," he said', "**Not** now", "(N.B. this)", "* Note", "- No"]
)
def test_ordinary_text_waits_for_the_character_that_decides(text: str) -> None:
    """What could begin the token is held, and nothing longer than that."""
    stream, shown = SilentFilter(), ""
    for at, character in enumerate(text):
        shown += stream.feed(character)
        held = text[len(shown) : at + 1]
        assert re.fullmatch(r"[\s*_\"'().,-]*(?:N|NO|NO_|NO_R|NO_RE|NO_REP|NO_REPL)?", held, re.IGNORECASE), held


BARE = re.compile(r"[\s*_~`\"'„“「」().!-]*NO\\?_REPLY[\s*_~`\"'„“「」().!-]*", re.IGNORECASE)
near = st.lists(
    st.sampled_from(
        [
            *(
                "N",
                "NO",
                "NO_",
                "_REPLY",
                "NO_REPLY",
                "no_reply",
                "NO_REPLY!",
                "_",
                "x",
                " ",
                "\n",
                "Now",
                "NO\\_REPLY",
            ),
            *("**", "`", '"', "„", "“", "「", "」", ".", "(", ")", "\n```\n", "- "),
        ]
    )
    | st.text(st.characters(), max_size=3),
    max_size=8,
).map("".join)


@settings(max_examples=examples(1_000))
@given(near, st.data())
def test_invariant_10_stream_and_whole_text_agree_for_every_text_and_cut(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    edges = [0, *places, len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(edges)]
    assert "".join(streamed(pieces)).strip() == deliverable_text(text)


@settings(max_examples=examples(500))
@given(near, st.data())
def test_invariant_10_what_is_shown_is_never_taken_back(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    shown = ""
    stream = SilentFilter()
    for a, b in itertools.pairwise([0, *places, len(text)]):
        shown += stream.feed(text[a:b])
        assert not BARE.fullmatch(shown)
    whole = shown + stream.finish()
    assert whole.strip() == deliverable_text(text)
    assert not BARE.fullmatch(whole)
    rest = iter(text)
    assert all(character in rest for character in whole)


def test_ordinary_text_waits_for_one_character_only() -> None:
    stream = SilentFilter()
    assert stream.feed("N") == "" and stream.feed("o") == ""
    assert stream.feed("t") == "Not"
    assert stream.feed(" bad") == " bad"
