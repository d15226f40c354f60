"""The local socket: how other processes of this user reach a running gateway."""

from gateway.control.client import Connection, NotRunning, connect
from gateway.control.operation import Json, Operation, OperationError, Outcome, Params
from gateway.control.server import serve

__all__ = [
    "Connection",
    "Json",
    "NotRunning",
    "Operation",
    "OperationError",
    "Outcome",
    "Params",
    "connect",
    "serve",
]
