"""Registers commands in Discord's menu."""

from __future__ import annotations

from collections.abc import Sequence

from channels.discord.client import DiscordClient
from channels.json_fields import Json, get, objects_of
from channels.message import CommandInfo

_CHAT_INPUT, _TEXT_OPTION = 1, 3
_SERVERS, _PRIVATE = 0, 1
"""Contexts of a command: server channels, and the private chat with the bot."""
_LONGEST = 100
"""Characters of a description."""


async def sync(client: DiscordClient, commands: Sequence[CommandInfo]) -> bool:
    """Updates the menu only if it differs: Discord takes 200 new commands a day. Raises errors of calls."""
    path, where = "/applications/{application_id}/commands", {"application_id": client.application_id}
    there: object = await client.call("GET", path, where)
    standing = [one for one in there if isinstance(one, dict)] if isinstance(there, list) else []
    wanted = [payload(command) for command in commands]
    if _essence(standing) == _essence(wanted):
        return False
    await client.call("PUT", path, where, json=wanted)
    return True


def payload(command: CommandInfo) -> dict[str, object]:
    described: dict[str, object] = {
        "name": command.name,
        "description": command.description[:_LONGEST],
        "type": _CHAT_INPUT,
        "contexts": [_PRIVATE] if command.owner_only else [_SERVERS, _PRIVATE],
    }
    if command.usage:
        described["options"] = [
            {
                "type": _TEXT_OPTION,
                "name": "text",
                "description": command.usage[:_LONGEST],
                "required": not command.usage.startswith("["),
            }
        ]
    return described


def _essence(commands: Sequence[Json]) -> list[object]:
    found: list[object] = []
    for command in commands:
        options = [
            (get(one, "name", str), get(one, "description", str), one.get("required") is True)
            for one in objects_of(command, "options")
        ]
        contexts = command.get("contexts")
        allowed = sorted(contexts) if isinstance(contexts, list) else []
        found.append((get(command, "name", str), get(command, "description", str), options, allowed))
    return sorted(found, key=str)
