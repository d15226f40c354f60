"""Registers commands in Discord's menu."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agent.languages.codes import Language, of_locale
from channels.discord.client import DiscordClient
from channels.json_fields import Json, get, object_of, objects_of
from channels.message import CommandInfo

_CHAT_INPUT, _TEXT_OPTION = 1, 3
_SERVERS, _PRIVATE = 0, 1
"""Contexts of a command: server channels, and the private chat with the bot."""
_LONGEST = 100
"""Characters of a description."""
LOCALES = (
    *(
        "bg",
        "cs",
        "da",
        "de",
        "el",
        "en-GB",
        "en-US",
        "es-419",
        "es-ES",
        "fi",
        "fr",
        "hi",
        "hr",
        "hu",
        "id",
        "it",
        "ja",
    ),
    *("ko", "lt", "nl", "no", "pl", "pt-BR", "ro", "ru", "sv-SE", "th", "tr", "uk", "vi", "zh-CN", "zh-TW"),
)
"""All that Discord knows."""
_TRANSLATED = {locale: found for locale in LOCALES if (found := of_locale(locale)) not in (None, Language.ENGLISH)}


async def sync(client: DiscordClient, commands: Sequence[CommandInfo]) -> bool:
    """Updates the menu only if it differs: Discord takes 200 new commands a day. Raises errors of calls."""
    path, where = "/applications/{application_id}/commands", {"application_id": client.application_id}
    there: object = await client.call("GET", path, where, query={"with_localizations": "true"})
    standing = [command for command in there if isinstance(command, dict)] if isinstance(there, list) else []
    wanted = [payload(command) for command in commands]
    if _essence(standing) == _essence(wanted):
        return False
    await client.call("PUT", path, where, json=wanted)
    return True


def payload(command: CommandInfo) -> dict[str, object]:
    described: dict[str, object] = {
        "name": command.name,
        "type": _CHAT_INPUT,
        "contexts": [_PRIVATE] if command.owner_only else [_SERVERS, _PRIVATE],
        **_in_all_languages(command.described),
    }
    if command.usage:
        is_required = not command.usage.startswith("[")
        option = {"type": _TEXT_OPTION, "name": "text", "required": is_required}
        described["options"] = [option | _in_all_languages(command.used)]
    return described


def _in_all_languages(text: Callable[[Language], str]) -> dict[str, object]:
    others = {locale: text(language)[:_LONGEST] for locale, language in _TRANSLATED.items() if language is not None}
    return {"description": text(Language.ENGLISH)[:_LONGEST], "description_localizations": others}


def _essence(commands: Sequence[Json]) -> list[object]:
    found: list[object] = []
    for command in commands:
        options = [(*_described(option), option.get("required") is True) for option in objects_of(command, "options")]
        contexts = command.get("contexts")
        allowed = sorted(contexts) if isinstance(contexts, list) else []
        found.append((*_described(command), options, allowed))
    return sorted(found, key=str)


def _described(entry: Json) -> tuple[str | None, str | None, Mapping[str, object]]:
    return get(entry, "name", str), get(entry, "description", str), object_of(entry, "description_localizations") or {}
