"""An operation is declared once; what it is given is checked by its declaration."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, Self

import click
import pytest
from click.testing import CliRunner
from pydantic import AfterValidator, Field, model_validator

from agent.languages.sentences import Sentence
from agent.model.base import Json
from gateway.operations import Argument, Day, Id, Most, OperationGroup, Parameters, is_on_page, operation, operation_of
from gateway.rpc.protocol import OperationError
from gateway.terminal.operations import command_of


class TooSour(Exception):
    pass


def not_green(colour: str) -> str:
    if colour == "green":
        raise ValueError(Sentence("it is not ripe"))
    return colour


class Basket(Parameters):
    apples: int = 0
    pears: int = 0

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        if not self.apples + self.pears:
            raise ValueError(Sentence("Say how many apples or pears."))
        return self


class FruitOperations(OperationGroup):
    refusals = (TooSour,)

    @operation("fruit.pick", shown="message", on_page=True)
    async def pick(
        self,
        id: Id,
        kind: Literal["apple", "pear"] = "apple",
        colour: Annotated[str, AfterValidator(not_green), Field(description="Its colour.")] = "red",
        n: Most = 3,
        from_: Day = None,
    ) -> Json:
        """Pick fruit.

        More for programmers."""
        if id == "lemon":
            raise TooSour(Sentence("That is too sour."))
        return {"message": f"{n} {colour} {kind} {id} {from_ or date.min}"}

    @operation("fruit.fill")
    async def fill(self, basket: Basket) -> Json:
        return basket.apples + basket.pears

    @operation("fruit.rename")
    async def rename(self, name: Annotated[str, Argument("[NEW NAME]", many=True)], note: object) -> Json:
        return [name, note is None]

    @operation("fruit.prune")
    async def prune(self, days: Annotated[int, Field(ge=1, description="How many.")]) -> Json:
        return days


async def called(name: str, /, **given: Json) -> Json:
    return await FruitOperations().table()[name](given)


async def test_what_is_not_given_or_null_is_the_default() -> None:
    assert await called("fruit.pick", id=" a ") == {"message": "3 red apple a 0001-01-01"}
    given: dict[str, Json] = {"id": "a", "n": None, "from": "2026-11-23", "unknown": 1}
    assert await called("fruit.pick", **given) == {"message": "3 red apple a 2026-11-23"}
    assert await called("fruit.rename", name="", note=None) == ["", True]
    assert await called("fruit.fill", apples=2, pears=1) == 3


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "id is missing."),
        ({"id": " "}, "id is missing."),
        ({"id": None}, "id is missing."),
        ({"id": "a", "kind": "plum"}, "'plum' is not one of apple or pear."),
        ({"id": "a", "colour": "green"}, "it is not ripe."),
        ({"id": "a", "n": 0}, "n: Input should be greater than or equal to 1."),
        ({"id": "a", "from": "soon"}, "'soon' is not a date; write it as 2026-11-23."),
        ({"id": "lemon"}, "That is too sour."),
    ],
)
async def test_what_is_refused_is_a_sentence(given: dict[str, Json], why: str) -> None:
    with pytest.raises(OperationError) as refused:
        await called("fruit.pick", **given)
    assert str(refused.value) == why


async def test_parameters_that_belong_together_are_checked_together() -> None:
    with pytest.raises(OperationError, match="Say how many"):
        await called("fruit.fill")


def test_its_command_takes_what_people_may_type() -> None:
    command = command_of(FruitOperations.pick)
    assert (command.name, command.help) == ("pick", "Pick fruit.")
    assert [parameter.name for parameter in command.params] == ["id", "colour", "n", "as_json"]
    (name, _) = command_of(FruitOperations.rename).params
    assert isinstance(name, click.Argument) and (name.nargs, name.required) == (-1, False)


def test_an_option_without_a_default_must_be_typed() -> None:
    done = CliRunner().invoke(command_of(FruitOperations.prune), [])
    assert done.exit_code == 2 and "Missing option '--days'" in done.output


def test_the_page_may_call_what_is_marked() -> None:
    assert [operation.name for operation in FruitOperations.operations() if is_on_page(operation.name)] == [
        "fruit.pick"
    ]
    assert operation_of(FruitOperations.fill).shown is None
