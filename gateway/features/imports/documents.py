"""Documents that an assistant wrote beside a conversation and changed since: each in its last version. Pure.

Changes are followed by the letters only: the patterns of an export are never run, since they are anybody's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent.languages.sentences import Sentence
from gateway.features.imports.values import Findings, ImportedDocument, ImportedMessage

MOST_OF_DOCUMENT = 3_000_000
"""Characters to which changes may make a document grow."""
LOOSE = "[Changed later, in a place that is not known:]"
_NAME_CHARS = 120
_WITHOUT_ID = "\0"
"""Begins the keys of documents without an id."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """Puts `new` in place of the first of `old` that is in the text; of all the text if `old` is None."""

    old: tuple[str, ...] | None
    new: str
    everywhere: bool = False


@dataclass(slots=True)
class _Document:
    name: str
    text: str
    message: int
    """The message that changed it last."""
    loose: list[str] = field(default_factory=list)
    """New words whose place is not known."""
    missed: int = 0


class Documents:
    """The documents of one conversation by their ids, which may be missing (empty). `message` counts its messages."""

    def __init__(self) -> None:
        self._documents: dict[str, _Document] = {}
        """Those that were written last are at the end."""
        self._unread: set[str] = set()

    def write(self, id: str, name: str, text: str, message: int) -> None:
        """Begins a document, or writes all of it anew."""
        key = id or f"{_WITHOUT_ID}{len(self._documents)}"
        known = self._documents.pop(key, None)
        label = _label(name) or (known.name if known is not None else "without a title")
        self._documents[key] = _Document(label, text, message)

    def change(self, id: str, name: str, changes: Sequence[Replacement], message: int) -> None:
        """Changes a document; the one written last if it has no id."""
        key = self._known(id)
        if key is None:
            anew = next((change.new for change in reversed(changes) if change.old is None), None)
            if anew is None:
                self.miss_document(id)
            else:
                self.write(id, name, anew, message)
            return
        document = self._documents.pop(key)
        self._documents[id or key] = document
        document.name = _label(name) or document.name
        document.message = message
        for change in changes:
            if change.old is None:
                document.text, document.loose, document.missed = change.new, [], 0
            elif (text := _replaced(document.text, change)) is not None:
                document.text = text
            else:
                document.missed += 1
                document.loose.append(change.new.strip())

    def miss_document(self, id: str) -> None:
        """Counts a document that cannot be read, once if it has an id."""
        self._unread.add(id or f"{_WITHOUT_ID}{len(self._unread)}")

    def miss_change(self, id: str) -> None:
        """Counts a change that cannot be read."""
        key = self._known(id)
        if key is None:
            self.miss_document(id)
        else:
            self._documents[key].missed += 1

    def _known(self, id: str) -> str | None:
        """The key of a document; of one that was begun without an id, if no document has this one."""
        if id in self._documents:
            return id
        return next((known for known in reversed(self._documents) if not id or known.startswith(_WITHOUT_ID)), None)

    def placed(self, messages: Sequence[ImportedMessage]) -> tuple[ImportedMessage, ...]:
        """The messages, with each document at the one that changed it last; without those that say nothing."""
        found: dict[int, tuple[ImportedDocument, ...]] = {}
        for document in self._documents.values():
            loose = [
                f"{LOOSE}\n{words}" for words in dict.fromkeys(document.loose) if words and words not in document.text
            ]
            if text := "\n\n".join(filter(None, (document.text.strip(), *loose))):
                found[document.message] = (*found.get(document.message, ()), ImportedDocument(document.name, text))
        with_documents = (
            replace(message, documents=message.documents + found.get(n, ())) for n, message in enumerate(messages)
        )
        return tuple(message for message in with_documents if message.text or message.documents)

    def report(self, title: str, what: str, findings: Findings) -> None:
        """Reports what could not be read. `what` ends "documents of …"."""
        if unread := sum(id.startswith(_WITHOUT_ID) or id not in self._documents for id in self._unread):
            why = Sentence("holds {count} documents of {what} that cannot be read", count=unread, what=what)
            if unread == 1:
                why = Sentence("holds 1 document of {what} that cannot be read", what=what)
            findings.skip(Sentence("“{title}”", title=title), why)
        for document in self._documents.values():
            if document.missed:
                why = Sentence("is not as it was last: {count} changes could not be followed", count=document.missed)
                if document.missed == 1:
                    why = Sentence("is not as it was last: 1 change could not be followed")
                findings.skip(Sentence("“{name}” in “{title}”", name=document.name, title=title), why)


def text_of(value: Mapping[str, object], key: str) -> str:
    """A text, empty if it is missing or none."""
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _label(name: str) -> str:
    return " ".join(name.split())[:_NAME_CHARS]


def _replaced(text: str, change: Replacement) -> str | None:
    old = next((words for words in change.old or () if words and words in text), "")
    if not old:
        return None
    times = text.count(old) if change.everywhere else 1
    if len(text) + times * (len(change.new) - len(old)) > max(MOST_OF_DOCUMENT, len(text)):
        return None
    return text.replace(old, change.new, times)
