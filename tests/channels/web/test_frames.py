"""What a page may say."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.web.frames import BadFrame, Older, Open, PressFrame, SayFrame, UploadedFile, read

ID = "0123456789abcdef"
HANDLE = "0" * 32


def test_each_kind() -> None:
    assert read('{"type": "open", "chat": "main"}') == Open("main")
    assert read(json.dumps({"type": "say", "id": ID, "text": "hello"})) == SayFrame(ID, "hello")
    files = [{"handle": HANDLE, "name": "a.pdf", "media_type": "application/pdf"}]
    said = {"type": "say", "id": ID, "text": "", "files": files}
    assert read(json.dumps(said)) == SayFrame(ID, "", (UploadedFile(HANDLE, "a.pdf", "application/pdf"),))
    pressed = {"type": "press", "id": ID, "message": ID, "data": "/jobs done tea"}
    assert read(json.dumps(pressed)) == PressFrame(ID, ID, "/jobs done tea")
    assert read('{"type": "older", "before": 7}') == Older(7)


def test_what_no_file_can_hold_is_mended() -> None:
    said = read(json.dumps({"type": "say", "id": ID, "text": "a\ud800b\0c\r\n\U0001f600"}))
    assert isinstance(said, SayFrame) and said.text == "a\ufffdbc\n\U0001f600"


@pytest.mark.parametrize(
    ("frame", "hopeless"),
    [
        ("", True),
        ("hello", True),
        ("[1]", True),
        ("[" * 100_000, True),
        ("{}", False),
        ('{"type": 1}', False),
        ('{"type": "fly"}', False),
        ('{"type": ["say"]}', False),
        ('{"type": "open"}', False),
        ('{"type": "open", "chat": "../etc"}', False),
        ('{"type": "open", "chat": ""}', False),
        (json.dumps({"type": "say", "id": "short", "text": "x"}), False),
        (json.dumps({"type": "say", "id": ID}), False),
        (json.dumps({"type": "say", "id": ID, "text": 3}), False),
        (json.dumps({"type": "say", "id": ID, "text": "", "files": "all"}), False),
        (json.dumps({"type": "say", "id": ID, "text": "", "files": [1]}), False),
        (json.dumps({"type": "say", "id": ID, "text": "", "files": [{"handle": "../../config.yaml"}]}), False),
        (json.dumps({"type": "press", "id": ID, "message": "\ud800", "data": ""}), False),
        ('{"type": "older", "before": true}', False),
        ('{"type": "older", "before": -1}', False),
        ('{"type": "older", "before": 1e400}', False),
        ('{"type": "older", "before": 99999999999999999999999}', False),
    ],
)
def test_anything_else_is_no_frame(frame: str, hopeless: bool) -> None:
    with pytest.raises(BadFrame) as refused:
        read(frame)
    assert refused.value.hopeless is hopeless


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"type": "fly"}, "there is no frame of the type 'fly'; reload the page"),
        ({"type": "open"}, "chat is missing"),
        ({"type": "open", "chat": "../etc"}, "chat is not of the form [A-Za-z0-9_-]{1,64}"),
        ({"type": "say", "id": ID, "text": 3}, "text is no text"),
        ({"type": "say", "id": ID, "text": "", "files": "all"}, "files is no list of objects"),
        ({"type": "say", "id": ID, "text": "", "files": [{"handle": "x"}]}, "handle is not of the form [0-9a-f]{32}"),
        ({"type": "press", "id": ID, "message": "\ud800", "data": ""}, "message is no text"),
        ({"type": "older", "before": True}, "before is no number"),
    ],
)
def test_the_page_is_told_what_is_wrong(fields: dict[str, object], why: str) -> None:
    with pytest.raises(BadFrame) as refused:
        read(json.dumps(fields))
    assert str(refused.value) == why


_scalars = st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from(("", "x", ID, HANDLE, "\ud800"))
_values = _scalars | st.lists(_scalars, max_size=3) | st.lists(st.dictionaries(st.just("handle"), _scalars), max_size=2)
FIELDS = ("type", "chat", "id", "text", "files", "message", "data", "before")


@given(st.dictionaries(st.sampled_from(FIELDS), _values | st.sampled_from(("open", "say", "press", "older"))))
def test_it_is_read_or_refused_and_nothing_else(fields: dict[str, object]) -> None:
    try:
        read(json.dumps(fields))
    except BadFrame:
        pass
