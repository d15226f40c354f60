"""What a neighbouring process may ask of the gateway, by name: JSON in, JSON out. The CLI asks the running gateway over
its socket, or builds one and asks it directly; these are the same functions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from time import monotonic

from agent.agent import Agent
from agent.clock import Clock, utc_stamp
from agent.memory.embedding.encoder import NoEmbedding
from agent.memory.index.audience import Status
from agent.memory.index.database import NotStored
from agent.memory.reach import FileError
from agent.memory.scope import Audience, Scope
from agent.memory.search import Hit
from agent.model.base import Json
from agent.session.archive import SessionInfo
from agent.skills import Skill
from channels.message import Health
from channels.terminal import NAME as TERMINAL
from gateway.access import NoSuchCode, Role
from gateway.agent_named import named_agent
from gateway.commands import House
from gateway.config import Config
from gateway.control import Operation, OperationError
from gateway.health import channel_status
from gateway.memory_operations import HistoryOperations
from gateway.memory_test import tested
from gateway.schedule.book import OPERATOR
from gateway.schedule.schedule import Schedule
from gateway.schedule_operations import ScheduleOperations, jobs_json
from gateway.skill_rows import skill_row

PLATFORMS = ("telegram", "discord", "web")
"""Always in `status`: off where not configured."""

_EMBED_FOR = 1.0
"""Seconds after which embedding can be cancelled."""
_SEARCH_WAITS = 30.0
"""Seconds for which a search that a person asked for waits until all files are indexed."""
_NEXT_JOBS = 20
"""So many stand in `status`."""

Parameters = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class _Progress:
    of_what: str
    done: int
    of: int


class Operations:
    def __init__(self, house: House, config: Config) -> None:
        self._house = house
        self._config = config
        self._indexing: dict[tuple[str, str], _Progress] = {}

    def table(self) -> Mapping[str, Operation]:
        return {
            "status": self.status,
            "pair.list": self.pair_list,
            "pair.approve": self.pair_approve,
            "pair.revoke": self.pair_revoke,
            "sessions.list": self.sessions_list,
            "sessions.show": self.sessions_show,
            "sessions.export": self.sessions_export,
            "sessions.prune": self.sessions_prune,
            "memory.search": self.memory_search,
            "memory.status": self.memory_status,
            "memory.index": self.memory_index,
            "memory.progress": self.memory_progress,
            "memory.test": self.memory_test,
            "chat.outcome": self.chat_outcome,
            "skills.list": self.skills_list,
            "skills.show": self.skills_show,
            "usage": self.usage,
        }

    async def status(self, _: Parameters) -> Json:
        house = self._house
        channels: dict[str, Json] = {name: {"state": str(Health.OFF), "last_error": ""} for name in PLATFORMS}
        for source in house.sources:
            known = channel_status(source)
            channels[source.source.name] = {"state": str(known.state), "last_error": known.last_error}
        inbox, outbox = await house.inbox.counts(), await house.outbox.counts()
        today = await house.ledger.sums(1)
        sessions = [info for _, agent in house.agents.items() for info in await agent.sessions()]
        return {
            "channels": channels,
            "sessions": len(sessions),
            "running": house.turns.lanes.busy,
            "inbox": {"waiting": inbox.waiting, "oldest": inbox.oldest, "unreadable": inbox.unreadable},
            "outbox": {
                "waiting": outbox.waiting,
                "oldest": outbox.oldest,
                "failed": outbox.failed,
                "repeated": outbox.repeated,
            },
            "jobs": jobs_json(await house.book.rows(OPERATOR), _NEXT_JOBS),
            "usage": {
                "day": house.clock.today().isoformat(),
                "calls": sum(one.calls for one in today),
                "input": sum(one.input for one in today),
                "output": sum(one.output for one in today),
                "cache_read": sum(one.cache_read for one in today),
                "cache_write": sum(one.cache_write for one in today),
                "cost_usd": round(sum(one.cost for one in today), 6),
            },
        }

    async def chat_outcome(self, parameters: Parameters) -> Json:
        """What became of something said in the terminal: `{done, outcome, turn}`."""
        known = await self._house.inbox.fate(TERMINAL, "", _text(parameters, "id"))
        return {"done": known.done, "outcome": known.outcome, "turn": known.turn}

    # pairing ---------------------------------------------------------------------------------------------------

    async def pair_list(self, _: Parameters) -> Json:
        access = self._house.access
        waiting: list[Json] = [
            {
                "code": one.code,
                "channel": one.channel,
                "user_id": one.user_id,
                "name": one.name,
                "expires": one.expires_at,
                "state": "waiting",
            }
            for one in access.requests()
        ]
        known: list[Json] = [
            {
                "code": "",
                "channel": one.channel,
                "user_id": one.user_id,
                "name": one.name,
                "expires": "",
                "state": one.role,
            }
            for one in access.approvals()
        ]
        return waiting + known

    async def pair_approve(self, parameters: Parameters) -> Json:
        code = _text(parameters, "code")
        try:
            person = await self._house.pairing.approve(code)
        except NoSuchCode as error:
            raise OperationError(
                f"no open request has the code {code}; codes are good for one hour (`daybook pair list` shows them)"
            ) from error
        account = f"{person.channel}:{person.user_id}"
        owner = person.role == Role.OWNER
        said = f"{person.name} ({account}) is approved"
        return {
            "id": account,
            "name": person.name,
            "role": person.role,
            "message": f"{said} and is the owner now: the first one approved becomes it." if owner else f"{said}.",
        }

    async def pair_revoke(self, parameters: Parameters) -> Json:
        account = _text(parameters, "id")
        if not await self._house.pairing.revoke(account):
            raise OperationError(f"{account} is not among the approved (`daybook pair list` shows them)")
        return {"id": account, "message": f"{account} may no longer talk to me."}

    # sessions --------------------------------------------------------------------------------------------------

    async def sessions_list(self, _: Parameters) -> Json:
        infos = [info for agent in self._house.agents.values() for info in await agent.sessions()]
        return [_session_json(info) for info in sorted(infos, key=lambda info: info.last, reverse=True)]

    async def sessions_show(self, parameters: Parameters) -> Json:
        agent, info = await self._find(_text(parameters, "id"))
        return {**_session_json(info), "text": await agent.export(info.key, info.id)}

    async def sessions_export(self, parameters: Parameters) -> Json:
        return await self.sessions_show(parameters)

    async def sessions_prune(self, parameters: Parameters) -> Json:
        days = parameters.get("days")
        if not isinstance(days, int) or days < 1:
            raise OperationError("days must be a whole number of at least 1")
        before = self._house.clock.now() - timedelta(days=days)
        removed = [one for agent in self._house.agents.values() for one in await agent.prune(before)]
        return {"removed": [info.id for info in removed]}

    async def _find(self, session: str) -> tuple[Agent, SessionInfo]:
        """By its id, its key, or the path that a search gives."""
        session = session.removeprefix("sessions/").removesuffix(".jsonl")
        for agent in self._house.agents.values():
            for info in await agent.sessions():
                if session in (info.id, str(info.key)):
                    return agent, info
        raise OperationError(f"there is no session {session} (`daybook sessions list` shows them)")

    # memory ----------------------------------------------------------------------------------------------------

    async def memory_search(self, parameters: Parameters) -> Json:
        """`{query, scope?, agent?, n?, now?, explain?}`: a list of `{path, start_line, end_line, date, score, text}`;
        with `now` as of that day: nothing of later days (what bears no day counts always);
        with `explain` `{hits, gaps}`, each hit with the `parts` of its score and whether it is `context`: found for
        what stands around it."""
        agent, scope = self._asked_of(parameters)
        number = parameters.get("n")
        clock, until = self._house.clock, None
        if day := parameters.get("now"):
            clock = _clock_of(str(day), clock)
            until = clock.today()
        most = number if isinstance(number, int) and number > 0 else self._config.memory.search.max_results
        query = _text(parameters, "query")
        await asyncio.to_thread(agent.index.refresh, scope, clock, monotonic() + _SEARCH_WAITS)
        found = await asyncio.to_thread(agent.index.search, scope, clock, [query], until=until, most=most)
        if parameters.get("explain") is not True:
            return [_hit_json(hit) for hit in found.hits]
        explained: list[Json] = [
            {**_hit_json(hit), "parts": dict(hit.parts), "context": hit.is_context} for hit in found.hits
        ]
        return {"hits": explained, "gaps": list(found.gaps)}

    async def memory_status(self, parameters: Parameters) -> Json:
        """`{scope?, agent?}`: `{scope, file, files, passages, bytes, stale, problems, in_memory, embedded}`."""
        agent, scope = self._asked_of(parameters)
        return _status_json(scope, await asyncio.to_thread(agent.index.status, scope))

    async def memory_index(self, parameters: Parameters) -> Json:
        """`{scope?, agent?, force?}`: indexes what changed, with `force` everything anew; then as `memory.status`."""
        agent, scope = self._asked_of(parameters)
        work = agent.index.rebuild if parameters.get("force") is True else agent.index.refresh
        place = (agent.settings.name, scope.name)

        def progress(done: int, of: int) -> None:
            self._indexing[place] = _Progress("files", done, of)

        def embedded(count: int) -> None:
            known = self._indexing[place]
            self._indexing[place] = _Progress(known.of_what, known.done + count, known.of)

        try:
            await asyncio.to_thread(work, scope, self._house.clock, progress=progress)
            missing = await asyncio.to_thread(agent.index.unembedded_count, scope)
            self._indexing[place] = _Progress("texts", 0, missing)
            while await asyncio.to_thread(agent.index.embed, _EMBED_FOR, embedded):
                pass
        except NotStored as error:
            raise OperationError(f"{error.strerror}; the index is as it was") from error
        except NoEmbedding as problem:
            raise OperationError(f"all is indexed by its words, but not embedded: {problem}") from problem
        finally:
            self._indexing.pop(place, None)
        return await self.memory_status(parameters)

    async def memory_progress(self, parameters: Parameters) -> Json:
        """`{scope?, agent?}`: `{what, done, of}` of a `memory.index` that is running: its `files`, then the `texts`
        that are embedded; 0 of 0 where none is."""
        agent, scope = self._asked_of(parameters)
        known = self._indexing.get((agent.settings.name, scope.name), _Progress("files", 0, 0))
        return {"what": known.of_what, "done": known.done, "of": known.of}

    async def memory_test(self, parameters: Parameters) -> Json:
        """`{scope?, agent?}`: `{results, gaps, unread}`, each result `{question, words, line, passed, missing,
        where}`."""
        agent, scope = self._asked_of(parameters)
        try:
            report = await tested(agent, scope, self._house.clock)
        except FileError as error:
            raise OperationError(str(error)) from error
        results: list[Json] = [
            {
                "question": one.test.question,
                "words": list(one.test.words),
                "line": one.test.line,
                "passed": one.passed,
                "missing": list(one.missing),
                "where": one.where,
            }
            for one in report.results
        ]
        return {"results": results, "gaps": list(report.gaps), "unread": list(report.unread)}

    def _asked_of(self, parameters: Parameters) -> tuple[Agent, Scope]:
        agent = named_agent(self._house, parameters)
        return agent, self._scope(str(parameters.get("scope") or "owner"), agent)

    @staticmethod
    def _scope(name: str, agent: Agent) -> Scope:
        workspace = agent.workspace
        audience, _, rest = name.partition(":")
        try:
            match audience:
                case "owner" if not rest:
                    return Scope(Audience.OWNER, workspace)
                case "person":
                    return Scope(Audience.PERSON, workspace, rest)
                case "group":
                    return Scope(Audience.GROUP, workspace, rest.replace(":", "-"))
        except ValueError:
            pass
        raise OperationError(f"{name!r} is no scope; write owner, person:ID or group:CHANNEL:CHAT")

    # skills ----------------------------------------------------------------------------------------------------

    async def skills_list(self, parameters: Parameters) -> Json:
        return [skill_row(skill) for skill in await self._skills(parameters)]

    async def skills_show(self, parameters: Parameters) -> Json:
        name = _text(parameters, "name")
        named = [skill for skill in await self._skills(parameters) if skill.name == name]
        if not named:
            raise OperationError(f"there is no skill {name} (`daybook skills list` shows them)")
        usable = next((skill for skill in named if not skill.problem), None)
        if usable is None:
            raise OperationError(f"the skill {name} {named[0].problem} ({named[0].path})")
        return {**skill_row(usable), "text": usable.body}

    async def _skills(self, parameters: Parameters) -> tuple[Skill, ...]:
        return await asyncio.to_thread(named_agent(self._house, parameters).skills.every)

    # usage -----------------------------------------------------------------------------------------------------

    async def usage(self, parameters: Parameters) -> Json:
        days = parameters.get("days")
        sums = await self._house.ledger.sums(days if isinstance(days, int) and days > 0 else 7)
        return [
            {
                "day": one.day,
                "purpose": one.purpose,
                "session": one.session,
                "model": one.model,
                "calls": one.calls,
                "input": one.input,
                "output": one.output,
                "cache_read": one.cache_read,
                "cache_write": one.cache_write,
                "cost_usd": round(one.cost, 6),
                "unpriced_calls": one.unpriced,
            }
            for one in sums
        ]


def all_operations(house: House, config: Config, schedule: Schedule) -> Mapping[str, Operation]:
    return {
        **Operations(house, config).table(),
        **HistoryOperations(house).table(),
        **ScheduleOperations(house.book, schedule).table(),
    }


def _hit_json(hit: Hit) -> dict[str, Json]:
    return {
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "date": hit.date.isoformat(),
        "score": hit.score,
        "text": hit.text,
    }


def _status_json(scope: Scope, status: Status) -> dict[str, Json]:
    return {
        "scope": scope.name,
        "file": status.file.name if status.file is not None else "",
        "files": status.files,
        "passages": status.passages,
        "bytes": status.bytes,
        "stale": status.stale,
        "problems": list(status.problems),
        "in_memory": status.in_memory,
        "embedded": status.embedded,
    }


def _clock_of(day: str, clock: Clock) -> Clock:
    """The clock as it stands at the end of another day."""
    try:
        moment = datetime.combine(date.fromisoformat(day), time(23, 59, 59), clock.zone)
    except ValueError as error:
        raise OperationError(f"{day!r} is no day; write YYYY-MM-DD") from error
    return Clock(clock.zone, lambda: moment)


def _session_json(info: SessionInfo) -> dict[str, Json]:
    return {
        "id": info.id,
        "key": str(info.key),
        "started": utc_stamp(info.started),
        "last": utc_stamp(info.last),
        "messages": info.messages,
    }


def _text(parameters: Parameters, name: str) -> str:
    value = parameters.get(name)
    if not isinstance(value, str) or not value.strip():
        raise OperationError(f"{name} is missing")
    return value.strip()
