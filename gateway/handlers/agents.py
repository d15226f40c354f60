"""The sessions and skills of agents: the operations behind `daybook sessions` and `daybook skills`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from datetime import timedelta

from agent.agent import Agent
from agent.clock import utc_stamp
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from agent.model.base import Json
from agent.session.archive import SessionInfo, SessionInUse, titled
from agent.skills import Skill
from agent.values import SessionKey
from gateway.commands.context import Services
from gateway.kernel import Kernel
from gateway.rpc.protocol import Operation, OperationError, Params, required
from gateway.store import inbox_rows
from gateway.turns.user_message import user_message_id

_IN_USE = Sentence("That is the present conversation. Begin a new one first, then this one can be archived.")
_OVER = Sentence(
    "That message is not in the present conversation any more, so it can't be changed. Send it as a new one."
)
_WENT_ON = Sentence(
    "Since then the conversation went on in another chat, so that message can't be changed. Send it as a new one."
)


def named_agent(services: Services | Kernel, parameters: Params) -> Agent:
    """The agent of `{agent?}`, else the default one. Raises `OperationError`."""
    name = parameters.get("agent") or services.default_agent
    try:
        return services.agents[str(name)]
    except KeyError as error:
        raise OperationError(
            Sentence("There is no agent {name}. You have: {agents}.", name=name, agents=", ".join(services.agents))
        ) from error


def no_scope(name: object) -> Sentence:
    return Sentence("{text} is not one of `owner`, `person:ID` and `group:CHANNEL:CHAT`.", text=repr(name))


class SessionOperations:
    def __init__(self, services: Services) -> None:
        self.services = services

    def table(self) -> Mapping[str, Operation]:
        return {
            "sessions.list": self.list,
            "sessions.show": self.show,
            "sessions.export": self.show,
            "sessions.prune": self.prune,
            "sessions.rename": self.rename,
            "sessions.archive": self.archive,
            "sessions.replaceable": self.replaceable,
        }

    async def list(self, _: Params) -> Json:
        infos = [info for agent in self.services.agents.values() for info in await agent.sessions()]
        return [_session_json(info) for info in sorted(infos, key=lambda info: info.last, reverse=True)]

    async def show(self, parameters: Params) -> Json:
        agent, info = await self._find(required(parameters, "id"))
        return {**_session_json(info), "text": await agent.export(info.key, info.id)}

    async def rename(self, parameters: Params) -> Json:
        """`{id, title}`: an empty title takes a given title back."""
        agent, info = await self._find(required(parameters, "id"))
        title = parameters.get("title")
        if not isinstance(title, str):
            raise OperationError("title is missing.")
        await _or_operation_error(agent.rename(info.key, info.id, title))
        return _session_json(await agent.find(info.id, info.key))

    async def archive(self, parameters: Params) -> Json:
        """`{id, archived}`."""
        agent, info = await self._find(required(parameters, "id"))
        archived = parameters.get("archived") is not False
        await _or_operation_error(agent.put_away(info.key, info.id, archived=archived))
        return _session_json(await agent.find(info.id, info.key))

    async def prune(self, parameters: Params) -> Json:
        days = parameters.get("days")
        if not isinstance(days, int) or days < 1:
            raise OperationError("days must be a whole number of at least 1.")
        before = self.services.clock.now() - timedelta(days=days)
        removed = [info for agent in self.services.agents.values() for info in await agent.prune(before)]
        return {"removed": [info.id for info in removed]}

    async def replaceable(self, parameters: Params) -> Json:
        """Checks that the conversation can go on from before a message. Raises `OperationError` with the reason."""
        channel, message = required(parameters, "channel"), required(parameters, "message")
        row = await self.services.database.run(inbox_rows.find, channel, message)
        if row is None:
            raise OperationError(_OVER)
        agent, _, path = row.session.partition("/")
        since = await self.services.agents[agent].said_since(SessionKey(agent, path), user_message_id(row.message))
        if not since and (await self.services.inbox.fate(channel, row.message.address.account, message)).done:
            raise OperationError(_OVER)
        if not all(id.startswith(f"{channel}:") for id in since):
            raise OperationError(_WENT_ON)
        return {"ok": True}

    async def _find(self, session: str) -> tuple[Agent, SessionInfo]:
        """The session of an id, a key, the path that a search shows, or a title."""
        session = session.removeprefix("sessions/").removesuffix(".jsonl")
        known = {name: await agent.sessions() for name, agent in self.services.agents.items()}
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
        return self.services.agents[named[0].key.agent], named[0]


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


class SkillOperations:
    def __init__(self, services: Services) -> None:
        self.services = services

    def table(self) -> Mapping[str, Operation]:
        return {"skills.list": self.list, "skills.show": self.show, "skills.approve": self.approve}

    async def list(self, parameters: Params) -> Json:
        return [_skill_json(skill) for skill in await self._skills(parameters)]

    async def show(self, parameters: Params) -> Json:
        name = required(parameters, "name")
        named = [skill for skill in await self._skills(parameters) if skill.name == name]
        if not named:
            raise OperationError(Sentence("There is no skill {name}. `daybook skills list` lists them.", name=name))
        usable = next((skill for skill in named if not skill.problem), None)
        if usable is None:
            problem, path = named[0].problem, named[0].path
            raise OperationError(
                Sentence("The skill {name} {problem} ({path}).", name=name, problem=problem, path=path)
            )
        return {**_skill_json(usable), "text": usable.body}

    async def approve(self, parameters: Params) -> Json:
        """Stores the owner's yes to a skill's present text."""
        name, sha = required(parameters, "name"), required(parameters, "sha")
        skill = next(
            (known for known in await self._skills(parameters) if known.name == name and known.sha == sha), None
        )
        if skill is None:
            raise OperationError(
                Sentence("There is no skill {name} with that text. `daybook skills show {name}` shows it.", name=name)
            )
        consents = named_agent(self.services, parameters).consents
        await _or_operation_error(asyncio.to_thread(consents.approve_skill, sha))
        return {"message": Sentence("{name} is in force as its text is now.", name=name)}

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
        "waits": skill.waits,
        "sha": skill.sha,
        "requires": {"bins": list(skill.bins), "env": list(skill.env)},
        "missing": list(skill.missing),
        "problem": skill.problem,
        "remarks": list(skill.remarks),
        "beside": list(skill.beside),
    }
