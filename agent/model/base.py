"""The interface to a language model: requests, streamed events, and errors.

Messages and content blocks are the Messages API's own JSON, stored and sent unchanged, so that a transcript is exactly
what the model saw and signed thinking goes back as it came.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Block: TypeAlias = Mapping[str, Json]
"""One content block of the Messages API: text, thinking, redacted_thinking, tool_use, tool_result, image."""
THINKING = frozenset({"thinking", "redacted_thinking"})
"""Types of blocks that are signed over what stands before them."""
CUT, FULL, PAUSED, REFUSED = "max_tokens", "model_context_window_exceeded", "pause_turn", "refusal"
"""Stop reasons that are acted upon."""


def text_in(content: Iterable[Block]) -> str:
    """The text of some blocks."""
    return "".join(str(block.get("text") or "") for block in content if block.get("type") == "text")


@dataclass(frozen=True, slots=True)
class Message:
    """`role` is user or assistant."""

    role: str
    content: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it. `schema` is a JSON Schema of type object."""

    name: str
    description: str
    schema: Mapping[str, Json] = field(hash=False)


SILENT = frozenset({"flush", "compaction", "consolidation", "journal", "daily", "heartbeat"})
"""Purposes of calls that the program makes on its own account: nobody waits for what the model says to them."""


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call. `purpose` (chat, flush, compaction, journal…) and `session` go to the usage ledger, not to the server.

    system      the fixed part, in order; cached together with the tools
    cache       5m, 1h or off: how long the server is asked to keep the prefix
    aside       the last block is not part of what comes next, so the server is asked to keep what is before it
    is_current  False after something in it was forgotten: it is not sent any more (`StaleRequest`)
    """

    model: str
    system: tuple[str, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    max_tokens: int
    purpose: str = "chat"
    session: str = ""
    effort: str | None = None
    cache: str = "5m"
    aside: bool = False
    is_current: Callable[[], bool] = field(default=_always, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the server counted them; what it leaves out is 0."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def context(self) -> int:
        """Size of the conversation after the call."""
        return self.input + self.cache_read + self.cache_write + self.output


@dataclass(frozen=True, slots=True)
class Started:
    """The server has begun to answer and has counted the input: the cost of a call that breaks off. Removed by
    `MeteredModel`; others may ignore it."""

    usage: Usage
    model: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """The model has begun to write a tool call (its input is not known yet)."""

    name: str


@dataclass(frozen=True, slots=True)
class Restarted:
    """What streamed so far is void: the call is repeated after `wait` seconds, for `why` (a sentence for the person).
    `model` answers now."""

    why: str
    wait: float
    model: str


@dataclass(frozen=True, slots=True)
class Completed:
    """The whole answer. `stop_reason` is the API's: end_turn, tool_use, max_tokens, pause_turn, refusal,
    model_context_window_exceeded, stop_sequence, or an unknown one.

    invalid     tool_use id -> the model's input where that was not JSON; the block's input is {}
    """

    content: tuple[Block, ...]
    stop_reason: str
    usage: Usage
    model: str
    invalid: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Its text."""
        return text_in(self.content)


ModelEvent = Started | TextDelta | ToolCallStarted | Restarted | Completed


class ModelError(Exception):
    """A model call failed. The text is a sentence for the person without secrets."""


class TryLater(ModelError):
    """Overloaded, rate-limited, unreachable or cut off: the same request may succeed later.

    retry_after     the server's own delay in seconds, or None
    overloaded      the model itself is overloaded or down, so that another model may answer
    """

    def __init__(self, message: str, *, retry_after: float | None = None, overloaded: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.overloaded = overloaded


class AccessDenied(ModelError):
    """The key is missing, wrong, or has no right or no credit: only the operator can help."""


class StaleRequest(ModelError):
    """The request was not sent (again): something in it was forgotten. Build it again."""

    def __init__(self) -> None:
        super().__init__("Words of the talk were forgotten while it was read.")


class InvalidRequest(ModelError):
    """The server will never take this request. `at`: the message and the block that the server names as the reason,
    from 0; None where it names none."""

    def __init__(self, message: str, *, at: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.at = at


class ContextOverflow(InvalidRequest):
    """The request is larger than the model's window, which is `window` tokens where the server says so."""

    def __init__(self, message: str, *, window: int | None = None) -> None:
        super().__init__(message)
        self.window = window


class AnswerTooLong(InvalidRequest):
    """A longer answer was asked for than the model's limit: `most` tokens."""

    def __init__(self, message: str, *, most: int) -> None:
        super().__init__(message)
        self.most = most


class ModelNotFound(InvalidRequest):
    """The server does not know a model of this name."""


class ThinkingRejected(InvalidRequest):
    """A thinking block does not fit what is before it (or came from another model). The same request without thinking
    may succeed."""


class Model(Protocol):
    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Asks once. Ends with exactly one `Completed`, or raises `ModelError`. Closing the iterator ends the call."""

    async def context_window(self, model: str) -> int | None:
        """Tokens of a request and its answer, or None where the server does not say. Never raises."""

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """One model call for the ledger. `cost` in USD, None where the model's price is not known."""

    model: str
    purpose: str
    session: str
    usage: Usage
    cost: float | None


class CallLedger(Protocol):
    def record(self, entry: UsageRecord) -> None:
        """Notes a finished or broken-off call. Does not block and does not raise."""


def result_block(call_id: str, text: str, *, error: bool = False) -> Block:
    block: dict[str, Json] = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return block | {"is_error": True} if error else block
