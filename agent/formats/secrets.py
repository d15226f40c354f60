"""Strikes known secrets out of text, also encoded ones and across line ends. Pure."""

from __future__ import annotations

import base64
import html
import json
import re
from array import array
from collections.abc import Iterable, Iterator
from urllib.parse import quote

STRUCK = "[secret left out]"
_SHORTEST = 8
"""Characters: shorter ones would tear every text to pieces."""
_SHORTEST_PART = 8
"""Characters of a secret's beginning at a text's end."""
_BETWEEN = re.compile(r"\x1b\[[0-9;?]{0,40}[A-Za-z]|[\r\n\0]")
"""What may stand inside a secret: line ends of folded text, colours of `grep`, the zeros of UTF-16."""


class KnownSecrets:
    """Secrets below `shortest` characters are not struck out."""

    def __init__(self, secrets: Iterable[str], shortest: int = _SHORTEST) -> None:
        forms = {form for secret in secrets if len(secret) >= shortest for form in _forms(secret)}
        self._forms = sorted(forms, key=len, reverse=True)
        self.longest = max(map(len, self._forms), default=0)

    def __call__(self, text: str, mark: str = STRUCK) -> str:
        """The text with a mark in place of each secret."""
        return self._without(text, mark, is_cut=False)

    def before_cut(self, text: str, mark: str = STRUCK) -> str:
        """As a call, also without the beginning of a secret at the end of a text that goes on."""
        return self._without(text, mark, is_cut=True)

    def in_bytes(self, data: bytes) -> bytes:
        return self(data.decode("latin-1")).encode("latin-1")

    def _without(self, text: str, mark: str, *, is_cut: bool) -> str:
        if "\x1b" in text:
            folded = _BETWEEN.sub("", text)
        else:  # many times as fast
            folded = text.replace("\n", "").replace("\r", "").replace("\0", "")
        spans = sorted(span for form in self._forms for span in _all(folded, form))
        if is_cut and (part := self._begun(folded)):
            spans.append((len(folded) - part, len(folded)))
        if not spans:
            return text
        places = _places(text)
        found: list[str] = []
        done = end = 0
        for first, last in spans:
            if last <= end:
                continue
            if first >= end:
                found += (text[done : places[first]], mark)
            end = last
            done = places[last - 1] + 1
        return "".join([*found, text[done:]])

    def _begun(self, folded: str) -> int:
        """The length of the longest beginning of a secret at the end."""
        lengths = (
            length
            for form in self._forms
            for length in range(min(len(form) - 1, len(folded)), _SHORTEST_PART - 1, -1)
            if folded.endswith(form[:length])
        )
        return max(lengths, default=0)


NO_SECRETS = KnownSecrets(())


def _all(text: str, part: str) -> Iterator[tuple[int, int]]:
    at = text.find(part)
    while at >= 0:
        yield at, at + len(part)
        at = text.find(part, at + len(part))


def _places(text: str) -> array[int]:
    """Where each character stands that stays without `_BETWEEN`."""
    places, end = array("Q"), 0
    for between in _BETWEEN.finditer(text):
        places.extend(range(end, between.start()))
        end = between.end()
    places.extend(range(end, len(text)))
    return places


def _forms(secret: str) -> Iterator[str]:
    """The secret as it is, and as programs, pages and addresses write it."""
    data = secret.encode("utf-8", "surrogatepass")
    yield secret
    yield data.decode("latin-1")
    escaped = quote(secret, safe="", errors="replace")
    yield from (escaped, re.sub("%..", lambda found: found[0].lower(), escaped), quote(secret, errors="replace"))
    yield from (html.escape(secret), json.dumps(secret)[1:-1], secret.replace("/", "\\/"))
    if len(data) < _SHORTEST:
        return
    yield from (secret[::-1], data.hex(), data.hex().upper())
    for before in range(3):
        # the characters that no neighbour of the secret has a part in
        whole = base64.b64encode(bytes(before) + data).decode()
        part = whole[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield from (part, part.replace("+", "-").replace("/", "_"))
