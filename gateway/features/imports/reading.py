"""Reads the files of a tree as text. Blocks."""

from __future__ import annotations

import codecs
from collections import Counter

from agent.languages.sentences import Sentence
from gateway.features.imports.conversations import visible
from gateway.features.imports.trees import BroughtFile, shown
from gateway.features.imports.values import MOST_OF_FILE, Findings
from gateway.features.imports.zips import unreadable

_BYTE_ORDERS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_bytes(file: BroughtFile, findings: Findings) -> bytes | None:
    """None, and reported, if it cannot be taken. Raises `ImportRefused`."""
    try:
        with file.tree.open(file.name) as opened:
            data = opened.read(MOST_OF_FILE + 1)
    except OSError as error:
        findings.skip(shown(file.name), unreadable(error))
        return None
    if len(data) > MOST_OF_FILE:
        findings.skip(shown(file.name), Sentence("is larger than {limit} MB", limit=MOST_OF_FILE // 1_000_000))
        return None
    return data


def read_text(file: BroughtFile, findings: Findings) -> str | None:
    """UTF-8, UTF-16 or Western European text; None, and reported, if it is none or empty."""
    data = read_bytes(file, findings)
    if data is None:
        return None
    if data.startswith(_BYTE_ORDERS):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data:
        findings.skip(shown(file.name), Sentence("is not text"))
        return None
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
            findings.remarks.append(
                Sentence("{name} is not UTF-8; it was read as Western European text.", name=shown(file.name))
            )
    return visible(text) if text.strip() else None


def report_others(names: Counter[str], findings: Findings) -> None:
    """Reports what is not text, by the ends of names."""
    for end, count in sorted(names.items()):
        what = f"{end} ({count})" if end else Sentence("no ending ({count})", count=count)
        findings.skip(what, Sentence("is no Markdown"))
