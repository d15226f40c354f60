"""The shortest bot with the same libraries: what they cost by themselves, with nothing kept and nothing promised.

python benchmarks/bare_loop.py TOKEN TELEGRAM_URL MODEL_URL API_KEY
"""

from __future__ import annotations

import asyncio
import sys

import anthropic
import httpx2
import telegram
from telegram.request import HTTPXRequest

LONG_POLL_S = 50


def straight() -> HTTPXRequest:
    return HTTPXRequest(httpx_kwargs={"trust_env": False})


async def main(token: str, telegram_url: str, model_url: str, api_key: str) -> None:
    http = httpx2.AsyncClient(trust_env=False)
    client = anthropic.AsyncAnthropic(api_key=api_key, base_url=model_url, http_client=http)
    offset: int | None = None
    async with telegram.Bot(token, telegram_url, request=straight(), get_updates_request=straight()) as bot, client:
        while True:
            for update in await bot.get_updates(offset=offset, timeout=LONG_POLL_S):
                offset = update.update_id + 1
                if update.message is None or not update.message.text:
                    continue
                said: anthropic.types.MessageParam = {"role": "user", "content": update.message.text}
                async with client.messages.stream(
                    model="claude-sonnet-5-5", max_tokens=1024, messages=[said]
                ) as answer:
                    await bot.send_message(update.message.chat_id, await answer.get_final_text())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
