"""Server-sent events, however the bytes are cut and whatever they are."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from agent.model.anthropic.stream import EventReader, ServerEvent

lines = st.sampled_from([
    b"data: one", b"data:two", b"data: ", b"event: ping", b": comment", b"retry: 3", b"id: 7", b"odd words", b"", b"",
    b"data: caf\xc3\xa9", b"data: \xff", b"data", "data: a\u2028b".encode(),
])  # fmt: skip


def read(*chunks: bytes) -> tuple[Sequence[ServerEvent], str]:
    reader = EventReader()
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return [*events, *reader.finish()], reader.other


@given(st.lists(st.tuples(lines, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=8), st.data())
def test_the_cut_does_not_matter(given: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    body = b"".join(line + end for line, end in given)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=5)))
    chunks = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert read(*chunks) == read(body) == read(*(bytes([one]) for one in body))


def test_every_part_of_an_event() -> None:
    events, other = read(b": hello\nevent: a\ndata: one\ndata: two\n\ndata:x\r\n\r\nwhat is this\n\ndata: end")
    assert events == [ServerEvent("a", "one\ntwo"), ServerEvent("", "x"), ServerEvent("", "end")]
    assert other == "what is this\n"


def test_only_line_ends_of_the_format_end_a_line() -> None:
    events, _ = read("data: a\u2028b\x85c\x0bd\n\n".encode())
    assert events == [ServerEvent("", "a\u2028b\x85c\x0bd")]


def test_bytes_that_are_not_utf_8_cost_one_character() -> None:
    events, _ = read(b"data: a\xffb\xc3\n\n")
    assert events == [ServerEvent("", "a\ufffdb\ufffd")]
