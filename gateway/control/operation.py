"""What can be asked of a gateway, over the socket or in the same process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from agent.model.base import Json

Params = Mapping[str, Json]
Operation = Callable[[Params], Awaitable[Json]]
"""Takes its parameters by name; raises `OperationError`, any other exception is a bug."""


class OperationError(Exception):
    """What was asked for failed. One sentence for the person, without secrets."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of something said.

    done    its turn has ended; `end` is then reply, silence, error, stopped…
    turn    names the turn: keys of the messages that it sent begin with it
    """

    done: bool
    end: str = ""
    turn: str = ""

    @classmethod
    def read(cls, value: Json) -> Outcome:
        """From the operation `chat.outcome {id}`: `{done, outcome, turn}`."""
        fields = value if isinstance(value, Mapping) else {}
        return cls(bool(fields.get("done")), str(fields.get("outcome") or ""), str(fields.get("turn") or ""))


__all__ = ["Json", "Operation", "OperationError", "Outcome", "Params"]
