"""Commands of `daybook` that are made of the declarations of operations (`gateway.operations`)."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args, get_origin

import click
from pydantic.fields import FieldInfo

from agent.languages.sentences import translated
from agent.model.base import Json
from gateway.operations import Argument, BadParameters, Operation, OperationGroup, Parameters, Shown, operation_of
from gateway.rpc.protocol import Params
from gateway.terminal.context import CliContext, print_json
from gateway.terminal.rpc import Call, RpcAnswer, ask_beside
from gateway.terminal.table import print_table

Show: TypeAlias = Callable[[CliContext, RpcAnswer], None]
JSON = click.Option(["--json", "as_json"], is_flag=True, help="One JSON document.")
YES = click.Option(["--yes"], is_flag=True, help="Don't ask.")


def group_of(
    name: str, help: str, groups: Sequence[type[OperationGroup]], others: Sequence[click.Command] = ()
) -> click.Group:
    """A group of commands: one for each operation that says how it is shown, and others."""
    shown = (operation for group in groups for operation in group.operations() if operation.shown is not None)
    commands = [*(command_of(operation.method) for operation in shown), *others]
    return click.Group(name, {command.name or "": command for command in commands}, help=help)


def command_of(
    method: Callable[..., Awaitable[Json]],
    show: Show | None = None,
    beside: Callable[[CliContext, Params, Call], Coroutine[object, object, None]] | None = None,
    fails: Callable[[RpcAnswer], bool] = lambda answer: False,
    *,
    name: str = "",
    help: str = "",
    fixed: Params = MappingProxyType({}),
) -> click.Command:
    """The command of an operation. `show` prints its result for people, where `Operation.shown` is not enough;
    `beside`: what is done until it ends; `fails` says of which results the command exits with 1; `fixed`: parameters
    that are not typed, where an operation has several commands, each with its `name` and `help`."""
    operation = operation_of(method)

    def call(as_json: bool, **given: Any) -> None:
        context: CliContext = click.get_current_context().obj
        asked = {**fixed, **{name: _sent(value) for name, value in given.items()}}
        if "for_people" in operation.parameters.model_fields:
            asked["for_people"] = not as_json
        try:
            operation.parameters.read(asked)
        except BadParameters as error:
            raise click.UsageError(context.said_of(error)) from error
        answer = ask_beside(context, operation.name, asked, beside and partial(beside, context, asked))
        if as_json:
            print_json(answer.value)
        else:
            (show or partial(_show, operation.shown or ""))(context, answer)
        if fails(answer):
            sys.exit(1)

    params = [*options_of(operation.parameters), JSON]
    return click.Command(name or _word(operation), callback=call, params=params, help=help or operation.help)


def command_from(
    method: Callable[..., Awaitable[Json]], run: Callable[..., None], *options: click.Option
) -> click.Command:
    """The command of an operation that does more than ask and show: `run` takes the context, and by name what was
    typed, also for `options`."""
    operation = operation_of(method)
    params = [*options_of(operation.parameters), *options]
    return click.Command(_word(operation), callback=click.pass_obj(run), params=params, help=operation.help)


def _word(operation: Operation) -> str:
    return operation.name.rpartition(".")[2]


def _sent(value: Any) -> Json:
    """What was typed, as it is sent: the gateway may run in another folder."""
    if isinstance(value, Path):
        return str(value.expanduser().absolute())
    return " ".join(value) if isinstance(value, tuple) else value


def options_of(parameters: type[Parameters]) -> Iterator[click.Parameter]:
    """The arguments and options for parameters that are not for programs alone."""
    for name, field in parameters.model_fields.items():
        argument = next((mark for mark in field.metadata if isinstance(mark, Argument)), None)
        if argument is not None:
            is_required = field.is_required() and not argument.many
            kind = click.Path(path_type=Path) if field.annotation is Path else None
            count = -1 if argument.many else 1
            yield click.Argument([name], type=kind, metavar=argument.metavar, nargs=count, required=is_required)
        elif field.description is not None:
            yield _option(f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}", field)


def _option(flag: str, field: FieldInfo) -> click.Option:
    if field.annotation is bool:
        return click.Option([flag], is_flag=True, help=field.description)
    kind: click.ParamType[Any] | None = None
    if get_origin(field.annotation) is Literal:
        kind = click.Choice(get_args(field.annotation))
    elif field.annotation is int:
        kind = click.IntRange(min=1)  # no operation takes less
    metavar = "YYYY-MM-DD" if date in get_args(field.annotation) else None
    # None would be a default, too
    default: dict[str, Any] = {} if field.is_required() else {"default": field.default or None}
    help = field.description or None
    return click.Option(
        [flag], type=kind, required=field.is_required(), show_default=True, metavar=metavar, help=help, **default
    )


def _show(shown: Shown, context: CliContext, answer: RpcAnswer) -> None:
    if isinstance(shown, str):
        return click.echo(answer.fields.get(shown, ""))
    lines = [[translated(context.language, cell) for cell in shown.cells(row, answer.reader)] for row in answer.rows]
    return print_table(context.heads(*shown.columns), lines, context.said_of(shown.empty))
