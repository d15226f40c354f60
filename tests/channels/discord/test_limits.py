"""How often Discord lets itself be asked: no more is asked than it allows, and what it refuses holds up no more than it
must."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from channels.discord.errors import seconds_of
from channels.discord.rate_limit import GlobalRateLimit
from channels.message import Health, NotSent, OutboundMessage, SourceFailed
from tests.channels.discord.conftest import House, address
from tests.fakes.discord import Channel
from tests.fakes.discord.faults import Limits, rule

SENDS = r"^/channels/\d+/messages$"


def text(chat: Channel, words: str, *, preview: bool = False) -> OutboundMessage:
    return OutboundMessage(address(chat), words, words, preview=preview)


async def test_no_more_is_asked_than_the_headers_allow(house: House) -> None:
    dm = house.discord.dm(house.discord.user("Alice"))
    house.discord.limits = Limits((rule("POST", SENDS, 3, 0.7),))
    async with house.running() as channel:
        await asyncio.gather(*(channel.send(text(dm, f"{number}")) for number in range(10)))
        assert len(house.discord.messages(dm)) == 10
        assert [call.status for call in house.discord.called("POST", SENDS)] == [200] * 10


async def test_a_fraction_of_a_second_is_waited_for(house: House) -> None:
    dm = house.discord.dm(house.discord.user("Alice"))
    limited = {"message": "You are being rate limited.", "retry_after": 0.35, "global": False}
    headers = {"Via": "1.1 google", "Retry-After": "0.35"}
    async with house.running() as channel:
        house.discord.fail_next("POST", SENDS, status=429, json=limited, headers=headers)
        await channel.send(text(dm, "hi"))
        refused, taken = house.discord.called("POST", SENDS)
        assert (refused.status, taken.status) == (429, 200) and taken.at - refused.done >= 0.35


async def test_a_call_that_is_given_up_in_a_limit_of_the_whole_bot_holds_nobody_up(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    """The library alone would never let another call go."""
    dm, other = house.discord.dm(house.discord.user("Alice")), house.discord.dm(house.discord.user("Bob"))
    async with house.running() as channel:
        house.discord.throttle_next("POST", "/typing$", retry_after=0.9, scope="global")
        async with channel.typing(address(dm)), asyncio.timeout(120):
            while "Global rate limit has been hit" not in caplog.text:  # noqa: ASYNC110 (the library rings no bell)
                await asyncio.sleep(0.01)
        async with asyncio.timeout(120):
            await channel.send(text(other, "hi"))
        (throttled,), (sent,) = house.discord.called("POST", f"/{dm.id}/typing"), house.discord.called("POST", SENDS)
        assert throttled.status == 429 and sent.at - throttled.done >= 0.9


async def test_a_long_limit_of_the_whole_bot_is_met_once(house: House) -> None:
    dm, other = house.discord.dm(house.discord.user("Alice")), house.discord.dm(house.discord.user("Bob"))
    async with house.running() as channel:
        house.discord.throttle_next("POST", SENDS, retry_after=100.0, scope="global")
        for chat, preview in ((dm, False), (other, False), (other, True)):
            with pytest.raises(NotSent) as refused:
                await channel.send(text(chat, "hi", preview=preview))
            assert refused.value.retry_after > 30
        assert len(house.discord.called("POST", SENDS)) == 1 and channel.status.state is Health.OK


async def test_who_is_shut_out_keeps_still_and_says_so(house: House) -> None:
    """Cloudflare's own 429: each call meanwhile would make it last longer."""
    alice = house.discord.user("Alice")
    dm, other = house.discord.dm(alice), house.discord.dm(house.discord.user("Bob"))
    channel = house.channel()
    task = asyncio.create_task(channel.run(house.receiver))
    await house.discord.until_connected()
    await house.discord.say(alice, dm, "are you there?")
    await house.receiver.message("are you there?")
    await house.discord.wait_for(lambda: house.discord.called("PUT", "/commands$"))
    house.discord.throttle_next("POST", SENDS, retry_after=900.0, via=False)
    for chat in (dm, other):
        with pytest.raises(NotSent) as refused:
            await channel.send(text(chat, "hi"))
        assert refused.value.retry_after > 800
    asked = len(house.discord.calls)
    async with channel.typing(address(dm)):
        await channel.react(address(dm), "1", "👀")
    assert channel.status.state is Health.DEGRADED and "another 15 min" in channel.status.last_error
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    with pytest.raises(SourceFailed, match="Cloudflare") as failed:
        await channel.run(house.receiver)
    assert not failed.value.fatal and len(house.discord.calls) == asked
    assert channel.status.state is Health.DOWN and "Cloudflare" in channel.status.last_error
    await channel.aclose()


async def test_a_limit_whose_answer_says_nothing_breaks_nothing(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running() as channel:
        await house.discord.wait_for(lambda: house.discord.called("PUT", "/commands$"))
        house.discord.fail_next("POST", "/(callback|typing)$", status=429, json={}, headers={"Via": "x"}, times=3)
        async with channel.typing(address(dm)):
            await house.discord.wait_for(lambda: house.discord.called("POST", "/typing$"))
        await house.discord.slash(alice, dm, "status")
        await house.receiver.message("/status")
        await house.discord.say(alice, dm, "still there?")
        await house.receiver.message("still there?")
    assert len(house.discord.identifies) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "1.337"}, 1.337),
        ({"Retry-After": "0"}, 0.5),
        ({"Retry-After": "soon", "X-RateLimit-Reset-After": "2.5"}, 2.5),
        ({"Retry-After": "nan"}, 0.0),
        ({"Retry-After": "1e99"}, 86_400.0),
        ({}, 0.0),
    ],
)
def test_the_pause_that_headers_name(headers: dict[str, str], seconds: float) -> None:
    assert seconds_of(headers) == seconds


def test_what_a_refusal_says_of_other_calls() -> None:
    halt = GlobalRateLimit()
    halt.met({"Via": "1.1 google", "Retry-After": "90"})
    assert halt.left("/channels/{channel_id}/messages") == 0 and not halt.shut_out
    halt.met({"Via": "1.1 google", "Retry-After": "90", "X-RateLimit-Global": "true"})
    assert 80 < halt.left("/channels/{channel_id}/messages") <= 90
    assert halt.left("/webhooks/{webhook_id}/{webhook_token}") == 0 and not halt.shut_out
    halt.met({})
    assert 50 < halt.left("/webhooks/{webhook_id}/{webhook_token}") <= 60 and "60 s" in halt.shut_out
