"""The library's WebSocket, which breaks where READY or RESUMED lack what can be done without."""

from __future__ import annotations

import json
from typing import Any

from discord.gateway import DiscordWebSocket

from channels.fields import load_json

_GREETINGS = ('"READY"', '"RESUMED"')
_HEAD = 200
"""Characters of a payload in which its event is sought; the longest ones are not read twice for nothing."""


class Socket(DiscordWebSocket):
    async def received_message(self, msg: Any, /) -> None:
        """As the library's. Where a session is to be resumed is the address that it began at, unless Discord names
        another."""
        text: str | None = self._decompressor.decompress(msg) if isinstance(msg, bytes) else msg
        if text is None:
            return  # the beginning of a payload
        if any(one in text[:_HEAD] or one in text[-_HEAD:] for one in _GREETINGS):
            text = self._completed(text)
        await super().received_message(text)

    def _completed(self, text: str) -> str:
        payload = load_json(text)
        if payload.get("t") not in ("READY", "RESUMED"):
            return text
        data = payload.get("d") or {}
        data["resume_gateway_url"] = data.get("resume_gateway_url") or str(self.gateway)
        data.setdefault("session_id", self.session_id)
        return json.dumps({"s": self.sequence, **payload, "d": data})
