"""Operations: each is declared once, as a method of an `OperationGroup`. From that come the call by name with its
checked parameters (`gateway.rpc`, the page) and the command of `daybook` (`gateway.terminal.operations`)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Self, TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError, create_model
from pydantic_core import ErrorDetails

from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import Language
from agent.languages.sentences import Sentence, translated
from agent.model.base import Json
from gateway.rpc.protocol import OperationError, Params, RpcHandler
from gateway.spoken_time import spoken, spoken_day

MethodT = TypeVar("MethodT", bound=Callable[..., Awaitable[Json]])
Row: TypeAlias = Mapping[str, Json]


class BadParameters(OperationError):
    """The parameters are refused before anything is done."""


class Parameters(BaseModel):
    """The parameters of an operation, checked here and nowhere else. Those with a `description` are options of the
    command, those with an `Argument` its arguments; the others are for programs.

    Made of the method's own parameters, unless those are one model, for what is to be checked together. Of a name that
    Python keeps for itself, as `from_`, the last character is not written."""

    model_config = ConfigDict(frozen=True, defer_build=True, alias_generator=lambda name: name.removesuffix("_"))

    @classmethod
    def read(cls, given: Params) -> Self:
        """Reads parameters; null stands for the default. Raises `BadParameters`."""
        required = {name for name, field in cls.model_fields.items() if field.is_required()}
        try:
            return cls.model_validate(
                {name: value for name, value in given.items() if value is not None or name in required}
            )
        except ValidationError as error:
            raise BadParameters(_sentence(error.errors()[0])) from error


class _OwnParameters(Parameters):
    """Those of a method that takes them one by one."""


def _sentence(problem: ErrorDetails) -> str:
    name = ".".join(map(str, problem["loc"]))
    match problem["type"]:
        case "value_error":
            why = str(problem["ctx"]["error"])
            return why if why.endswith(".") else Sentence("{why}.", why=why)
        case "missing" | "string_type" | "string_too_short":
            return f"{name} is missing."
        case "literal_error" | "enum":
            choices = problem["ctx"]["expected"].replace("'", "")
            return Sentence("{value!r} is not one of {choices}.", value=problem["input"], choices=choices)
    return f"{name}: {problem['msg']}."


@dataclass(frozen=True, slots=True)
class Argument:
    """Makes a parameter an argument of the command. `metavar`: where its name does not say what to type; `many`: it is
    made of all words that follow."""

    metavar: str | None = None
    many: bool = False


def _day(value: object) -> object:
    try:
        return date.fromisoformat(str(value)) if value else None
    except ValueError as error:
        text = repr(str(value)[:40])
        raise ValueError(Sentence("{text} is not a date; write it as 2026-11-23.", text=text)) from error


Text: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Day: TypeAlias = Annotated[date | None, BeforeValidator(_day)]
Id: TypeAlias = Annotated[Text, Argument()]
Most: TypeAlias = Annotated[int, Field(ge=1, description="Show at most this many.")]


@dataclass(frozen=True, slots=True)
class ResultReader:
    """The person to whom a result is shown."""

    language: Language
    zone: ZoneInfo

    def said_of(self, text: object) -> str:
        """A text that may be translatable, in the reader's language."""
        return str(translated(self.language, text))

    def moment(self, stamp: object) -> str:
        """A moment of ISO 8601, or a day, as people say it; empty for none."""
        if not isinstance(stamp, str) or not stamp:
            return ""
        now = datetime.now(UTC)
        if len(stamp) == len("2026-11-22"):
            return self.said_of(spoken_day(date.fromisoformat(stamp), now.astimezone(self.zone).date()))
        return self.said_of(spoken(datetime.fromisoformat(stamp), now, self.zone))


Cell: TypeAlias = Callable[[Row, ResultReader], object]


def moment_cell(key: str) -> Cell:
    return lambda row, reader: reader.moment(row.get(key))


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Shows a list of objects. `columns`: by head, the key of what is shown of each, or what makes it."""

    columns: Mapping[Sentence, str | Cell]
    empty: Sentence

    def cells(self, row: Row, reader: ResultReader) -> list[object]:
        """The cells of a row; a text may be translatable."""
        return [row.get(cell) if isinstance(cell, str) else cell(row, reader) for cell in self.columns.values()]


Shown: TypeAlias = ResultTable | str
"""How the command line shows a result: as a table, or the text that it has under a key."""


@dataclass(frozen=True)
class Operation:
    name: str
    method: Callable[..., Awaitable[Json]]
    shown: Shown | None
    """None: the command line has no command for it, or makes one of its own."""
    on_page: bool
    """A person may do it on the page; what its views read is not asked for by name."""

    @property
    def help(self) -> str:
        return " ".join((self.method.__doc__ or "").partition("\n\n")[0].split())

    @cached_property
    def parameters(self) -> type[Parameters]:
        _, *taken = inspect.signature(self.method, eval_str=True).parameters.values()
        if len(taken) == 1 and isinstance(model := taken[0].annotation, type) and issubclass(model, Parameters):
            return model
        fields: dict[str, Any] = {
            known.name: (known.annotation, ... if known.default is known.empty else known.default) for known in taken
        }
        return create_model(self.name, __base__=_OwnParameters, **fields)

    def call(self, group: OperationGroup, given: Params) -> Awaitable[Json]:
        """Reads the parameters and does it. Raises `BadParameters`."""
        read = self.parameters.read(given)
        return self.method(group, **dict(read)) if isinstance(read, _OwnParameters) else self.method(group, read)


_DECLARED: dict[Callable[..., Awaitable[Json]], Operation] = {}


def operation(name: str, shown: Shown | None = None, *, on_page: bool = False) -> Callable[[MethodT], MethodT]:
    """Declares a method as the operation `name`; the first paragraph of its docstring is the help of its command."""

    def declare(method: MethodT) -> MethodT:
        _DECLARED[method] = Operation(name, method, shown, on_page)
        return method

    return declare


def operation_of(method: Callable[..., Awaitable[Json]]) -> Operation:
    return _DECLARED[method]


def is_on_page(name: str) -> bool:
    return any(operation.on_page for operation in _DECLARED.values() if operation.name == name)


class OperationGroup:
    refusals: ClassVar[tuple[type[Exception], ...]] = ()
    """Errors that say a sentence to the person, as an `OperationError` and a `StorageUnavailable` do."""

    @classmethod
    def operations(cls) -> Iterator[Operation]:
        return (
            _DECLARED[method] for method in vars(cls).values() if inspect.isfunction(method) and method in _DECLARED
        )

    def table(self) -> Mapping[str, RpcHandler]:
        """The operations by name, to be called with unchecked parameters."""
        return {operation.name: partial(self._call, operation) for operation in self.operations()}

    async def _call(self, operation: Operation, given: Params) -> Json:
        refused: tuple[type[Exception], ...] = (*self.refusals, StorageUnavailable)
        try:
            return await operation.call(self, given)
        except refused as refusal:
            raise OperationError(str(refusal)) from refusal
