"""The set-up: a model, the platforms, the person, search by meaning. Shown at the first visit and in settings."""

from __future__ import annotations

from collections.abc import Mapping

from channels.web.views.view import Call, Values, View


async def _read(call: Call, query: Mapping[str, str]) -> Values:
    return {"setup": await call("setup.status", {})}


VIEW = View("setup", "Set-up", _read, has_script=True)
