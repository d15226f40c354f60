"""Launches, results and failures that pass between a connection and its users. Imports no SDK."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.languages.sentences import Sentence


@dataclass(frozen=True, slots=True)
class ProgramLaunch:
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class RemoteLaunch:
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def may_log_in(self) -> bool:
        """False where a key is configured."""
        return all(name.lower() != "authorization" for name in self.headers)


Launch = ProgramLaunch | RemoteLaunch


@dataclass(frozen=True, slots=True)
class CallFile:
    content: bytes = field(repr=False)
    ending: str


@dataclass(frozen=True, slots=True)
class CallResult:
    text: str
    files: tuple[CallFile, ...] = ()
    failed: bool = False


class McpFailure(Exception):
    """A server failed. The text is a `Sentence`. `said`: the server's own words; `is_over`: the connection is gone;
    `was_forgotten`: the server no longer knows the session, and has done nothing; `needs_login`: likewise, as the owner
    is not logged in."""

    def __init__(
        self,
        text: str,
        said: str = "",
        *,
        is_over: bool = False,
        was_forgotten: bool = False,
        needs_login: bool = False,
    ) -> None:
        super().__init__(text)
        self.said = said
        self.is_over = is_over
        self.was_forgotten = was_forgotten
        self.needs_login = needs_login


def login_not_kept(name: str, why: str) -> Sentence:
    return Sentence("the login of {name} can't be kept ({why})", name=name, why=why)


def innermost(error: BaseException) -> BaseException:
    """The error inside task groups, which wrap it several times over."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
