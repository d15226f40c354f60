"""All operations, by name."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.commands import House
from gateway.control import Operation
from gateway.operations.history import HistoryOperations
from gateway.operations.memory import MemoryOperations
from gateway.operations.people import PeopleOperations
from gateway.operations.schedule import ScheduleOperations
from gateway.operations.sessions import SessionOperations
from gateway.operations.skills import SkillOperations
from gateway.operations.status import StatusOperations
from gateway.operations.usage import UsageOperations
from gateway.schedule.schedule import Schedule


def all_operations(house: House, schedule: Schedule) -> Mapping[str, Operation]:
    return {
        **StatusOperations(house).table(),
        **PeopleOperations(house).table(),
        **SessionOperations(house).table(),
        **MemoryOperations(house).table(),
        **HistoryOperations(house).table(),
        **ScheduleOperations(house.book, schedule).table(),
        **SkillOperations(house).table(),
        **UsageOperations(house).table(),
    }
