"""How the source is written: one class a name, and docstrings that are complete by themselves.

`_LEFT` may only shrink: what is no longer found must leave it.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.structure import Source, of_docstrings, read, shared_names
from tests.flows.process import ROOT

_LEFT = frozenset[str](
    (
        "agent.languages.date_readers:_nth",
        "agent.memory.provenance:Provenance",
        "agent.memory.provenance:_ends_of_blocks",
        "agent.memory.redaction_lock:RedactionLock",
        "agent.memory.redaction_lock:reading",
        "agent.search.bm25:proximity",
        "agent.search.ranking:_place",
        "agent.search.result_text:Quotations",
        "agent.search.sources:_day",
        "agent.search.sources:_day_of_name",
        "agent.search.sources:_paragraphs",
        "agent.search.tokenizer:term_of",
        "agent.search.vectors.cache:date",
        "agent.search.vectors.local:_session",
        "agent.search.vectors.model_folder:_largest_graph",
        "agent.search.vectors.pending:PendingTexts",
        "agent.search.vectors.protocol:shares",
        "agent.search.vectors.protocol:windows",
        "agent.search.vectors.similarity:_Found",
        "agent.search.vectors.store:name_all",
        "agent.search.vectors.store:sections",
        "agent.search.vectors.store:since",
        "channels.delimiters:_is_wide",
        "channels.discord.inbound:_quoted_files",
        "channels.telegram.migrations:learn",
        "channels.web.record:handles",
    )
)
"""Docstrings that still begin with "Of "."""


@pytest.fixture(scope="module")
def sources() -> Sequence[Source]:
    return read(ROOT)


def test_no_two_public_classes_have_one_name(sources: Sequence[Source]) -> None:
    assert len(sources) > 100
    assert shared_names(sources) == {}


def test_no_docstring_begins_with_of(sources: Sequence[Source]) -> None:
    found = frozenset(of_docstrings(sources))
    assert found - _LEFT == set(), "say what it does or returns, in words that are complete without its name"
    assert _LEFT - found == set(), "these are gone: take them out of the list above"
