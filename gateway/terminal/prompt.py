"""The conversation at a terminal: a line to type in, below the answers, with history, completion and files."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.styles import Style

from agent.languages.codes import Language
from agent.languages.sentences import said, translated
from channels.message import Button, CommandInfo
from channels.terminal import Busy, Final, Shown, TerminalMessageNotKept, TerminalPreview, named, new_id
from gateway.commands.registry import all_commands
from gateway.home import Home, write_private
from gateway.rpc.client import NotRunning
from gateway.rpc.protocol import OperationError
from gateway.terminal.context import terminal_language
from gateway.terminal.repl import ChatConnection
from gateway.terminal.screen import encodable, plain
from gateway.terminal.styled import is_styled, last_block, markdown, rows_of

_BELL = "\a"
"""Rings for an answer that nobody waits for: the person may look elsewhere."""
_TWICE = 2.0
"""Seconds within which a second Ctrl-C leaves."""
_MOVES = 0.4
"""Seconds between two states of the sign that an answer is made."""
_BELOW = 5
"""Lines that stay free below a growing answer: for the prompt, the footer and some completions."""
_ATTACHED = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
_PATH_BEGUN = re.compile(r'(?<!\S)@("[^"\n]*|[^\s"]*)$')
_CHOICES = re.compile(r"[a-z]{2,}")
_STYLE = Style.from_dict(
    {"prompt": "bold ansicyan", "growing": "", "sign": "ansibrightblack", "bottom-toolbar": "noreverse ansibrightblack"}
)


@dataclass(frozen=True, slots=True)
class _Item:
    """A text to be printed above the prompt."""

    text: str
    printed: asyncio.Future[None]


class PromptTerminal:
    """One person's terminal. Implements `channels.terminal.Listener` and `log_setup.LogStream`. `failed`: the gateway
    ended, or a message was not kept."""

    def __init__(self, home: Home, out: TextIO) -> None:
        self.failed = False
        self._out = out
        self._language = terminal_language()
        self._has_markdown = is_styled(out)
        self._growing = ""
        self._above = ""
        """How much of the growing answer is printed: whole blocks."""
        self._is_busy = False
        self._buttons: tuple[Button, ...] = ()
        self._mine: set[str] = set()
        self._hint = ""
        self._footer = ""
        self._interrupted_at = -_TWICE
        self._chat: ChatConnection | None = None
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[_Item] = asyncio.Queue()
        self._typed: asyncio.Queue[str] = asyncio.Queue()
        self._is_open = False
        self._tasks: asyncio.TaskGroup | None = None
        history = home.state / "terminal-history"
        if not history.exists():
            write_private(history, "")
        self._session: PromptSession[str] = PromptSession(
            self._message,
            multiline=True,
            prompt_continuation="  ",
            key_bindings=self._keys(),
            history=FileHistory(str(history)),
            completer=_Completer(all_commands().menu, self._language),
            bottom_toolbar=self._toolbar,
            style=_STYLE,
            erase_when_done=True,
            reserve_space_for_menu=3,
        )
        self._session.default_buffer.accept_handler = self._accept

    # what the person does

    async def converse(self, chat: ChatConnection, *, handles_sigint: bool) -> None:
        """Takes messages until Ctrl-D, Ctrl-C twice, or the gateway's end."""
        self._chat = chat
        self._is_open = True
        gone = asyncio.ensure_future(chat.ended())
        if handles_sigint:
            self._loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            async with asyncio.TaskGroup() as self._tasks:
                helpers = [self._tasks.create_task(work) for work in (self._print_items(), self._move_sign())]
                self._tasks.create_task(self._read_footer())
                helpers.append(self._tasks.create_task(self._say_all()))
                await self._prompted(gone)
                if not gone.done():
                    await self._typed.join()  # what was sent just before leaving is kept, too
                if gone.done():
                    self.failed = True
                    await self._print(f"{said(self._language, 'The gateway has stopped.')}\n")
                self._is_open = False
                for helper in helpers:
                    helper.cancel()
        finally:
            self._is_open = False
            gone.cancel()
            while not self._items.empty():  # who waits for it would wait for ever
                item = self._items.get_nowait()
                self._write(item.text)
                item.printed.set_result(None)
            if handles_sigint:
                self._loop.remove_signal_handler(signal.SIGINT)

    async def _prompted(self, gone: asyncio.Future[None]) -> None:
        """Shows a single prompt for everything that is typed: between two prompts keys would be lost."""
        reading = asyncio.ensure_future(self._session.prompt_async(handle_sigint=False))
        awaited: set[asyncio.Future[Any]] = {reading, gone}
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        if not reading.done():
            self._session.app.exit(exception=EOFError)
        with contextlib.suppress(EOFError):
            await reading

    async def _say_all(self) -> None:
        while True:
            text = await self._typed.get()
            try:
                await self._say(text)
            finally:
                self._typed.task_done()

    def _accept(self, buffer: Buffer) -> bool:
        """Takes what was typed; the line is empty again."""
        self._typed.put_nowait(buffer.text)
        return False

    async def _say(self, text: str) -> None:
        """Sends a message, or presses the button of a number."""
        assert self._chat is not None
        if not text.strip():
            return
        await self._print(self._echoed(text))
        number = int(text) if text.strip().isdecimal() and len(text) < 4 else 0
        said = self._buttons[number - 1].data if 0 < number <= len(self._buttons) else text
        said, attached = with_files(said)
        self._buttons = ()
        message_id = new_id()
        self._mine.add(message_id)
        try:
            await self._chat.say(said, message_id, attached)
        except TerminalMessageNotKept as error:
            self.failed = True
            await self._print(f"{translated(self._language, error)}\n")

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter", eager=True)
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.document.text_before_cursor.endswith("\\"):
                buffer.delete_before_cursor()
                buffer.insert_text("\n")
            else:
                buffer.validate_and_handle()

        @keys.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("c-c", eager=True)
        def _(_: KeyPressEvent) -> None:
            self._interrupt()

        return keys

    def _interrupt(self) -> None:
        """Clears the line, else stops the answer, else leaves when it comes twice."""
        now = time.monotonic()
        if self._session.default_buffer.text:
            self._session.default_buffer.reset()
        elif self._is_busy and self._tasks:
            self._tasks.create_task(self._stop())
        elif now - self._interrupted_at < _TWICE and self._session.app.is_running:
            self._session.app.exit(exception=EOFError)
        else:
            self._hint = said(self._language, "Ctrl-C again leaves; so does Ctrl-D.")
            self._interrupted_at = now
        self._session.app.invalidate()

    async def _stop(self) -> None:
        assert self._chat is not None
        with contextlib.suppress(TerminalMessageNotKept):  # then there is nothing to stop either
            await self._chat.say("/stop", new_id())

    # what the person sees

    async def show(self, shown: Shown) -> None:
        match shown:
            case TerminalPreview(text):
                self._grow(plain(text))
            case Final():
                await self._show_final(shown)
            case Busy(on):
                self._is_busy = on
        self._session.app.invalidate()

    def write(self, text: str) -> None:
        """Prints whole lines above the prompt, from any thread."""
        if self._is_open:
            self._loop.call_soon_threadsafe(self._put, text)
        else:
            self._write(text)

    def flush(self) -> None:
        """Nothing waits: `write` prints at once."""

    def _grow(self, text: str) -> None:
        if not text.startswith(self._above):  # it began anew
            self._above = ""
        end = last_block(text) if self._has_markdown else text.rfind("\n") + 1
        if blocks := text[len(self._above) : end].strip("\n"):
            self._put(self._rendered(blocks))
            self._above = text[:end]
        self._growing = text

    async def _show_final(self, final: Final) -> None:
        text = plain(final.text.removesuffix(named(final.buttons)))
        rest = text[len(self._above) :] if text.startswith(self._above) else text
        self._growing = self._above = ""
        self._buttons = final.buttons or self._buttons
        shown = self._rendered(rest.strip("\n")) if rest.strip() else ""
        if final.buttons:
            shown += "  ".join(f"[{number}] {button.label}" for number, button in enumerate(final.buttons, 1)) + "\n"
        comes_by_itself = final.reply_to not in self._mine and not self._is_busy
        await self._print(f"{shown}\n{_BELL * comes_by_itself}")
        if self._tasks:
            self._tasks.create_task(self._read_footer())

    def _rendered(self, text: str) -> str:
        return markdown(self._out, text) if self._has_markdown else f"{text}\n"

    def _echoed(self, text: str) -> str:
        lines = plain(text).replace("\n", "\n  ")
        return f"\x1b[1;36m>\x1b[0m \x1b[1m{lines}\x1b[0m\n" if self._has_markdown else f"> {lines}\n"

    def _message(self) -> StyleAndTextTuples:
        """The growing end of an answer, or a sign that it is being made, and the prompt below."""
        size = self._session.output.get_size()
        left = self._growing[len(self._above) :].strip("\n")
        rows = rows_of(left, size.columns - 1)[-max(size.rows - _BELOW, 1) :] if left else []
        shown: StyleAndTextTuples = [("class:growing", f"{row}\n") for row in rows]
        if self._is_busy and not rows:
            shown.append(("class:sign", "·" * (1 + int(time.monotonic() / _MOVES) % 3) + "\n"))
        return [*shown, ("class:prompt", "> ")]

    def _toolbar(self) -> str:
        is_fresh = time.monotonic() - self._interrupted_at < _TWICE
        return self._hint if self._hint and is_fresh else self._footer

    async def _read_footer(self) -> None:
        """Updates the model, how full its context is, and the day's cost."""
        assert self._chat is not None
        try:
            context = await self._chat.call("memory.context", {})
            status = await self._chat.call("status", {})
        except (NotRunning, OperationError):
            return
        if isinstance(context, dict) and isinstance(status, dict):
            self._footer = footer(context, status, self._language)
            self._session.app.invalidate()

    async def _move_sign(self) -> None:
        while True:
            await asyncio.sleep(_MOVES)
            if self._is_busy or self._hint:
                self._session.app.invalidate()

    def _put(self, text: str) -> asyncio.Future[None]:
        item = _Item(text, self._loop.create_future())
        self._items.put_nowait(item)
        return item.printed

    async def _print(self, text: str) -> None:
        """Returns once it is on the screen."""
        if self._is_open:
            await self._put(text)
        else:
            self._write(text)

    async def _print_items(self) -> None:
        while True:
            item = await self._items.get()
            try:
                await run_in_terminal(partial(self._write, item.text))
            finally:
                item.printed.set_result(None)

    def _write(self, text: str) -> None:
        self._out.write(encodable(self._out, text))
        self._out.flush()


def with_files(text: str) -> tuple[str, Sequence[Path]]:
    """Replaces each `@path` of a file that exists by its name; returns the text and these files."""
    found: list[Path] = []

    def name(match: re.Match[str]) -> str:
        path = Path(match[1] or match[2]).expanduser()
        with contextlib.suppress(OSError, RuntimeError):
            if path.is_file():
                found.append(path.absolute())
                return path.name
        return match[0]

    return _ATTACHED.sub(name, text), found


def footer(context: dict[str, object], status: dict[str, object], language: Language = Language.ENGLISH) -> str:
    """`claude-sonnet-5-5 · context 12 % full · $0.03 today`."""
    window, used, usage = context.get("window"), context.get("used"), status.get("usage")
    parts = [str(context.get("model") or "")]
    if isinstance(window, int) and isinstance(used, int) and window:
        parts.append(said(language, "context {percent} % full", percent=f"{100 * used / window:.0f}"))
    cost = usage.get("cost_usd") if isinstance(usage, dict) else None
    if isinstance(cost, int | float):
        parts.append(said(language, "${cost} today", cost=f"{cost:.2f}"))
    return " · ".join(filter(None, parts))


class _Completer(Completer):
    """Commands and their words after a slash, files after an @."""

    def __init__(self, commands: Iterable[CommandInfo], language: Language) -> None:
        self._language = language
        self._commands = {command.name: command for command in commands}
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        if begun := _PATH_BEGUN.search(before):
            yield from self._files(begun[1].removeprefix('"'), complete_event, is_quoted=begun[1].startswith('"'))
        elif before.startswith("/"):
            yield from self._words(before[1:])

    def _files(self, path: str, event: CompleteEvent, *, is_quoted: bool) -> Iterator[Completion]:
        for completion in self._paths.get_completions(Document(path), event):
            whole = path + completion.text
            if Path(whole).expanduser().is_dir():
                yield Completion(f"{completion.text}{os.sep}", display=completion.display)
            elif " " in whole and not is_quoted:
                yield Completion(f'"{whole}"', -len(path), display=completion.display)
            else:
                yield Completion(f'{completion.text}"' if is_quoted else completion.text, display=completion.display)

    def _words(self, typed: str) -> Iterator[Completion]:
        name, space, argument = typed.partition(" ")
        if not space:
            for command in self._commands.values():
                if command.name.startswith(name):
                    about = filter(None, (command.used(self._language), command.described(self._language)))
                    yield Completion(command.name, -len(name), display_meta="  ".join(about))
        elif name in self._commands:
            last = argument.rpartition(" ")[2]
            for word in dict.fromkeys(_CHOICES.findall(self._commands[name].usage)):
                if word.startswith(last) and word != last:
                    yield Completion(word, -len(last))
