"""What goes wrong, one thing at a time: at the two platforms, on the way, and at the model.

Only what passes: a revoked token or a close code that means "never again" ends a channel for good, as it should.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord import FakeDiscord
from tests.fakes.discord import Fault as DiscordFault
from tests.fakes.telegram import FakeTelegram
from tests.fakes.telegram import Fault as TelegramFault

CLOSES = (1000, 1001, 1006, 4000, 4001, 4002, 4003, 4005, 4007, 4008, 4009)
"""Close codes after which a client may come back
(https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes)."""
SENDS = ("POST", r"/channels/\d+/messages$")
LASTS_S = 8.0
"""How long a fault waits for somebody to meet it, so that many do not gather before a call that is seldom made."""
AWAY_S = 1.5
"""How long a server that goes away is gone."""

TELEGRAM_METHODS = (
    "sendMessage",
    "sendMessageDraft",
    "sendChatAction",
    "getUpdates",
    "getFile",
    "editMessageText",
    "*",
)
DISCORD_CALLS = (SENDS, ("PATCH", ""), ("GET", ""), ("POST", "/callback$"), ("*", "/webhooks/"), ("*", ""))
ODD_UPDATES: tuple[Mapping[str, object], ...] = (
    {"message": {"message_id": 1}},
    {"message": None},
    {"message": "text"},
    {"message": {"message_id": "x", "date": "y", "chat": [], "from": 7, "text": ["z"]}},
    {"callback_query": {"id": 5}},
    {"brand_new_kind": {"x": 1}},
    {},
)
ODD_EVENTS = ("MESSAGE_CREATE", "MESSAGE_UPDATE", "INTERACTION_CREATE", "GUILD_CREATE", "THREAD_LIST_SYNC", "NEW_KIND")
ODD_DATA: tuple[Mapping[str, object] | None, ...] = (
    {},
    {"id": 5},
    {"id": "x", "channel_id": "7", "author": 3, "threads": [1]},
    None,
)


class Weather:
    """`came` counts what went wrong."""

    def __init__(
        self, telegram: FakeTelegram, discord: FakeDiscord, model: FakeAnthropic, chance: random.Random
    ) -> None:
        self._telegram = telegram
        self._discord = discord
        self._model = model
        self._chance = chance
        self.came: Counter[str] = Counter()
        self._kinds: Mapping[Callable[[], Awaitable[str]], int] = {
            self._telegram_call: 20,
            self._discord_call: 20,
            self._telegram_update: 10,
            self._discord_event: 10,
            self._connection: 15,
            self._model_call: 20,
            self._gone: 3,
            self._new_client: 2,
        }
        self._coming_back = asyncio.Lock()

    async def blow(self) -> None:
        """One thing goes wrong, and is over when this returns."""
        (kind,) = self._chance.choices(list(self._kinds), list(self._kinds.values()))
        self.came[await kind()] += 1

    async def _telegram_call(self) -> str:
        fake, method = self._telegram, self._chance.choice(TELEGRAM_METHODS)
        ways: tuple[tuple[str, Callable[[], TelegramFault]], ...] = (
            ("429", lambda: fake.fail(method, status=429, retry_after=1)),
            ("500", lambda: fake.fail(method, status=500, description="Internal Server Error")),
            ("502 of a proxy", lambda: fake.junk(method)),
            ("502 after the effect", lambda: fake.junk(method, after_effect=True)),
            ("drop before", lambda: fake.abort(method)),
            ("drop after", lambda: fake.abort_after(method)),
            ("late", lambda: fake.delay(method, self._chance.uniform(0.5, 3.0))),
            ("late answer", lambda: fake.delay(method, self._chance.uniform(0.5, 3.0), after_effect=True)),
        )
        what, how = self._chance.choice(ways)
        await _lasts(how())
        return f"telegram {what}"

    async def _discord_call(self) -> str:
        fake, (method, path) = self._discord, self._chance.choice(DISCORD_CALLS)
        ways: tuple[tuple[str, Callable[[], DiscordFault]], ...] = (
            ("429 with Via", lambda: fake.throttle_next(method, path, retry_after=0.7)),
            ("429 without Via", lambda: fake.throttle_next(method, path, retry_after=0.7, via=False)),
            ("429 global", lambda: fake.throttle_next(method, path, retry_after=0.7, scope="global")),
            ("500", lambda: fake.fail_next(method, path, status=500)),
            ("502 after the effect", lambda: fake.fail_next(method, path, status=502, after_effect=True)),
            ("503 for long", lambda: fake.fail_next(method, path, status=503, times=6)),
            ("drop before", lambda: fake.fail_next(method, path, drop="before")),
            ("drop after", lambda: fake.fail_next(method, path, drop="after")),
            ("late", lambda: fake.delay_next(method, path, self._chance.uniform(0.5, 3.0))),
        )
        what, how = self._chance.choice(ways)
        await _lasts(how())
        return f"discord {what}"

    async def _telegram_update(self) -> str:
        self._telegram.push(dict(self._chance.choice(ODD_UPDATES)))
        return "telegram odd update"

    async def _discord_event(self) -> str:
        if self._chance.random() < 0.3:
            self._discord.mangle("MESSAGE_CREATE", remove=("member", "pinned"), replace={"mentions": {}, "flags": "x"})
            return "discord spoilt message"
        self._discord.push(self._chance.choice(ODD_EVENTS), self._chance.choice(ODD_DATA))
        return "discord odd event"

    async def _connection(self) -> str:
        fake, code = self._discord, self._chance.choice(CLOSES)

        def lose_session() -> None:
            fake.disconnect(1006)
            fake.forget_sessions()

        ways: tuple[tuple[str, Callable[[], object]], ...] = (
            (f"close {code}", lambda: fake.disconnect(code)),
            (f"close {code}", lambda: fake.disconnect(code)),
            ("op 7", fake.ask_reconnect),
            ("op 9 resumable", lambda: fake.invalidate(resumable=True)),
            ("op 9", fake.invalidate),
            ("op 1", fake.ask_heartbeat),
            ("unknown op", lambda: fake.push_frame('{"op": 99, "d": null, "s": null, "t": null}')),
            ("lost session", lose_session),
        )
        what, how = self._chance.choice(ways)
        how()
        return f"gateway {what}"

    async def _model_call(self) -> str:
        fake = self._model
        ways: tuple[tuple[str, Callable[[], object]], ...] = (
            ("429", lambda: fake.fail(429, retry_after=1)),
            ("500", lambda: fake.fail(500)),
            ("529", lambda: fake.fail(529)),
            ("cut", fake.cut),
            ("early end", fake.end_early),
            ("stall", fake.stall),
            ("error event", fake.error_event),
            ("no stop reason", fake.never_stop_reason),
        )
        what, how = self._chance.choice(ways)
        how()
        return f"model {what}"

    async def _new_client(self) -> str:
        """What discord.py does not survive. Rare: after each, Daybook waits longer before it begins anew, as it should
        with a platform that counts logins."""
        if self._chance.random() < 0.5:
            self._discord.push_frame("this is no JSON")
            return "gateway frame of no JSON"
        self._discord.refuse_connections(2)
        self._discord.disconnect(1006)
        return "gateway refused connection"

    async def _gone(self) -> str:
        """A whole server goes away and comes back."""
        which = self._chance.choice(("telegram", "telegram", "discord", "gateway"))
        async with self._coming_back:
            await self._away(which)
        return f"{which} gone"

    async def _away(self, which: str) -> None:
        if which == "gateway":
            await self._discord.close_gateway()
            await asyncio.sleep(AWAY_S)
            await self._discord.open_gateway()
        else:
            server = self._telegram if which == "telegram" else self._discord
            await server.stop()
            await asyncio.sleep(AWAY_S)
            await server.start()


async def _lasts(fault: TelegramFault | DiscordFault) -> None:
    await asyncio.sleep(LASTS_S)
    fault.cancel()
