"""The sessions and skills of agents: the operations behind `daybook sessions` and `daybook skills`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import Annotated, TypeAlias

from pydantic import Field

from agent.agent import Agent
from agent.clock import utc_stamp
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from agent.model.base import Json
from agent.session.archive import SessionInfo, SessionInUse, titled
from agent.skills import Skill, SkillOrigin
from agent.values import SessionKey
from gateway.kernel import Kernel
from gateway.operations import (
    Argument,
    Id,
    OperationGroup,
    ResultReader,
    ResultTable,
    Row,
    Text,
    operation,
)
from gateway.rpc.protocol import OperationError
from gateway.store import inbox_rows
from gateway.turns.user_message import user_message_id

_IN_USE = Sentence("That is the present conversation. Begin a new one first, then this one can be archived.")
_OVER = Sentence(
    "That message is not in the present conversation any more, so it can't be changed. Send it as a new one."
)
_WENT_ON = Sentence(
    "Since then the conversation went on in another chat, so that message can't be changed. Send it as a new one."
)


AgentName: TypeAlias = Annotated[str, Field(description="The agent's name; default: the main one.")]


def named_agent(kernel: Kernel, name: str) -> Agent:
    """The agent of that name, else the default one. Raises `OperationError`."""
    try:
        return kernel.agents[name or kernel.default_agent]
    except KeyError as error:
        raise OperationError(
            Sentence("There is no agent {name}. You have: {agents}.", name=name, agents=", ".join(kernel.agents))
        ) from error


SessionName: TypeAlias = Annotated[Text, Argument("ID|TITLE")]


class SessionOperations(OperationGroup):
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @operation("sessions.list")
    async def list(self) -> Json:
        """List conversations, latest first."""
        infos = [info for agent in self.kernel.agents.values() for info in await agent.sessions()]
        return [_session_json(info) for info in sorted(infos, key=lambda info: info.last, reverse=True)]

    @operation("sessions.show", shown="text")
    async def show(self, id: SessionName) -> Json:
        """Print a conversation as Markdown."""
        agent, info = await self._find(id)
        return {**_session_json(info), "text": await agent.export(info.key, info.id)}

    @operation("sessions.export")
    async def export(self, id: SessionName) -> Json:
        """Save a conversation as Markdown."""
        return await self.show(id)

    @operation("sessions.rename", on_page=True)
    async def rename(self, id: SessionName, title: Annotated[str, Argument("[NEW TITLE]", many=True)]) -> Json:
        """Give a conversation a title; without one, it is called by its first message again."""
        agent, info = await self._find(id)
        await _or_operation_error(agent.rename(info.key, info.id, title))
        return _session_json(await agent.find(info.id, info.key))

    @operation("sessions.archive", on_page=True)
    async def archive(self, id: SessionName, undo: Annotated[bool, Field(description="Take it back.")] = False) -> Json:
        """Put a conversation away: it is kept, and not listed."""
        agent, info = await self._find(id)
        await _or_operation_error(agent.put_away(info.key, info.id, archived=not undo))
        return _session_json(await agent.find(info.id, info.key))

    @operation("sessions.prune")
    async def prune(
        self, days: Annotated[int, Field(ge=1, description="Keep what was used within this many days.")]
    ) -> Json:
        """Delete ended conversations that were last used more than --days ago."""
        before = self.kernel.clock.now() - timedelta(days=days)
        removed = [info for agent in self.kernel.agents.values() for info in await agent.prune(before)]
        return {"removed": [info.id for info in removed]}

    @operation("sessions.replaceable")
    async def replaceable(self, channel: Text, message: Text) -> Json:
        """Checks that the conversation can go on from before a message. Raises `OperationError` with the reason."""
        row = await self.kernel.database.run(inbox_rows.find, channel, message)
        if row is None:
            raise OperationError(_OVER)
        agent, _, path = row.session.partition("/")
        since = await self.kernel.agents[agent].said_since(SessionKey(agent, path), user_message_id(row.message))
        if not since and (await self.kernel.inbox.fate(channel, row.message.address.account, message)).done:
            raise OperationError(_OVER)
        if not all(id.startswith(f"{channel}:") for id in since):
            raise OperationError(_WENT_ON)
        return {"ok": True}

    async def _find(self, session: str) -> tuple[Agent, SessionInfo]:
        """The session of an id, a key, the path that a search shows, or a title."""
        session = session.removeprefix("sessions/").removesuffix(".jsonl")
        known = {name: await agent.sessions() for name, agent in self.kernel.agents.items()}
        every = [info for infos in known.values() for info in infos]
        named = [info for info in every if session in (info.id, str(info.key))][:1] or titled(every, session)
        if len(named) > 1:
            raise OperationError(
                Sentence(
                    "{count} conversations are called {title}. Use the id of the one you mean.",
                    count=len(named),
                    title=session,
                )
            )
        if not named:
            raise OperationError(
                Sentence("There is no conversation {title}. `daybook sessions list` lists them.", title=session)
            )
        return self.kernel.agents[named[0].key.agent], named[0]


def _session_json(info: SessionInfo) -> dict[str, Json]:
    return {
        "id": info.id,
        "key": str(info.key),
        "started": utc_stamp(info.started),
        "last": utc_stamp(info.last),
        "messages": info.messages,
        "title": info.title,
        "archived": info.archived,
        "aside": info.key.is_aside,
    }


async def _or_operation_error(work: Awaitable[object]) -> None:
    try:
        await work
    except SessionInUse as error:
        raise OperationError(_IN_USE) from error
    except OSError as error:
        raise OperationError(Sentence("I can't save that: {why}.", why=system_says(error))) from error


def _origin(row: Row, _: ResultReader) -> object:
    return Sentence("built in") if row["origin"] == SkillOrigin.BUILT_IN else row["origin"]


def _readiness(row: Row, _: ResultReader) -> str:
    if row["problem"]:
        return Sentence("broken")
    if row["waits"]:
        return Sentence("waits for your yes")
    return Sentence("missing something") if row["missing"] else Sentence("ready")


_SKILLS = ResultTable(
    {
        Sentence("name"): "name",
        Sentence("from"): _origin,
        Sentence("state"): _readiness,
        Sentence("description"): "description",
    },
    Sentence("No skills yet."),
)


class SkillOperations(OperationGroup):
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @operation("skills.list", shown=_SKILLS)
    async def list(self, agent: AgentName = "") -> Json:
        """List all skills."""
        return [_skill_json(skill) for skill in await self._skills(agent)]

    @operation("skills.show", shown="text")
    async def show(self, name: Id, agent: AgentName = "") -> Json:
        """Print a skill's text."""
        named = [skill for skill in await self._skills(agent) if skill.name == name]
        if not named:
            raise OperationError(Sentence("There is no skill {name}. `daybook skills list` lists them.", name=name))
        usable = next((skill for skill in named if not skill.problem), None)
        if usable is None:
            problem, path = named[0].problem, named[0].path
            raise OperationError(
                Sentence("The skill {name} {problem} ({path}).", name=name, problem=problem, path=path)
            )
        return {**_skill_json(usable), "text": usable.body}

    @operation("skills.approve")
    async def approve(self, name: Id, sha: Text, agent: AgentName = "") -> Json:
        """Let a skill hold as a rule, as its text is now."""
        skills = await self._skills(agent)
        if not any((skill.name, skill.sha) == (name, sha) for skill in skills):
            raise OperationError(
                Sentence("There is no skill {name} with that text. `daybook skills show {name}` shows it.", name=name)
            )
        consents = named_agent(self.kernel, agent).consents
        await _or_operation_error(asyncio.to_thread(consents.approve_skill, sha))
        return {"message": Sentence("{name} is in force as its text is now.", name=name)}

    async def _skills(self, agent: str) -> tuple[Skill, ...]:
        return await asyncio.to_thread(named_agent(self.kernel, agent).skills.every)


def _skill_json(skill: Skill) -> dict[str, Json]:
    return {
        "name": skill.name,
        "origin": str(skill.origin),
        "path": skill.path,
        "description": skill.description,
        "always": skill.always,
        "shared": skill.shared,
        "waits": skill.waits,
        "sha": skill.sha,
        "requires": {"bins": list(skill.bins), "env": list(skill.env)},
        "missing": list(skill.missing),
        "problem": skill.problem,
        "remarks": list(skill.remarks),
        "beside": list(skill.beside),
    }
