"""A day of talk on Telegram, Discord and in the terminal, and what each of them shows of it in the evening.

    python benchmarks/summary.py

Everything is real but the far ends, the strict fakes of `tests/fakes/`. The model writes the journal and the summary
from the words that the request shows it, and from nothing else: what is printed was said in the day, or is Daybook's.
Exit code 1 where a chat was told its day twice or never.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.fakes.anthropic_answers import Answer, JsonObject, Say
from tests.fakes.discord import PLAUSIBLE_TOKEN, FakeDiscord
from tests.fakes.discord.model import Message as DiscordMessage
from tests.fakes.telegram import Message
from tests.flows.diarist import Diarist
from tests.flows.server import Server
from tests.flows.story import ALICE, Story
from tests.flows.test_daily import DAY, a_day, at, awake, ran, says
from tests.flows.test_daily_everywhere import Window, on_both

_BULLET = re.compile(r"^- (\d\d:\d\d) (\w+) said (.+)$", re.MULTILINE)
_DECIDED = re.compile(r"\b(?:decided|we take)\b", re.IGNORECASE)
_OPENING = "That was your day:"
_JOB = "  - {id: dentist, text: The dentist, when: {at: '2026-11-22T10:00'}, to: owner}\n"


class Storyteller(Diarist):
    """Sums a day up in one line for each thing that its log has."""

    def __call__(self, body: JsonObject) -> Answer | str:
        if "daily summary" not in "".join(block["text"] for block in body["system"]):
            return super().__call__(body)
        log = "\n".join(block["text"] for block in body["messages"][-1]["content"] if block["type"] == "text")
        lines = [f"- {_told(*one.groups())}" for one in _BULLET.finditer(log)]
        return Answer((Say(("\n".join([_OPENING, "", *lines]),)),))


def _told(time: str, who: str, said: str) -> str:
    if said.endswith("?"):
        return f"{time} {who} asked: {said}"
    return f"{time} **Decided:** {said}" if _DECIDED.search(said) else f"{time} {who}: {said}"


async def lived(folder: Path) -> tuple[Mapping[str, list[str]], str]:
    """What each chat showed in the evening, and the day's log."""
    async with FakeDiscord(f"{PLAUSIBLE_TOKEN[:-8]}{secrets.token_hex(4)}") as discord:
        server = Server(discord)
        async with a_day(folder, **on_both(server, "terminal:main")) as (told, _):
            told.model.reply = Storyteller()
            told.write("schedule.yaml", f"jobs:\n{_JOB}")
            window = Window()
            async with awake(told) as gateway:
                await discord.until_connected()
                await _the_day(told, server)
                with gateway.terminal.attach("main", window):
                    at(told, f"{DAY} 21:00")
                    await told.hears(_OPENING)
                    await server.hears(_OPENING)
                    await server.hears(_OPENING, server.general)
                    await ran(gateway, "daily-summary")
                    async with asyncio.timeout(20):
                        while not window.read:  # noqa: ASYNC110  no bell rings
                            await asyncio.sleep(0)
                await told.idle()
            shown = {
                "Telegram, private": [_in_telegram(one) for one in told.telegram.messages(ALICE)],
                "Discord, private": [_in_discord(one) for one in discord.messages(server.dm)],
                "Discord, #general": [_in_discord(one) for one in discord.messages(server.general)],
                "Terminal": window.read,
            }
            return shown, told.read(f"memory/{DAY}.md")


async def _the_day(told: Story, server: Server) -> None:
    await says(told, f"{DAY} 09:10", "The tiler was here, we decided for the blue tiles, 24 m2 at 38 euros")
    await says(told, f"{DAY} 11:30", "I'll send the invoice by 2026-11-24")
    at(told, f"{DAY} 14:05")
    await server.say("Bob comes on Friday with ICE 597, 16:04 in Munich")
    await server.hears("Fine.")
    at(told, f"{DAY} 17:20")
    await server.call("Who brings the cake on Sunday?")
    await server.hears("Fine.", server.general)
    await told.idle()


def _in_telegram(message: Message) -> str:
    return message.text + "".join(f"\n[ {button['text']} ]" for row in message.buttons for button in row)


def _in_discord(message: DiscordMessage) -> str:
    return message.content + "".join(f"\n[ {control['label']} ]" for control in message.controls)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        shown, log = asyncio.run(lived(Path(folder)))
    wrong = 0
    for place, texts in shown.items():
        summaries = [text for text in texts if _OPENING in text]
        wrong += len(summaries) != 1
        print("\n".join((f"=== {place}", "", *summaries, "")))
    print(f"=== memory/{DAY}.md\n\n{log}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
