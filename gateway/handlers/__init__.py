"""The operations that other processes can call by name (`gateway.rpc`)."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.commands.context import Services
from gateway.embedder.offer import EmbedderOffer
from gateway.handlers.agents import SessionOperations, SkillOperations
from gateway.handlers.files import FileOperations
from gateway.handlers.history import HistoryOperations
from gateway.handlers.memory import MemoryOperations
from gateway.handlers.people import PeopleOperations
from gateway.handlers.schedule import ScheduleOperations
from gateway.handlers.setup import SetupOperations
from gateway.handlers.status import StatusOperations, UsageOperations
from gateway.home import Home
from gateway.rpc.protocol import RpcHandler
from gateway.scheduling.service import ScheduleService


def all_operations(
    services: Services, schedule: ScheduleService, offer: EmbedderOffer, home: Home
) -> Mapping[str, RpcHandler]:
    kernel = services.kernel
    return {
        **StatusOperations(kernel, services.jobs, services.sources, services.turns).table(),
        **PeopleOperations(kernel, services.pairing, services.approvals).table(),
        **SessionOperations(kernel).table(),
        **MemoryOperations(kernel).table(),
        **HistoryOperations(kernel, services.redaction).table(),
        **FileOperations(kernel).table(),
        **ScheduleOperations(services.jobs, schedule).table(),
        **SkillOperations(kernel).table(),
        **UsageOperations(kernel).table(),
        **offer.table(),
        **SetupOperations(home, offer.operate, services.zone, kernel.clock).table(),
    }
