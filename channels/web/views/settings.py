"""Settings: the set-up again, the keys that people change, and all of them as a reference."""

from __future__ import annotations

from collections.abc import Mapping

from channels.web.views.view import Call, Values, View


async def _read(call: Call, query: Mapping[str, str]) -> Values:
    shown = await call("config.show", {})
    return {
        "setup": await call("setup.status", {}),
        "keys": shown["keys"],
        "now": {setting["key"]: setting["value"] for setting in shown["keys"]},
    }


VIEW = View("settings", "Settings", _read, has_script=True)
