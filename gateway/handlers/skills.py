"""Skills: the operations behind `daybook skills`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from agent.model.base import Json
from agent.skills import Skill
from gateway.commands.context import Services
from gateway.handlers.parameters import named_agent, required
from gateway.rpc.protocol import Operation, OperationError, Params


class SkillOperations:
    def __init__(self, services: Services) -> None:
        self.services = services

    def table(self) -> Mapping[str, Operation]:
        return {"skills.list": self.list, "skills.show": self.show}

    async def list(self, parameters: Params) -> Json:
        return [_skill_json(skill) for skill in await self._skills(parameters)]

    async def show(self, parameters: Params) -> Json:
        name = required(parameters, "name")
        named = [skill for skill in await self._skills(parameters) if skill.name == name]
        if not named:
            raise OperationError(f"there is no skill {name} (`daybook skills list` shows them)")
        usable = next((skill for skill in named if not skill.problem), None)
        if usable is None:
            raise OperationError(f"the skill {name} {named[0].problem} ({named[0].path})")
        return {**_skill_json(usable), "text": usable.body}

    async def _skills(self, parameters: Params) -> tuple[Skill, ...]:
        return await asyncio.to_thread(named_agent(self.services, parameters).skills.every)


def _skill_json(skill: Skill) -> dict[str, Json]:
    return {
        "name": skill.name,
        "origin": str(skill.origin),
        "path": skill.path,
        "description": skill.description,
        "always": skill.always,
        "shared": skill.shared,
        "requires": {"bins": list(skill.bins), "env": list(skill.env)},
        "missing": list(skill.missing),
        "problem": skill.problem,
        "remarks": list(skill.remarks),
        "beside": list(skill.beside),
    }
