"""Whether everything works: channels, what waits, what the doctor finds and the newest lines of the log."""

from __future__ import annotations

from collections.abc import Mapping

from channels.web.views.view import Call, Values, View


async def _read(call: Call, query: Mapping[str, str]) -> Values:
    return {"status": await call("status", {})}


VIEW = View("status", "Status", _read, frozenset({"doctor.run", "log.tail"}), has_script=True)
