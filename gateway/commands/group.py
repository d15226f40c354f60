"""Commands for groups."""

from __future__ import annotations

from channels.message import ChatKind
from gateway.commands.context import Command, CommandContext, CommandError
from gateway.policy.access import Role

_MODES = {"mention": "required", "required": "required", "always": "optional", "optional": "optional"}
"""In people's words, and in those of the configuration."""
_SAYS = {
    "required": "I answer here when I am called: by mention, reply or command.",
    "optional": "I answer everything that is written here by those who may talk to me.",
}


async def activation(ask: CommandContext) -> str:
    message, access = ask.row.message, ask.services.access
    if message.kind is not ChatKind.GROUP:
        raise CommandError("This is for groups; in private I always answer.")
    rule = access.rule(message)
    if rule is None:
        raise CommandError("This group is not listed in my configuration.")
    word = ask.words.strip().lower()
    if not word:
        now = _SAYS["required" if rule.mention_required else "optional"]
        return f"{now} `/activation mention`, `/activation always` or `/activation default` changes it."
    if ask.conversation.role is not Role.OWNER and message.sender.id not in rule.allow:
        raise CommandError("Only my owner, and who is on this group's list, can change that.")
    if word != "default" and word not in _MODES:
        raise CommandError("`/activation mention`, `/activation always` or `/activation default`.")
    await ask.services.choices.choose_activation(access.chat_of(message), _MODES.get(word))
    changed = access.rule(message)
    assert changed is not None
    return _SAYS["required" if changed.mention_required else "optional"]


COMMANDS = (
    Command("activation", "[mention|always|default]", "in a group: whether I must be called to answer", activation),
)
