"""The channels by name. Only the library of a used channel is imported."""

from __future__ import annotations

from importlib import import_module

CHANNELS = {
    "telegram": "channels.telegram.channel:TelegramChannel",
    "discord": "channels.discord.channel:DiscordChannel",
    "web": "channels.web.channel:WebChannel",
}
"""Name of a channel -> `module:class`."""


def load(name: str) -> type:
    """The class of a channel. Raises `KeyError`."""
    module, _, class_name = CHANNELS[name].partition(":")
    found: object = getattr(import_module(module), class_name)
    if not isinstance(found, type):
        raise TypeError(f"{CHANNELS[name]} is not a class")
    return found
