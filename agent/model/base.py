"""The interface to a language model.

Messages and blocks are the Messages API's own JSON, stored and sent unchanged, so that a transcript is what the model
saw.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from agent.languages.codes import Language

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Block: TypeAlias = Mapping[str, Json]
"""One content block of the Messages API: text, thinking, redacted_thinking, tool_use, tool_result, image."""
THINKING = frozenset({"thinking", "redacted_thinking"})
"""Types of blocks that are signed over what stands before them."""
CUT, FULL, PAUSED, REFUSED = "max_tokens", "model_context_window_exceeded", "pause_turn", "refusal"
"""Stop reasons that are acted upon."""


def text_in(content: Iterable[Block]) -> str:
    return "".join(str(block.get("text") or "") for block in content if block.get("type") == "text")


@dataclass(frozen=True, slots=True)
class Message:
    role: str
    """User or assistant."""
    content: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    name: str
    description: str
    schema: Mapping[str, Json] = field(hash=False)
    """A JSON Schema of type object."""
    server: str = ""
    """The type of a tool that Anthropic's server runs itself."""


SILENT = frozenset({"flush", "compaction", "consolidation", "journal", "daily", "heartbeat"})
"""Purposes of calls that the program makes on its own account: nobody waits for what the model says to them."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """`purpose` (chat, flush, journal…) and `session` go to the usage ledger only."""

    model: str
    system: tuple[str, ...]
    """The fixed part, in order; cached together with the tools."""
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    max_tokens: int
    purpose: str = "chat"
    session: str = ""
    effort: str | None = None
    cache: str = "5m"
    """5m, 1h or off: how long the server is asked to keep the prefix."""
    aside: bool = False
    """The last block is not part of the next request, so the cache ends before it."""
    is_current: Callable[[], bool] = field(default=lambda: True, repr=False, compare=False)
    """False after something in it was forgotten: it is not sent any more (`StaleRequest`)."""
    language: Language = Language.ENGLISH
    """The chat's, for sentences of ours beside a text that tells none. No model is sent it."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call by the server; what it leaves out is 0."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    searches: int = 0
    """Of the web, by Anthropic's server, at a price of their own."""

    @property
    def context(self) -> int:
        return self.input + self.cache_read + self.cache_write + self.output


@dataclass(frozen=True, slots=True)
class Started:
    """The server has counted the input: the cost of a call that breaks off."""

    usage: Usage
    model: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The text of the answer so far was a thought, as its end shows: it is not shown any more and not kept."""


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    name: str


@dataclass(frozen=True, slots=True)
class Restarted:
    """What streamed is void: the call is repeated after `wait` seconds, for `why` (a sentence for the person), by
    `model`."""

    why: str
    wait: float
    model: str


@dataclass(frozen=True, slots=True)
class Completed:
    content: tuple[Block, ...]
    stop_reason: str
    """The API's, or an unknown one."""
    usage: Usage
    model: str
    invalid: Mapping[str, str] = field(default_factory=dict)
    """The id of a tool_use -> the model's input if that was not JSON; the block's input is {}."""

    @property
    def text(self) -> str:
        return text_in(self.content)


ModelEvent = Started | TextDelta | TakenBack | ToolCallStarted | Restarted | Completed


class ModelError(Exception):
    """One sentence for the person without secrets."""


class TryLater(ModelError):
    """Overloaded, rate-limited, unreachable or cut off.

    retry_after     the server's own delay in seconds, or None
    overloaded      another model may answer
    """

    def __init__(self, message: str, *, retry_after: float | None = None, overloaded: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.overloaded = overloaded


class NoContent(TryLater):
    """The server kept the connection busy for long and said nothing: it is not asked the same again."""


class AccessDenied(ModelError):
    """The key is missing, wrong, or has no right or credit: only the operator can help."""


class StaleRequest(ModelError):
    """Something in the request was forgotten: build it again."""

    def __init__(self) -> None:
        super().__init__("Words of the conversation were forgotten while it was read.")


class InvalidRequest(ModelError):
    """The server will never take this request. `at`: the message and block that it names, from 0."""

    def __init__(self, message: str, *, at: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.at = at


class ContextOverflow(InvalidRequest):
    """The request is larger than the model's window: `window` tokens if the server says."""

    def __init__(self, message: str, *, window: int | None = None) -> None:
        super().__init__(message)
        self.window = window


class AnswerTooLong(InvalidRequest):
    """The model's limit is `most` tokens."""

    def __init__(self, message: str, *, most: int) -> None:
        super().__init__(message)
        self.most = most


class ModelNotFound(InvalidRequest):
    pass


class ThinkingRejected(InvalidRequest):
    """A thinking block does not fit: the request may do without thinking."""


class Warmable(Protocol):
    async def warm_up(self) -> None:
        """Imports and builds ahead of the first call."""


class Model(Protocol):
    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Asks once; ends with one `Completed`. Raises `ModelError`. Closing it ends the call."""

    async def context_window(self, model: str) -> int | None:
        """Tokens of a request and its answer, if known. Never raises."""

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """`cost` in USD, None if the price is not known."""

    model: str
    purpose: str
    session: str
    usage: Usage
    cost: float | None


class CallLedger(Protocol):
    def record(self, entry: UsageRecord) -> None:
        """Does not block and does not raise."""


OTHER_THINKING = "chat-completions:"
"""Begins the signature of thinking that no Messages API made; what follows names the field that it came in."""


def without_blocks(messages: Sequence[Message], is_dropped: Callable[[Block], bool]) -> tuple[Message, ...]:
    """Messages of dropped blocks only are dropped; neighbours of one role become one."""
    kept: list[Message] = []
    for message in messages:
        content = tuple(block for block in message.content if not is_dropped(block))
        if not content:
            continue
        if kept and kept[-1].role == message.role:
            kept[-1] = Message(message.role, kept[-1].content + content)
        else:
            kept.append(Message(message.role, content))
    return tuple(kept)


def is_other_thinking(block: Block) -> bool:
    return block.get("type") == "thinking" and str(block.get("signature")).startswith(OTHER_THINKING)


def split_provider(name: str, providers: Container[str]) -> tuple[str, str]:
    """The provider and the model of `openai:llama3.3`; no provider for another name, as `llama3.3:70b`."""
    provider, colon, model = name.partition(":")
    return (provider, model) if colon and model and provider in providers else ("", name)


def result_block(call_id: str, text: str, *, error: bool = False) -> Block:
    block: dict[str, Json] = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return block | {"is_error": True} if error else block
