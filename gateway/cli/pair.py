"""`daybook pair`: who may write to the bot."""

from __future__ import annotations

from gateway.handlers.people import PeopleOperations
from gateway.terminal.operations import group_of

pair_command = group_of("pair", "See and choose who can talk to Daybook.", [PeopleOperations])
