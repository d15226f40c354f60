"""What a person sees of a conversation in the terminal."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import TextIO

from channels.terminal import Busy, Final, Shown, TerminalPreview
from gateway.cli.stdin import prompt_again
from gateway.rpc.protocol import MessageOutcome

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that would command the terminal instead of being shown; a text may come from anywhere."""
_BELL = "\a"
"""What comes of itself rings: the person may look elsewhere."""

OutcomeOf = Callable[[str], Awaitable[MessageOutcome]]


class Screen:
    """Prints the awaited answer to `out`, and settles the future that `expect` returned.

    live       a person is watching: replies appear while they are written, and whatever else arrives is shown too.
               Otherwise `out` gets nothing but the answer; other replies go to `err`, marked as earlier ones
    at_prompt  the prompt is on the screen: what arrives begins below it, and it is shown again afterwards

    Where `out` is gone (`| head`), that future raises `BrokenPipeError`, and the reply is kept for the next reader.
    """

    def __init__(self, out: TextIO, err: TextIO, *, live: bool) -> None:
        self.out = out
        self.err = err
        self.live = live
        self.at_prompt = False
        self._growing = ""
        self._waiting_for = ""
        self._outcome: OutcomeOf | None = None
        self._answer: asyncio.Future[Final] | None = None

    def expect(self, message_id: str, outcome: OutcomeOf) -> asyncio.Future[Final]:
        """Waits for the answer to `message_id` from now on."""
        self._waiting_for, self._outcome = message_id, outcome
        self._answer = asyncio.get_running_loop().create_future()
        return self._answer

    async def show(self, shown: Shown) -> None:
        match shown:
            case TerminalPreview(text):
                if self.live:
                    self._grow(_plain(text))
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
        text = _plain(final.text)
        if self.live:
            self._grow(text)
            self._print(self.out, f"{_BELL}\n" if self.at_prompt and self.out.isatty() else "\n")
            self._growing = ""
            if self.at_prompt:
                self._print(self.out, prompt_again())
        elif not is_answer:
            self._print(self.err, f"(earlier) {text}\n")
        elif final.key.endswith(":error"):
            self._print(self.err, f"{text}\n")
        else:
            self._print(self.out, f"{text}\n")

    async def _is_answer(self, final: Final) -> bool:
        """True for the awaited answer. A message that joined a running turn is answered by that turn's reply, which
        names another message."""
        if not self._answer or not self._outcome or self._answer.done():
            return False
        if final.reply_to == self._waiting_for:
            return True
        turn = (await self._outcome(self._waiting_for)).turn
        return bool(turn) and final.key.startswith(f"{turn}:")

    def _grow(self, text: str) -> None:
        """Prints what is new; a reply that was reset is printed again."""
        if self.at_prompt and text and not self._growing:
            self._print(self.out, "\n")
        if not text.startswith(self._growing):
            self._print(self.out, "\n")
            self._growing = ""
        self._print(self.out, text[len(self._growing) :])
        self._growing = text

    @staticmethod
    def _print(stream: TextIO, text: str) -> None:
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding))  # a terminal that has no such letter shows ?
        stream.flush()


def _plain(text: str) -> str:
    return _CONTROL.sub("", text)
