"""A model that delegates what a person tells it to, and works on it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from agent.model.base import Json, ModelError, ModelRequest
from agent.model.scripted import Call, ScriptedAnswer, ScriptedModel
from tests.gateway.conftest import Daybook, asked

TASK = "Compare the three flats"
Answer = ScriptedAnswer | Call | ModelError
_OVER = "A task that you have delegated is over"


class Aside:
    """Delegates the tasks after the word, parted by ` + `; answers each task with its `works`, and results with
    `results` and `others`, or by repeating them."""

    def __init__(self, daybook: Daybook) -> None:
        self.daybook = daybook
        self.works: dict[str, list[Answer]] = {}
        self.results: list[Answer] = []
        self.others: list[Answer] = []
        daybook.model = ScriptedModel(otherwise=self._answer)

    def requests_of(self, task: str) -> list[ModelRequest]:
        return [one for one in self.daybook.model.requests if _is_at_work(one, task)]

    async def works_on(self, task: str) -> None:
        while not self.requests_of(task):  # noqa: ASYNC110  the model rings no bell
            await asyncio.sleep(0)

    def _answer(self, request: ModelRequest) -> Answer:
        said = asked(request)
        for task, answers in self.works.items():
            if _is_at_work(request, task):
                return answers.pop(0)
        if _OVER in said and self.results:
            return self.results.pop(0)
        if self.others:
            return self.others.pop(0)
        if _OVER in said:
            return ScriptedAnswer(f"It came to this: {result_in(said)}")
        if request.messages[-1].content[-1]["type"] == "tool_result":
            return ScriptedAnswer("I'm on it.")
        before, found, tasks = said.rpartition("delegate ")
        calls = (Call("delegate", _task(one)) for one in tasks.split(" + ")) if found and before else ()
        return ScriptedAnswer(calls=tuple(calls)) if found else ScriptedAnswer("Fine.")


def _task(text: str) -> Mapping[str, Json]:
    return {"task": text}


def _is_at_work(request: ModelRequest, task: str) -> bool:
    return "/tasks/" in request.session and task in str(request.messages[0].content)


def result_in(said: str) -> str:
    return said.partition("<daybook-document")[2].partition(">\n")[2].partition("\n</daybook-document>")[0]
