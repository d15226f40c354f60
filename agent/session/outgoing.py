"""What leaves the machine for a host that is not the owner's is a message to a stranger, and is judged here (invariant
15): addresses, searches, words of which pictures are made, arguments of servers' tools.

A line of private memory in it is always asked about, also encoded, and in pieces over the calls of a conversation and
of its tasks: what has left is read in the transcripts, which outlive compaction and restarts. Else it is free while no
text of others can be its reason; and then, what the person has just said or wrote as an address, what a host was
allowed, and few addresses that only others named.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import unquote, unquote_plus, urlsplit

from agent.formats.decoded import of_pieces, plain
from agent.formats.untrusted import person_text
from agent.memory.private_lines import LeavingText, repeated_line
from agent.memory.provenance import marked_lines
from agent.memory.scope import Scope
from agent.model.base import Json, text_in
from agent.session.entries import Entry, MarkEntry, MessageEntry
from agent.session.taint import Taint, turns_that_answer
from agent.session.transcript import Transcript
from agent.session.turn_record import calls_of
from agent.tools.base import ConversationConsent, Effect, EffectNote, Outgoing, Tool
from agent.tools.foreign_text import ForeignText, foreign, unique

FETCH, SEARCH, DRAW = "web_fetch", "web_search", "make_image"
ALLOWED = "allowed"
"""Type of the mark that keeps the owner's yes; its field `what` is a host, or the name of one call."""
_OF_SERVER = "__"
_FREE_A_TURN = 3
"""Addresses that only others named and that are opened without a question."""
_MENU = 20
"""A choice among more addresses of one site says too much."""
_CALLS = 200
_JOINED = 4_000
"""Calls and characters that pieces are looked for in."""
_GOES_ON = re.compile(r"[\w\-%/?#&=~+@:$*]|[.,;!'()][\w\-%/?#&=~+@:$*]")
"""The characters behind an address that goes on."""
_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"[^\s<>\"'()\[\]]+")
_OF_EVERY_ADDRESS = frozenset({"http", "https", "www", "wiki", "index", "html", "htm", "true", "false"})


@dataclass(frozen=True, slots=True)
class SentCall:
    """What one call sends: the site it goes to, and the pieces, each with its place in the call."""

    site: str
    """The host without what its owner can make up: `example.org` of `a.example.org`."""
    pieces: tuple[tuple[str, str], ...]
    whole: str
    address: str = ""

    @property
    def payload(self) -> tuple[str, ...]:
        return tuple(piece for _, piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Judgement:
    effect: Effect
    """With the notes that the question to the owner must show."""
    causes: tuple[ForeignText, ...]
    asks: bool
    consent: ConversationConsent | None = None


@dataclass(frozen=True)
class Conversation:
    """What is known when a turn makes a call. `beside`: the conversation that this one works for, or its tasks."""

    transcript: Transcript
    scope: Scope
    turn: str
    said: frozenset[str]
    call: str
    beside: tuple[Transcript, ...] = ()

    @property
    def root(self) -> Transcript:
        """The transcript in which a yes is kept."""
        works_for = (other for other in self.beside if self.transcript.header.key.startswith(f"{other.header.key}/"))
        return next(works_for, self.transcript)

    @cached_property
    def turns(self) -> frozenset[str]:
        return turns_that_answer(self.transcript, self.turn, self.said)

    @cached_property
    def _messages(self) -> tuple[MessageEntry, ...]:
        return tuple(entry for entry in self.transcript.entries if isinstance(entry, MessageEntry))

    @cached_property
    def before(self) -> tuple[tuple[SentCall, str], ...]:
        """The calls that have left the machine, in order, each with its turn; refused calls too."""
        found: list[tuple[str, SentCall, str]] = []
        for transcript in (*self.beside, self.transcript):
            for entry in transcript.entries:
                for block in calls_of(entry):
                    if transcript is self.transcript and block["id"] == self.call:
                        break
                    made = sent(str(block["name"]), block.get("input"))
                    if made is not None and isinstance(entry, MessageEntry):
                        found.append((entry.ts, made, entry.meta.turn if transcript is self.transcript else ""))
        found.sort(key=lambda call: call[0])
        return tuple((made, turn) for _, made, turn in found[-_CALLS:])

    @cached_property
    def allowed(self) -> frozenset[str]:
        return frozenset(
            allowance for transcript in (self.transcript, *self.beside) for allowance in allowed_in(transcript.entries)
        )

    @cached_property
    def own_now(self) -> str:
        """What the person says in this turn."""
        said = (_own(entry) for entry in self._messages if entry.meta.turn in self.turns and self._is_asker(entry))
        return "\n".join(said)

    @cached_property
    def own_ever(self) -> tuple[str, ...]:
        """What the person says in any turn, also where a task of theirs was asked for."""
        asked = self.root.entries if self.root is not self.transcript and self.scope.is_private else ()
        said = (entry for entry in asked if isinstance(entry, MessageEntry) and entry.meta.said and entry.meta.by)
        return tuple(map(_own, (*filter(self._is_asker, self._messages), *said)))

    @cached_property
    def named(self) -> tuple[str, ...]:
        """Texts whose addresses may be opened: messages with what came along, pages, searches."""
        found = []
        for transcript in (*self.beside, self.transcript):
            for entry in transcript.entries:
                if isinstance(entry, MessageEntry) and (
                    (entry.meta.said and entry.meta.by) or (entry.meta.tool in (FETCH, SEARCH) and not entry.meta.error)
                ):
                    found += _texts(entry)
        return tuple(found)

    def results_of(self, host: str) -> Iterator[str]:
        """The texts that a server's tools have answered."""
        for entry in self._messages:
            if entry.meta.tool and not entry.meta.error and _server(entry.meta.tool) == host:
                yield from _texts(entry)

    def _is_asker(self, entry: MessageEntry) -> bool:
        said = (message.meta for message in self._messages if message.meta.said)
        asker = next((meta.by for meta in said if meta.turn in self.turns), "")
        return bool(entry.meta.said and entry.meta.by and entry.meta.by == asker)


def judged(
    effect: Effect,
    outgoing: Outgoing,
    tool: Tool,
    given: Json,
    found: Taint,
    seen: Conversation,
    offered: Sequence[Tool],
) -> Judgement:
    """Judges an effect that sends something out. Blocks. `offered`: tools whose descriptions the model reads."""
    new = sent(tool.name, given) or SentCall(outgoing.host, (), "")
    others = (other for other in offered if other.server and other.server != tool.server)
    described = (foreign(other.server, other.spec.description) for other in others)
    own = found_tools(tool.server)  # a server is no stranger to what it says of its own tools
    causes = unique((*(text for text in found.every if not tool.server or text != own), *described))
    once = hashlib.sha256(json.dumps([tool.name, given], sort_keys=True).encode()).hexdigest()
    root = seen.root.header

    def consent(allows: str) -> ConversationConsent:
        return ConversationConsent(root.key, root.id, allows)

    if _is_written(new, seen) or (once in seen.allowed and not effect.always):
        return Judgement(effect, causes, effect.always, consent(once))
    private = effect.private or repeated_line(seen.scope, _leaving(new, seen, is_suspect=bool(causes)))
    if private or not outgoing.is_lasting:
        asks = bool(private or effect.always or causes)
        return Judgement(replace(effect, private=private), causes, asks, consent(once))
    is_free = not causes or outgoing.host in seen.allowed or _is_own(new, seen) or _is_named(new, outgoing, seen)
    noted = replace(effect, notes=(*effect.notes, EffectNote.FOR_CONVERSATION)) if causes else effect
    return Judgement(noted, causes, effect.always or not is_free, consent(outgoing.host))


def allowed_mark(id: str, ts: str, what: str) -> MarkEntry:
    return MarkEntry(id, ts, ALLOWED, {"what": what})


def allowed_in(entries: Sequence[Entry]) -> tuple[str, ...]:
    marks = (entry for entry in entries if isinstance(entry, MarkEntry) and entry.type == ALLOWED)
    return tuple(str(mark.fields.get("what")) for mark in marks)


def found_tools(server: str) -> ForeignText:
    """The foreign text that a search among tools reads of a server."""
    return foreign(server, "descriptions of its tools")


def host_of_server(name: str) -> str:
    return f"mcp:{name}"


def sent(tool: str, given: Json) -> SentCall | None:
    """What a call sends; None for tools that send nothing to others."""
    if tool == FETCH:
        url = given.get("url") if isinstance(given, Mapping) else None
        return _of_address(url) if isinstance(url, str) else None
    if tool not in (SEARCH, DRAW) and _OF_SERVER not in tool:
        return None
    pieces = tuple(_leaves(given, ""))
    return SentCall(_server(tool) or tool, pieces, "\n".join(piece for _, piece in pieces))


def site_of(host: str) -> str:
    """The part of a host's name that is registered, judged by its form: its owner makes up the labels before it."""
    labels = host.rstrip(".").lower().split(".")
    if len(labels) < 3 or labels[-1].isdigit() or ":" in host:
        return ".".join(labels)
    is_short = len(labels[-1]) == 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3 if is_short else -2 :])


def names_address(text: str, bare: str) -> bool:
    """True if the text has exactly this address, not as a part of a longer one."""
    at = text.find(bare)
    while at >= 0:
        rest = text[at + len(bare) :].removeprefix("/")
        before = text[at - 1 : at]
        if not _GOES_ON.match(rest) and not (before.isalnum() or before in ("-", "_", "@", "%")):
            return True
        at = text.find(bare, at + 1)
    return False


def _of_address(url: str) -> SentCall:
    text = url.strip() if "://" in url else f"https://{url.strip()}"
    try:
        parts = urlsplit(text.partition("#")[0])
        host = parts.hostname or ""
    except ValueError:
        return SentCall("", (("address", url),), url, _bare(url))
    site = site_of(host)
    labels = host.removesuffix(site).rstrip(".")
    pieces = [(f"label {at}", label) for at, label in enumerate(labels.split("."))] if labels else []
    if site != host or site.count(".") == 1:
        pieces.append(("name", site.partition(".")[0]))
    pieces += [(f"path {at}", unquote(part)) for at, part in enumerate(parts.path.split("/")) if part]
    for at, field in enumerate(filter(None, re.split("[&;]", parts.query))):
        name, equals, value = field.partition("=")
        pieces += [(f"name {at}", name)] if not equals else [(f"value {name}", unquote_plus(value))]
    return SentCall(site, tuple(pieces), text.partition("://")[2].partition("#")[0], _bare(text))


def _bare(url: str) -> str:
    scheme, parts, rest = url.partition("#")[0].partition("://")
    return (rest if parts and scheme.isalpha() else scheme + parts + rest).removeprefix("www.").rstrip("/")


def _leaves(given: Json, at: str) -> Iterator[tuple[str, str]]:
    match given:
        case Mapping():
            for name, value in given.items():
                yield from _leaves(value, f"{at}.{name}")
        case str():
            yield at, given
        case list() | tuple():
            for number, value in enumerate(given):
                yield from _leaves(value, f"{at}.{number}")
        case int() | float():
            yield at, str(given).lower()


def _server(tool: str) -> str:
    server, parts, _ = tool.partition(_OF_SERVER)
    return host_of_server(server) if parts else ""


def _leaving(new: SentCall, seen: Conversation, *, is_suspect: bool) -> LeavingText:
    names = [place.partition(" ")[2] for place, _ in new.pieces if place.startswith("value ")]
    alone = (new.whole, *new.payload, "".join(new.payload), "".join(names), *of_pieces(new.payload))
    before = [made for made, _ in seen.before]
    joined, earlier = _joined(before, new) if before else ((), ())
    return LeavingText(alone, joined, earlier, new.address, plain(seen.own_now), is_suspect)


def _joined(before: Sequence[SentCall], new: SentCall) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The pieces that have left, one after the other, with the new ones and without: those of each place, and all that
    do not stand in every call of their place."""
    with_new, without = dict[str, None](), dict[str, None]()
    of_site = [call for call in before if call.site == new.site]
    for place, piece in new.pieces:
        same = [text for call in of_site for at, text in call.pieces if at == place]
        if same:
            with_new |= dict.fromkeys(_last(of_pieces([*same, piece])))
            without |= dict.fromkeys(_last(of_pieces(same)))
    for some in (of_site, before):
        if some:
            changing = _changing([*some, new])
            last = len(_changing([*some, new], only_last=True))
            with_new |= dict.fromkeys(_last(of_pieces(changing)))
            without |= dict.fromkeys(_last(of_pieces(changing[: len(changing) - last])))
    return tuple(with_new), tuple(without)


def _last(texts: Iterator[str]) -> Iterator[str]:
    return (text[-_JOINED:] for text in texts)


def _changing(calls: Sequence[SentCall], *, only_last: bool = False) -> list[str]:
    counts: dict[tuple[str, str, str], int] = {}
    for call in calls:
        for place, piece in call.pieces:
            counts[call.site, place, piece] = counts.get((call.site, place, piece), 0) + 1
    of_sites: dict[str, int] = {}
    for call in calls:
        of_sites[call.site] = of_sites.get(call.site, 0) + 1
    return [
        piece
        for call in (calls[-1:] if only_last else calls)
        for place, piece in call.pieces
        if counts[call.site, place, piece] < of_sites[call.site] or of_sites[call.site] == 1
    ]


def _is_written(new: SentCall, seen: Conversation) -> bool:
    """True for an address that the person has written."""
    return bool(new.address) and any(names_address(text, new.address) for text in seen.own_ever)


def _is_own(new: SentCall, seen: Conversation) -> bool:
    """True where every word was just said by the person, or another form of one."""
    own = frozenset(map(plain, _WORD.findall(seen.own_now)))
    text = new.whole
    if new.address:
        host, _, rest = unquote(new.whole).partition("/")
        labels = [label for at, label in enumerate(host.split(".")[:-1]) if at or len(label) > 2]
        text = " ".join((*labels, rest))
    words = [plain(word) for word in _WORD.findall(text) if word.lower() not in _OF_EVERY_ADDRESS]
    said = plain(seen.own_now)
    return len(words) <= 2 * len(own) + 4 and all(_is_said(word, own, said) for word in words)


def _is_said(word: str, own: frozenset[str], said: str) -> bool:
    if word in own or not word.isascii():
        return word in own or ((not word.isalpha() or word[:1] >= "\u2e80") and word in said)
    if any(map(str.isdigit, word)):
        return False
    return any(_begin_alike(word, other) for other in own)


def _begin_alike(word: str, other: str) -> bool:
    alike = next((at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    return alike >= 4 and 2 * alike >= max(len(word), len(other))


def _is_named(new: SentCall, outgoing: Outgoing, seen: Conversation) -> bool:
    """True for an address, or a name, that only others named, while such calls are few."""
    if not new.address:  # a server may be told a name that it gave
        results = tuple(seen.results_of(outgoing.host))
        same = [made for made, turn in seen.before if turn in seen.turns and made.site == new.site]
        return (
            bool(results)
            and len(same) < _FREE_A_TURN
            and all(
                _TOKEN.fullmatch(piece) and any(names_address(text, piece) for text in results) for piece in new.payload
            )
        )
    if not any(names_address(text, new.address) for text in seen.named):
        return False
    opened = dict.fromkeys(made.address for made, turn in seen.before if turn in seen.turns and made.address)
    of_others = [address for address in opened if not any(names_address(text, address) for text in seen.own_ever)]
    is_little = new.address in of_others[:_FREE_A_TURN] or len(of_others) < _FREE_A_TURN
    return is_little and len(_of_site(new.site, seen.named)) <= _MENU


def _of_site(site: str, texts: Sequence[str]) -> set[str]:
    found = set()
    for text in texts:
        for token in _TOKEN.findall(text) if site in text else ():
            bare = _bare(token).rstrip(".,;:!?")
            host = re.split("[/?:]", bare, maxsplit=1)[0]
            if host == site or host.endswith(f".{site}"):
                found.add(bare)
    return found


def _own(entry: MessageEntry) -> str:
    """The person's own words; none where a mark says that they were made of others' text."""
    text = person_text(text_in(entry.content))
    return "" if marked_lines(text) else text


def _texts(entry: MessageEntry) -> list[str]:
    given = (block.get("content" if block.get("type") == "tool_result" else "text") for block in entry.content)
    return [text for text in given if isinstance(text, str)]
