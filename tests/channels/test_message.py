"""The values that travel: no text in them that a file, a database or a platform could not take."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from channels.message import (
    Address,
    Attachment,
    Button,
    ChatKind,
    InboundMessage,
    OutboundFile,
    OutboundMessage,
    Quote,
    Sender,
    UnreadableEvent,
    WholeTexts,
)

texts = st.text(st.sampled_from(["a", "é", "\ud83d", "\ude00", "\udcff", "😀", "\ufeff", "\0"]), max_size=6)


@given(texts)
def test_no_value_holds_half_a_character(text: str) -> None:
    address = Address("telegram", "1")
    values: list[WholeTexts] = [
        Sender("1", text),
        Attachment("photo", text, words=text),
        Quote(text, text),
        UnreadableEvent("1", "telegram", text, text),
        Button(text, "/help"),
        OutboundFile(Path("x"), text),
        OutboundMessage(address, text),
        InboundMessage("1", address, ChatKind.GROUP, Sender("1", text), text, datetime.now(UTC), group_name=text),
    ]
    for value in values:
        str(value).encode()
        for name in value.__slots__:
            str(getattr(value, name)).encode()
    expected = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert OutboundMessage(address, text).text == expected
