"""Buttons and slash commands."""

from tests.fakes.discord.rest import Rest


class Interactions(Rest):
    pass
