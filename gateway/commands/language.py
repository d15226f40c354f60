"""`/language`: in which language Daybook speaks in a chat."""

from __future__ import annotations

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import said
from agent.languages.terms import fold
from channels.message import Button, Origin
from gateway.commands.context import Command, CommandContext, CommandError, CommandReply
from gateway.store import chat_rows

_AUTO = "auto"
_IN_A_ROW = 3


async def language(context: CommandContext) -> CommandReply:
    wanted = fold(context.argument.strip())
    if not wanted:
        return CommandReply(
            context.said("I speak {language} here. Which language shall it be?", language=_name(context.language)),
            _buttons(context.language),
        )
    found = next((code for code in ALL_LANGUAGES if wanted in (code, fold(_name(code)))), None)
    if found is None and wanted != _AUTO:
        names = ", ".join(map(_name, ALL_LANGUAGES))
        raise CommandError(context.said("I don't speak that language yet. I speak {languages}.", languages=names))
    message, database = context.row.message, context.services.database
    await database.run(chat_rows.choose_language, message, found)
    now = await database.run(chat_rows.language, message.address)
    text = (
        said(now, "From now on I speak {language} here.", language=_name(now))
        if found
        else said(
            now, "From now on I speak the language that you write, at the moment {language}.", language=_name(now)
        )
    )
    return CommandReply(text, replaces=message.platform_id if message.origin is Origin.COMMAND else "")


def _name(code: Language) -> str:
    return LANGUAGES[code].name


def _buttons(now: Language) -> tuple[tuple[Button, ...], ...]:
    listed = [Button(_name(code), f"/language {code}") for code in ALL_LANGUAGES]
    rows = [tuple(listed[at : at + _IN_A_ROW]) for at in range(0, len(listed), _IN_A_ROW)]
    return (*rows, (Button(said(now, "The one that I write"), f"/language {_AUTO}"),))


COMMANDS = (Command("language", "[NAME|auto]", "in which language I speak here", language),)
