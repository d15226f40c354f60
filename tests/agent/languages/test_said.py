"""Sentences whose English stands in the code, where they pass through errors and lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.languages.codes import Language
from agent.languages.sentences import Sentence, joined, translated
from agent.memory.files import UnreadableFile, read_text
from agent.model.base import ModelError


def test_an_error_made_of_a_sentence_can_still_be_translated(tmp_path: Path) -> None:
    (tmp_path / "list.md").write_bytes(b"\0")
    with pytest.raises(UnreadableFile) as raised:
        read_text(tmp_path / "list.md", tmp_path)
    wrapped = ModelError(Sentence("I can't ask the model's server. {why}", why=str(raised.value)))
    assert str(wrapped) == "I can't ask the model's server. list.md is a binary file"
    german = translated(Language("de"), str(wrapped))
    assert german == "Ich kann den Server des Modells nicht fragen. list.md ist keine Textdatei"
    told = Sentence("I couldn't save that: {why}", why=raised.value).in_language(Language("de"))
    assert told.endswith("list.md ist keine Textdatei")


def test_joined_sentences_can_still_be_translated_and_braces_in_them_stay() -> None:
    told = joined(["", "{count} and {", Sentence("the disk is full")], "; ")
    assert told == "{count} and {; the disk is full" and joined([]) == ""
    assert translated(Language("de"), told) == "{count} and {; die Festplatte ist voll"
