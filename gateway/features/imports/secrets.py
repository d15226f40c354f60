"""Leaves keys and passwords out of imported text."""

from __future__ import annotations

import re

from agent.languages.sentences import Sentence
from gateway.features.imports.values import FoundSecret

_KINDS = {
    "anthropic": Sentence("an Anthropic key"),
    "key": Sentence("an API key"),
    "github": Sentence("a GitHub token"),
    "gitlab": Sentence("a GitLab token"),
    "aws": Sentence("an AWS key"),
    "slack": Sentence("a Slack token"),
    "google": Sentence("a Google key"),
    "stripe": Sentence("a Stripe key"),
    "hugging": Sentence("a Hugging Face token"),
    "telegram": Sentence("a Telegram token"),
    "discord": Sentence("a Discord token"),
    "jwt": Sentence("a login token"),
    "bearer": Sentence("a login token"),
    "address": Sentence("a password in an address"),
    "named": Sentence("a password or key"),
    "private": Sentence("a private key"),
}
_SECRET = re.compile(
    r"""
      (?<![\w-])(?:
          (?P<anthropic>sk-ant-[\w-]{16,})
        | (?P<key>sk-[\w-]{16,})
        | (?P<github>gh[pousr]_[A-Za-z0-9]{20,} | github_pat_\w{20,})
        | (?P<gitlab>glpat-[\w-]{16,})
        | (?P<aws>(?:AKIA|ASIA)[0-9A-Z]{16})
        | (?P<slack>xox[abeposr]-[\w-]{10,})
        | (?P<google>AIza[\w-]{30,})
        | (?P<stripe>[rs]k_(?:live|test)_\w{16,})
        | (?P<hugging>hf_[A-Za-z0-9]{20,})
        | (?P<telegram>\d{6,14}:[\w-]{30,})
        | (?P<jwt>eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,})
        | (?P<discord>[\w-]{23,30}\.[\w-]{6,7}\.[\w-]{27,})
      )
    | (?<=[Bb]earer[ ])(?P<bearer>[\w.~+/=-]{16,})
    | (?<=://)(?P<address>[^/\s:@]{1,80}:[^/\s@]{1,80})(?=@)
    | (?<![^\W_])(?:pass(?:word|wd|wort)|api[_-]?key|secret[_-]?key|access[_-]?token)[ ]?[:=][ ]?["']?
        (?P<named>(?=[^\s"']{0,80}\d)[^\s"']{8,80})
    | (?P<private>-----BEGIN[A-Z ]{0,40}PRIVATE[ ]KEY-----(?:[^-]|-(?!----END)){0,20000}+
        (?:-----END[A-Z ]{0,40}KEY-----)?)
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


_WITHOUT_WORDS = re.compile(r"\d{6}:[\w-]{30}|\.[\w-]{6,7}\.[\w-]{27}", re.ASCII)
"""Begins what no word of `_HINTS` announces: tokens of Telegram and Discord."""
_HINTS = (
    *("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "akia", "asia", "xox", "aiza"),
    *("k_live_", "k_test_", "hf_", "eyj", "bearer ", "://", "pass", "api", "secret", "token", "-----begin"),
)
"""The pattern is slow on text, and most text holds no key."""


def without_secrets(text: str, where: str, found: list[FoundSecret]) -> str:
    """The text with a mark in place of each key; they are added to `found`."""

    def mark(match: re.Match[str]) -> str:
        group = match.lastgroup or "key"
        kind = _KINDS[group]
        found.append(FoundSecret(kind, where))
        whole, begin = match[0], match.start(group) - match.start()
        return f"{whole[:begin]}[{kind} was left out]{whole[begin + len(match[group]) :]}"

    lowered = text.lower()
    if any(hint in lowered for hint in _HINTS) or _WITHOUT_WORDS.search(text):
        return _SECRET.sub(mark, text)
    return text
