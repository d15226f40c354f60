"""Pictures in transcripts: named by file, without bytes. The transcript alone decides which ones a model sees.

A picture is shown in its turn and the two after it. One that could not be sent is hidden by an entry, so that it blocks
no later turn. Pure, except `with_bytes`.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent.media.store import Store
from agent.model.base import Block, Message
from agent.session.entries import Entry, MarkEntry, MessageEntry
from agent.session.prune import KEPT_TURNS, older_than

HIDE = "hide"
MOST_SHOWN = 20
"""The newest pictures of a request; with more, the API takes only small ones."""
_KEPT = "kept"
_MEDIA_TYPES = {"jpg": "image/jpeg", "png": "image/png"}
_SEEN, _REFUSED, _LEFT_OUT = "s", "r", "l"
_WORDS = {
    _SEEN: "[{name} was shown here; kept at {path}]",
    _REFUSED: "[{name} came with this but could not be shown to you; kept at {path}]",
    _LEFT_OUT: "[{name} stands here; kept at {path}]",
}


class MissingPicture(Exception):
    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(", ".join(paths))
        self.paths = tuple(paths)


def picture_block(name: str, path: str, original: str) -> Block:
    """A picture as a block. `path`: the file for the model; `original`: the file as it came."""
    media_type = _MEDIA_TYPES[path.rpartition(".")[2]]
    source = {"type": _KEPT, "path": path, "media_type": media_type}
    return {"type": "image", "source": source, "name": name, "original": original}


def path_of(block: Block) -> str:
    """The file of a picture of ours, or ""."""
    source = block.get("source")
    ours = block.get("type") == "image" and isinstance(source, Mapping) and source.get("type") == _KEPT
    return str(source.get("path")) if ours and isinstance(source, Mapping) else ""


def name_of(block: Block) -> str:
    return str(block.get("name") or "a picture")


def in_words(block: Block) -> Block:
    return _words(block, _LEFT_OUT) if path_of(block) else block


def has_pictures(entry: Entry) -> bool:
    return any(_pictures(entry))


def hide_entry(id: str, ts: str, paths: Sequence[str]) -> MarkEntry:
    return MarkEntry(id, ts, HIDE, {"paths": list(paths)})


class Pictures:
    """How each picture of a transcript is shown. `none`: all as words."""

    def __init__(self, entries: Sequence[Entry], *, none: bool = False) -> None:
        self._states: dict[str, dict[int, str]] = {}
        with_pictures = [at for at, entry in enumerate(entries) if has_pictures(entry)]
        if not with_pictures:
            return
        newest = older_than(entries, KEPT_TURNS)
        old = next((at for at, entry in enumerate(entries) if entry.id == newest), 0)
        hidden_until = _hidden(entries)
        left = MOST_SHOWN
        for at in reversed(with_pictures):
            states: dict[int, str] = {}
            for position, block in reversed(list(_pictures(entries[at]))):
                if at < hidden_until.get(path_of(block), 0):
                    states[position] = _REFUSED
                elif none:
                    states[position] = _LEFT_OUT
                elif at < old or not left:
                    states[position] = _SEEN
                else:
                    left -= 1
            self._states[entries[at].id] = states

    def shown(self, entry: MessageEntry) -> MessageEntry:
        """The entry as sent, with another id where pictures are words."""
        states = self._states.get(entry.id)
        if not states:
            return entry
        content = tuple(_words(block, states[at]) if at in states else block for at, block in enumerate(entry.content))
        shape = "".join(f"{at}{states[at]}" for at in sorted(states))
        return dataclasses.replace(entry, id=f"{entry.id}~{shape}", content=content)


def suspects(messages: Sequence[Message], at: tuple[int, int] | None) -> tuple[str, ...]:
    """Files that a refusal is probably about: the one at the place that the server names, else the newest message's."""
    named = at is not None and at[0] < len(messages) and at[1] < len(messages[at[0]].content)
    if at is not None and named and (path := path_of(messages[at[0]].content[at[1]])):
        return (path,)
    found = (tuple(filter(None, map(path_of, message.content))) for message in reversed(messages))
    return next(filter(None, found), ())


def with_bytes(messages: Iterable[Message], store: Store) -> tuple[Message, ...]:
    """The messages with the bytes of their pictures. Blocks. Raises `MissingPicture`."""
    missing: list[str] = []
    loaded = [
        Message(message.role, tuple(_loaded(block, store, missing) for block in message.content))
        for message in messages
    ]
    if missing:
        raise MissingPicture(missing)
    return tuple(loaded)


def _loaded(block: Block, store: Store, missing: list[str]) -> Block:
    path, source = path_of(block), block.get("source")
    if not path or not isinstance(source, Mapping):
        return block
    try:
        data = store.place(path).read_bytes()
    except (OSError, ValueError):
        missing.append(path)
        return block
    kept = {"type": "base64", "media_type": source.get("media_type"), "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": kept}


def _pictures(entry: Entry) -> Iterator[tuple[int, Block]]:
    if isinstance(entry, MessageEntry) and entry.role == "user" and len(entry.content) > 1:  # a picture has its header
        yield from ((at, block) for at, block in enumerate(entry.content) if path_of(block))


def _hidden(entries: Sequence[Entry]) -> dict[str, int]:
    """Hidden files, with the place before which they are hidden."""
    hidden: dict[str, int] = {}
    for at, entry in enumerate(entries):
        if isinstance(entry, MarkEntry) and entry.type == HIDE:
            paths = entry.fields.get("paths")
            hidden.update((str(path), at) for path in (paths if isinstance(paths, list) else ()))
    return hidden


def _words(block: Block, state: str) -> Block:
    path = str(block.get("original") or path_of(block))
    return {"type": "text", "text": _WORDS[state].format(name=name_of(block), path=path)}
