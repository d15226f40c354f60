"""`daybook schedule`: jobs and reminders."""

from __future__ import annotations

from gateway.handlers.schedule import ScheduleOperations
from gateway.terminal.operations import group_of

schedule_command = group_of("schedule", "List and change reminders and jobs.", [ScheduleOperations])
