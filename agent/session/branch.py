"""Branches of a transcript: a message that replaces an earlier one goes on from before it. The file keeps both
versions, the context has the newest only. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from agent.session.entries import CompactionEntry, Entry, MarkEntry, MessageEntry

BRANCH = "branch"
"""Type of the mark that ends a version; its field `from` names the version's first entry."""
_FROM = "from"


def branch_mark(id: str, ts: str, replaced: MessageEntry) -> MarkEntry:
    return MarkEntry(id, ts, BRANCH, {_FROM: replaced.id})


def replaces(mark: Entry, entry: Entry) -> bool:
    """True if a version ends with the mark that began with the entry."""
    return isinstance(mark, MarkEntry) and mark.type == BRANCH and mark.fields.get(_FROM) == entry.id


def is_branch(entry: Entry) -> bool:
    return isinstance(entry, MarkEntry) and entry.type == BRANCH


def in_newest_version(entries: Sequence[Entry]) -> list[bool]:
    """For each entry, whether it belongs to the newest version.

    Messages of an earlier one do not, nor summaries that cover some of them. Other marks stay: what was forgotten
    remains so.
    """
    belongs = [True] * len(entries)
    for at, mark in enumerate(entries):
        if not isinstance(mark, MarkEntry) or mark.type != BRANCH:
            continue
        first = mark.fields.get(_FROM)
        start = next((place for place in range(at) if belongs[place] and entries[place].id == first), at)
        before = {entry.id for entry in entries[:start]}
        for place in range(start, at):
            match entries[place]:
                case MessageEntry():
                    belongs[place] = False
                case CompactionEntry(first_kept=kept) if kept not in before:
                    belongs[place] = False
    return belongs


def newest_version(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry, belongs in zip(entries, in_newest_version(entries), strict=True) if belongs]
