"""All operations, by name."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.commands.context import Services
from gateway.handlers.history import HistoryOperations
from gateway.handlers.memory import MemoryOperations
from gateway.handlers.people import PeopleOperations
from gateway.handlers.schedule import ScheduleOperations
from gateway.handlers.sessions import SessionOperations
from gateway.handlers.skills import SkillOperations
from gateway.handlers.status import StatusOperations, UsageOperations
from gateway.rpc.protocol import Operation
from gateway.scheduling.service import ScheduleService


def all_operations(services: Services, schedule: ScheduleService) -> Mapping[str, Operation]:
    return {
        **StatusOperations(services).table(),
        **PeopleOperations(services).table(),
        **SessionOperations(services).table(),
        **MemoryOperations(services).table(),
        **HistoryOperations(services).table(),
        **ScheduleOperations(services.book, schedule).table(),
        **SkillOperations(services).table(),
        **UsageOperations(services).table(),
    }
