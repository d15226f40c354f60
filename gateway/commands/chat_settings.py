"""How Daybook answers in a chat: in which language, and in a group, when."""

from __future__ import annotations

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence, said
from agent.languages.terms import fold
from channels.message import Button, ChatKind, Origin
from gateway.commands.context import Command, CommandContext, CommandError, CommandReply
from gateway.policy.access import Role
from gateway.store import chat_rows

_AUTO = "auto"
_IN_A_ROW = 3
_MODES = {"mention": "required", "required": "required", "always": "optional", "optional": "optional"}
"""In people's words, and in those of the configuration."""


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
    message, database = context.row.message, context.kernel.database
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


async def activation(context: CommandContext) -> str:
    message, access = context.row.message, context.kernel.access
    if message.kind is not ChatKind.GROUP:
        raise CommandError(Sentence("This is only for groups. In a private chat I always answer."))
    rule = access.rule(message)
    if rule is None:
        raise CommandError(Sentence("This group isn't listed in config.yaml."))
    word = context.argument.strip().lower()
    if not word:
        how = Sentence("`/activation mention`, `/activation always` or `/activation default` changes it.")
        return context.joined(_says(mention_required=rule.mention_required), how)
    if context.route.role is not Role.OWNER and message.sender.id not in rule.allow:
        raise CommandError(Sentence("Only my owner and the people on this group's list can change that."))
    if word != "default" and word not in _MODES:
        raise CommandError(Sentence("Use `/activation mention`, `/activation always` or `/activation default`."))
    await context.services.preferences.choose_activation(access.chat_of(message), _MODES.get(word))
    changed = access.rule(message)
    assert changed is not None
    return _says(mention_required=changed.mention_required)


def _says(*, mention_required: bool) -> Sentence:
    if mention_required:
        return Sentence("I answer here when I'm mentioned, replied to or given a command.")
    return Sentence("I answer every message here from people who may talk to me.")


COMMANDS = (
    Command("language", "[NAME|auto]", "in which language I speak here", language),
    Command("activation", "[mention|always|default]", "in a group: answer always, or only when mentioned", activation),
)
