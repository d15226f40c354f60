"""Which agent an operation is about: the one that is named, else the one that answers where no route says otherwise."""

from __future__ import annotations

from agent.agent import Agent
from gateway.commands import House
from gateway.control import OperationError, Params


def named_agent(house: House, parameters: Params) -> Agent:
    """Of `{agent?}`. Raises `OperationError`."""
    name = parameters.get("agent") or house.default_agent
    try:
        return house.agents[str(name)]
    except KeyError as error:
        raise OperationError(f"there is no agent {name}; there are: {', '.join(house.agents)}") from error
