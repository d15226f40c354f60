"""Parameters of operations, checked."""

from __future__ import annotations

from agent.agent import Agent
from gateway.commands.context import Services
from gateway.rpc.protocol import OperationError, Params


def named_agent(services: Services, parameters: Params) -> Agent:
    """The agent of `{agent?}`, else the default one. Raises `OperationError`."""
    name = parameters.get("agent") or services.default_agent
    try:
        return services.agents[str(name)]
    except KeyError as error:
        raise OperationError(f"there is no agent {name}; there are: {', '.join(services.agents)}") from error


def required(parameters: Params, name: str) -> str:
    """A text that must be there. Raises `OperationError`."""
    value = parameters.get(name)
    if not isinstance(value, str) or not value.strip():
        raise OperationError(f"{name} is missing")
    return value.strip()


def number(parameters: Params, name: str) -> int | None:
    """A number of at least 1; None where it is missing or no such number."""
    value = parameters.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
