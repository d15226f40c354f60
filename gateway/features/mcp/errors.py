"""What goes wrong with a server of tools."""

from __future__ import annotations

from agent.languages.sentences import Sentence


class McpFailure(Exception):
    """The text is a `Sentence`. `said`: the server's own words; `is_over`: the connection is gone; `was_forgotten`: the
    server no longer knows the session, and has done nothing; `needs_login`: likewise, as the owner is not logged in."""

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
    """What task groups have wrapped, several times over."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
