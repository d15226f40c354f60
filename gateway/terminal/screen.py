"""Shows a conversation in a pipe, or at a terminal without cursor and colours."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import TextIO

from agent.languages.sentences import said
from channels.terminal import Busy, Final, Shown, TerminalPreview
from gateway.rpc.protocol import MessageOutcome
from gateway.terminal.context import terminal_language
from gateway.terminal.stdin import PROMPT

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that would command the terminal instead of being shown; a text may come from anywhere."""
_BELL = "\a"
"""Rings for an answer that nobody waits for: the person may look elsewhere."""

OutcomeOf = Callable[[str], Awaitable[MessageOutcome]]


class Screen:
    """Prints the awaited answer to `out`, and settles the future that `expect` returned.

    live       a person is watching: replies appear while they are written, and all others too.
               Otherwise `out` gets only the answer; other replies go to `err`, marked as earlier
    at_prompt  the prompt is on the screen, and shown again after what arrives

    It is also a `log_setup.LogStream`, so that the log never writes into a line that is being typed or shown.

    Where `out` is gone (`| head`), that future raises `BrokenPipeError`.
    """

    def __init__(self, out: TextIO, err: TextIO, *, live: bool) -> None:
        self.out = out
        self.err = err
        self.live = live
        self.at_prompt = False
        self._growing = ""
        self._held_back: list[str] = []
        self._waiting_for = ""
        self._outcome: OutcomeOf | None = None
        self._answer: asyncio.Future[Final] | None = None

    def expect(self, message_id: str, outcome: OutcomeOf) -> asyncio.Future[Final]:
        """Returns a future that `show` settles with the answer to `message_id`."""
        self._waiting_for, self._outcome = message_id, outcome
        self._answer = asyncio.get_running_loop().create_future()
        return self._answer

    def write(self, text: str) -> None:
        """Prints whole lines beside the conversation: at the prompt in its place, during a reply after that."""
        if self._growing:
            self._held_back.append(text)
        elif self.at_prompt:
            self._print(self.out, f"\n{text}{PROMPT}")
        else:
            self._print(self.err, text)

    def flush(self) -> None:
        """Nothing waits: `write` prints at once."""

    async def show(self, shown: Shown) -> None:
        match shown:
            case TerminalPreview(text):
                if self.live:
                    self._grow(plain(text))
            case Final():
                await self._show_final(shown)
            case Busy():
                pass

    async def _show_final(self, final: Final) -> None:
        is_answer = await self._is_answer(final)
        try:
            self._print_final(final, is_answer)
        except BrokenPipeError as error:
            if self._answer and not self._answer.done():
                self._answer.set_exception(error)
            raise
        if is_answer and self._answer and not self._answer.done():
            self._answer.set_result(final)

    def _print_final(self, final: Final, is_answer: bool) -> None:
        text = plain(final.text)
        if self.live:
            self._grow(text)
            self._print(self.out, f"{_BELL}\n" if self.at_prompt and self.out.isatty() else "\n")
            self._growing = ""
            while self._held_back:
                self._print(self.err, self._held_back.pop(0))
            if self.at_prompt:
                self._print(self.out, PROMPT)
        elif not is_answer:
            self._print(self.err, f"{said(terminal_language(), '(earlier) {text}', text=text)}\n")
        elif final.key.endswith(":error"):
            self._print(self.err, f"{text}\n")
        else:
            self._print(self.out, f"{text}\n")

    async def _is_answer(self, final: Final) -> bool:
        """True for the awaited answer, also where the message joined a running turn."""
        if not self._answer or not self._outcome or self._answer.done():
            return False
        if final.reply_to == self._waiting_for:
            return True
        turn = (await self._outcome(self._waiting_for)).turn
        return bool(turn) and final.key.startswith(f"{turn}:")

    def _grow(self, text: str) -> None:
        """Prints the new part of a reply, or all of a reply that began anew."""
        if self.at_prompt and text and not self._growing:
            self._print(self.out, "\n")
        if not text.startswith(self._growing):
            self._print(self.out, "\n")
            self._growing = ""
        self._print(self.out, text[len(self._growing) :])
        self._growing = text

    @staticmethod
    def _print(stream: TextIO, text: str) -> None:
        stream.write(encodable(stream, text))
        stream.flush()


def encodable(stream: TextIO, text: str) -> str:
    """The text with a ? for each letter that the stream does not have."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def plain(text: str) -> str:
    """The text without characters that would command a terminal."""
    return _CONTROL.sub("", text)
