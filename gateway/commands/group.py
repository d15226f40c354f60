"""Commands for groups."""

from __future__ import annotations

from agent.languages.sentences import Sentence
from channels.message import ChatKind
from gateway.commands.context import Command, CommandContext, CommandError
from gateway.policy.access import Role

_MODES = {"mention": "required", "required": "required", "always": "optional", "optional": "optional"}
"""In people's words, and in those of the configuration."""


async def activation(context: CommandContext) -> str:
    message, access = context.row.message, context.services.access
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
    Command("activation", "[mention|always|default]", "in a group: answer always, or only when mentioned", activation),
)
