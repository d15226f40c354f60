"""Transcripts: what is replayed is what was written, whatever happened to the file in between."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.model.base import Block, Usage
from agent.search.result_text import QuotedLines
from agent.session.entries import (
    CompactionEntry,
    Entry,
    Header,
    MarkEntry,
    MessageEntry,
    Meta,
    RecalledPassage,
    SeenFile,
)
from agent.session.jsonl import entry_line, read_entry
from agent.session.transcript import Transcript, TranscriptNotWritten, TranscriptUnusable
from tests import forked
from tests.strength import examples

HEADER = Header(
    "20261121-083000-000-abcd", "owner", "main", "2026-11-21T08:30:00.000Z", ("rules", "own"), {"A": SeenFile()}
)

texts = st.text(st.characters(), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
blocks = st.dictionaries(texts, json_values, max_size=4)
pairs = st.tuples(st.integers(1), st.integers(1))
ranges = st.lists(pairs, max_size=3).map(tuple)
seen = st.builds(SeenFile, sha=texts, size=st.integers(0), total=st.integers(0), shown=ranges, known=ranges)
recalled = st.builds(RecalledPassage, texts, pairs, st.dates(), st.floats(0, 1), texts, is_part=st.booleans())
quoted = st.builds(QuotedLines, texts, pairs, st.booleans())
metas = st.builds(
    Meta,
    turn=texts,
    said=st.lists(texts, max_size=2).map(tuple),
    sender=texts,
    model=texts,
    usage=st.none() | st.builds(Usage, st.integers(0), st.integers(0), st.integers(0), st.integers(0)),
    stop_reason=texts,
    prefix=texts,
    tool=texts,
    error=st.booleans(),
    files=st.dictionaries(texts, seen, max_size=2),
    recalled=st.lists(recalled, max_size=2).map(tuple),
    quoted=st.lists(quoted, max_size=2).map(tuple),
)
roles = st.sampled_from(["user", "assistant"])
entries = st.one_of(
    st.builds(MessageEntry, texts, texts, roles, st.lists(blocks, max_size=3).map(tuple), metas),
    st.builds(
        CompactionEntry,
        texts,
        texts,
        texts,
        texts,
        st.integers(0),
        st.lists(texts, min_size=1, max_size=2).map(tuple),
        st.dictionaries(texts, seen, max_size=2),
        st.lists(texts, max_size=2).map(tuple),
        texts,
    ),
    st.builds(
        MarkEntry,
        texts,
        texts,
        st.text(max_size=9).filter(lambda type: type not in ("message", "compaction", "redaction")),
        st.dictionaries(texts.filter(lambda name: name not in ("id", "ts", "type")), json_values, max_size=2),
    ),
)


def say(text: str, number: int = 1) -> MessageEntry:
    content: tuple[Block, ...] = ({"type": "text", "text": text},)
    return MessageEntry(f"e{number:06d}", "2026-11-21T08:30:00.000Z", "user", content, Meta("t1", said=("m1",)))


def made(folder: Path, *written: Entry, header: Header = HEADER) -> Path:
    path = folder / "talk.jsonl"
    transcript = Transcript.create(path, header)
    asyncio.run(transcript.append(*written))
    return path


@settings(max_examples=examples(150))
@given(st.lists(entries, max_size=4))
def test_replay_gives_back_what_was_appended(written: Sequence[Entry]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        read = Transcript.read(made(Path(folder), *written))
    assert list(read.entries) == list(written)
    assert read.header == HEADER
    assert not read.damage


@settings(max_examples=examples(60))
@given(st.lists(entries, min_size=1, max_size=3), st.data())
def test_a_file_cut_anywhere_keeps_every_whole_line_and_takes_new_ones(
    written: Sequence[Entry], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = made(Path(folder), *written)
        whole = path.read_bytes()
        header_end = whole.index(b"\n") + 1
        cut = data.draw(st.integers(header_end, len(whole)))
        path.write_bytes(whole[:cut])
        transcript = Transcript.read(path)
        kept = whole[header_end:cut].count(b"\n")
        assert list(transcript.entries) == list(written[:kept])
        assert [found.torn for found in transcript.damage] == [True] * (not whole[:cut].endswith(b"\n"))
        asyncio.run(transcript.append(say("after the cut")))
        again = Transcript.read(path)
    assert list(again.entries) == [*written[:kept], say("after the cut")]
    assert not again.damage


def test_reading_never_changes_the_file(tmp_path: Path) -> None:
    path = made(tmp_path, say("one"))
    torn = path.read_bytes() + b'{"id":"e000002","ts'
    path.write_bytes(torn)
    Transcript.read(path)
    assert path.read_bytes() == torn


@pytest.mark.parametrize(
    "junk",
    [b"", b"garbage", b"[]", b"\xff\xfe\x00", b'{"id":"e1","ts":"t","type":"message","role":"boss","content":[]}',
     b'{"id":1,"ts":"t","type":"message"}', b'{"type":"message"}', b"[" * 100_000,
     b'{"id":"e","ts":"t","type":"message","role":"user","content":[],"meta":{"usage":[1]}}'],
)  # fmt: skip
def test_a_damaged_line_in_the_middle_costs_only_itself(tmp_path: Path, junk: bytes) -> None:
    path = made(tmp_path, say("one", 1), say("two", 2), say("three", 3))
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], junk, *lines[3:]]))
    transcript = Transcript.read(path)
    assert list(transcript.entries) == [say("one", 1), say("three", 3)]
    assert [(found.line, found.torn) for found in transcript.damage] == [(3, False)]
    assert transcript.new_id() == "e000004"


@pytest.mark.parametrize("data", [b"", b"{}\n", b"no header\n", b'{"type":"session","version":99}\n', b'{"type":"ses'])
def test_a_file_without_a_header_is_refused_in_words(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(data)
    with pytest.raises(TranscriptUnusable, match=r"talk\.jsonl"):
        Transcript.read(path)


def test_a_later_version_may_add_types_and_fields() -> None:
    line = b'{"id":"e1","ts":"t","type":"mood","level":3}\n'
    entry = read_entry(line)
    assert entry == MarkEntry("e1", "t", "mood", {"level": 3})
    assert entry_line(entry) == line
    assert read_entry(b'{"id":"e1","ts":"t","type":"message","role":"user","content":[],"new":1,"meta":{"newer":2}}')


async def test_entries_written_side_by_side_have_lines_and_ids_of_their_own(tmp_path: Path) -> None:
    transcript = Transcript.create(tmp_path / "talk.jsonl", HEADER)

    async def write(text: str) -> None:
        entry = MessageEntry(transcript.new_id(), "t", "user", ({"type": "text", "text": text},))
        await transcript.append(entry)

    await asyncio.gather(*(write(str(number) * 5_000) for number in range(30)))
    read = Transcript.read(transcript.path)
    assert list(read.entries) == list(transcript.entries)
    assert len({entry.id for entry in read.entries}) == 30
    assert transcript.size == transcript.path.stat().st_size == read.size


async def test_a_cancelled_append_leaves_file_and_memory_agreed(tmp_path: Path) -> None:
    transcript = Transcript.create(tmp_path / "talk.jsonl", HEADER)
    for number in range(20):
        writing = asyncio.create_task(transcript.append(say("x", number)))
        for _ in range(number % 4):
            await asyncio.sleep(0)
        writing.cancel()
        await asyncio.wait([writing])
        assert list(Transcript.read(transcript.path).entries) == list(transcript.entries)


async def test_a_full_disk_is_said_and_leaves_the_file_whole(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    transcript = Transcript.create(tmp_path / "talk.jsonl", HEADER)
    await transcript.append(say("before"))
    before = transcript.path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    old_handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 1_000, limits[1]))
    try:
        with pytest.raises(TranscriptNotWritten, match="the disk is full"):
            await transcript.append(say("x" * 50_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old_handler)
    assert transcript.path.read_bytes() == before
    await transcript.append(say("after"))
    assert list(Transcript.read(transcript.path).entries) == [say("before"), say("after")]


def test_a_transcript_is_never_started_over_another(tmp_path: Path) -> None:
    path = made(tmp_path, say("one"))
    with pytest.raises(TranscriptNotWritten):
        Transcript.create(path, HEADER)
    assert list(Transcript.read(path).entries) == [say("one")]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_a_writer_killed_at_any_moment_leaves_a_file_that_reads(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    script = textwrap.dedent(
        """
        import asyncio, sys
        from pathlib import Path
        from agent.session.entries import Header, MessageEntry
        from agent.session.transcript import Transcript

        async def main():
            transcript = Transcript.create(Path(sys.argv[1]), Header("i", "owner", "main", "2026-11-21T08:30:00.000Z"))
            while True:
                entry = MessageEntry(transcript.new_id(), "t", "user", ({"type": "text", "text": "x" * 20_000},))
                await transcript.append(entry)
                print(entry.id, flush=True)

        asyncio.run(main())
        """
    )
    process = forked.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    told = [line.strip() for line in itertools.islice(process.stdout, 5)]
    os.kill(process.pid, signal.SIGKILL)
    told += [line.strip() for line in process.stdout]
    process.wait()
    process.stdout.close()
    read = Transcript.read(path)
    ids = [entry.id for entry in read.entries]
    assert ids[: len(told)] == told
    assert len(ids) <= len(told) + 1
    assert all(found.torn for found in read.damage)
