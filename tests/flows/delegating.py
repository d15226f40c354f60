"""A model that delegates what it is asked for, as the strict server sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.fakes.anthropic import Answer, FakeAnthropic, compose

TASK = "Compare the three flats in flats.md and name the cheapest"
SIGN = f"⏳ Working on: {TASK}"
STARTED = "I'm on it."
RESULT = "Flat two is the cheapest, at 800 a month."
TOLD = f"Here it is: {RESULT}"
FLATS = "Flat one: 900\nFlat two: 800\nFlat three: 950\n"

Body = dict[str, Any]


def is_task(body: Body) -> bool:
    return "You have given yourself this task" in str(body["messages"][0])


def is_result(body: Body) -> bool:
    return "A task that you have delegated is over" in str(body["messages"][-1])


def goes_on(body: Body) -> bool:
    """The turn that has delegated, with the result of the call."""
    return not is_task(body) and "tool_result" in str(body["messages"][-1])


@dataclass
class Delegating:
    """Delegates `tasks` when asked for help; each task makes the calls `does`, one a step."""

    model: FakeAnthropic
    tasks: list[str] = field(default_factory=lambda: [TASK])
    does: list[tuple[str, dict[str, Any]]] = field(default_factory=lambda: [("read_file", {"path": "flats.md"})])

    def __post_init__(self) -> None:
        self.model.reply = self

    def __call__(self, body: Body) -> Answer | str:
        if is_task(body):
            done = sum(message["role"] == "assistant" for message in body["messages"])
            return compose(tool=self.does[done]) if done < len(self.does) else RESULT
        if is_result(body):
            assert RESULT in str(body["messages"][-1])
            return TOLD
        if goes_on(body):
            return STARTED
        wants = "help" in str(body["messages"][-1])
        return compose(tools=[("delegate", {"task": task}) for task in self.tasks]) if wants else "Fine."

    @property
    def steps(self) -> int:
        """The requests of tasks that were answered."""
        return sum(is_task(one.body) for one in self.model.requests)
