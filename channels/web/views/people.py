"""People: who asks to be let in, what waits for a yes, who may write, and in which groups."""

from __future__ import annotations

from collections.abc import Mapping

from channels.web.views.view import Call, Values, View


async def _read(call: Call, query: Mapping[str, str]) -> Values:
    known = await call("people.list", {})
    requests = [request for request in await call("pair.list", {}) if request["state"] == "waiting"]
    return {
        "requests": requests,
        "approvals": await call("approvals.list", {}),
        "people": known["people"],
        "groups": known["groups"],
    }


VIEW = View("people", "People", _read, has_script=True)
