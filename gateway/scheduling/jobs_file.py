"""`schedule.yaml`: read with the line of every mistake, and edited so that the rest remains as its owner wrote it.

Every value is read as text: YAML would make a number of `08:00`. An edit changes one job's lines and is read again
before it is written.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import yaml

from agent.formats.parsing import compose_yaml
from agent.languages.sentences import Sentence
from gateway.scheduling import job as job_
from gateway.scheduling.job import InvalidJob, Job

_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_NOTHING = frozenset({"", "~", "null"})
_EMPTY_LIST = re.compile(r"^jobs:[ \t]*+(?:\[\s*+\]|~|null)?+(?P<comment>[ \t]*+(?:#[^\r\n]*+)?+)\r?$", re.MULTILINE)


class InvalidJobsFile(ValueError):
    """The file is no list of jobs: one sentence per line, each with its line number."""


class NotEditable(Exception):
    """An edit would change more of the file than its job."""


@dataclass(frozen=True, slots=True)
class JobEntry:
    """A job and its lines, `first` to before `end`, from 0."""

    job: Job
    first: int
    end: int
    column: int
    """Where its keys begin."""
    lines: Mapping[str, int]
    """The line of each key."""
    brace: tuple[int, int] | None = None
    """Line and column of its closing `}`, if any."""


@dataclass(frozen=True, slots=True)
class JobProblem:
    """What is wrong with a job of the file. `line` is counted from 1."""

    line: int
    why: str
    id: str = ""
    """The job's id, if no other has it."""

    def __str__(self) -> str:
        return str(self.sentence)

    @property
    def sentence(self) -> Sentence:
        return Sentence("line {line}: {why}", line=self.line, why=self.why)


@dataclass(frozen=True, slots=True)
class JobsFileContent:
    entries: tuple[JobEntry, ...] = ()
    problems: tuple[JobProblem, ...] = ()

    @property
    def jobs(self) -> tuple[Job, ...]:
        return tuple(entry.job for entry in self.entries)


@lru_cache(maxsize=2)
def read(text: str) -> JobsFileContent:
    """The file's content, cached, for an edit reads each text twice. Raises `InvalidJobsFile` where it is no YAML, or
    no list of jobs."""
    try:
        root = compose_yaml(text, _Loader)
    except yaml.YAMLError as error:
        raise InvalidJobsFile(_syntax(error)) from error
    except ValueError as error:
        raise InvalidJobsFile(Sentence("it cannot be read: {why}", why=str(error))) from error
    items = _items(root)
    entries: list[JobEntry] = []
    problems: list[JobProblem] = []
    known: set[str] = set()
    for item in items:
        line = item.start_mark.line
        try:
            entry = _entry(item)
            if entry.job.id in known:
                raise InvalidJob(Sentence("the id {id} is taken by a job above", id=repr(entry.job.id)))
        except InvalidJob as error:
            problems.append(JobProblem(line + 1, str(error), _id_of(item)))
            continue
        known.add(entry.job.id)
        entries.append(entry)
    own = (dataclasses.replace(problem, id="") if problem.id in known else problem for problem in problems)
    return JobsFileContent(tuple(entries), tuple(own))


def with_job(text: str, job: Job) -> str:
    """The file with one more job. Raises `InvalidJobsFile`, `NotEditable`."""
    found = read(text)
    entries = found.entries
    block = _block(job, entries[-1].column - 2 if entries else 2)
    if entries:
        lines = text.splitlines(keepends=True)
        at = entries[-1].end
        before = "".join(lines[:at])
        edited = before + ("" if before.endswith("\n") else "\n") + block + "".join(lines[at:])
    elif match := _EMPTY_LIST.search(text):
        rest = text[match.end() :].removeprefix("\n")
        edited = f"{text[: match.start()]}jobs:{match['comment']}\n{block}{rest}"
    elif compose_yaml(text, _Loader) is None:
        edited = "\n".join([*text.splitlines(), "jobs:", block])
    else:
        raise NotEditable(
            Sentence("its jobs are written in one line; write each on lines of its own, beginning with `- id:`")
        )
    return _proved(edited, (*found.jobs, job))


def as_text(jobs: Iterable[Job]) -> str:
    return "".join(["jobs:\n", *(_block(job, 2) for job in jobs)])


def without_job(text: str, id: str) -> str:
    """The file without a job. Raises `KeyError`, `InvalidJobsFile`, `NotEditable`."""
    return without_jobs(text, {id})


def without_jobs(text: str, ids: Collection[str]) -> str:
    """The file without several jobs. Raises as `without_job`."""
    found = read(text)
    entries = {entry.job.id: entry for entry in found.entries}
    gone = [entries[id] for id in ids]
    lines = text.splitlines(keepends=True)
    for entry in sorted(gone, key=lambda entry: entry.first, reverse=True):
        del lines[entry.first : entry.end]
    left = tuple(job for job in found.jobs if job.id not in ids)
    edited = "".join(lines)
    if not left:
        edited = re.sub(
            r"^jobs:(?P<rest>[ \t]*(?:#[^\r\n]*)?\r?)$", r"jobs: []\g<rest>", edited, count=1, flags=re.MULTILINE
        )
    return _proved(edited, left)


def replaced(text: str, old: Job, new: Job) -> str:
    """The file with `new` for `old`, both of one id. Raises `KeyError`, `InvalidJobsFile`, and `NotEditable`, also
    where the job there differs from `old` in more than being paused."""
    found = read(text)
    entry = {entry.job.id: entry for entry in found.entries}[old.id]
    enabled = entry.job.enabled
    if entry.job != dataclasses.replace(old, enabled=enabled):
        raise NotEditable(Sentence("{id} was changed there meanwhile; look at it again first", id=old.id))
    new = dataclasses.replace(new, enabled=enabled)
    lines = text.splitlines(keepends=True)
    lines[entry.first : entry.end] = [_block(new, entry.column - 2)]
    return _proved("".join(lines), tuple(new if job.id == new.id else job for job in found.jobs))


def switched(text: str, id: str, *, enabled: bool) -> str:
    """The file with a job paused or resumed. Raises `KeyError`, `InvalidJobsFile`, `NotEditable`."""
    found = read(text)
    entry = {entry.job.id: entry for entry in found.entries}[id]
    lines = text.splitlines(keepends=True)
    word = "true" if enabled else "false"
    if "enabled" in entry.lines:
        at = entry.lines["enabled"]
        lines[at] = re.sub(r"(enabled['\"]?\s*:\s*)['\"]?\w+['\"]?", rf"\g<1>{word}", lines[at], count=1)
    elif entry.brace is not None:
        at, column = entry.brace
        lines[at] = f"{lines[at][:column]}, enabled: {word}{lines[at][column:]}"
    else:
        end = entry.end
        lines[end - 1] = lines[end - 1] if lines[end - 1].endswith("\n") else lines[end - 1] + "\n"
        lines.insert(end, f"{' ' * entry.column}enabled: {word}\n")
    changed = job_.read({**job_.written(entry.job), "enabled": word})
    return _proved("".join(lines), tuple(changed if job.id == id else job for job in found.jobs))


def _proved(text: str, jobs: tuple[Job, ...]) -> str:
    try:
        is_meant = read(text).jobs == jobs
    except InvalidJobsFile:
        is_meant = False
    if not is_meant:
        raise NotEditable(Sentence("it is written in a way that cannot be edited from here; please change it by hand"))
    return text


def _block(job: Job, indent: int) -> str:
    lines = []
    for key, value in job_.written(job).items():
        if isinstance(value, dict):
            inner = ", ".join(f"{name}: {_scalar(text)}" for name, text in value.items())
            lines.append(f"{key}: {{{inner}}}")
        else:
            lines.append(f"{key}: {_scalar(value)}")
    first, *rest = lines
    return "".join([f"{' ' * indent}- {first}\n", *(f"{' ' * (indent + 2)}{line}\n" for line in rest)])


def _scalar(text: str) -> str:
    plain = re.fullmatch(r"[A-Za-z][\w /.-]*[\w.]|[\w-]+|[a-z]+(?::[\w-]+){1,2}", text, re.ASCII)
    if plain:
        return text
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=sys.maxsize).rstrip("\n")


def _syntax(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or str(error).splitlines()[0]
    return Sentence("line {line}: {why}", line=mark.line + 1, why=str(what)) if mark is not None else str(what)


def _items(root: yaml.Node | None) -> list[yaml.Node]:
    if root is None or (isinstance(root, yaml.ScalarNode) and root.value in _NOTHING):
        return []
    if not isinstance(root, yaml.MappingNode):
        raise InvalidJobsFile(Sentence("line {line}: {why}", line=1, why=Sentence("the file must begin with `jobs:`")))
    items: list[yaml.Node] = []
    for key, value in root.value:
        if key.value != "jobs":
            why = Sentence(
                "there is no key {key}{near}; allowed: {keys}", key=repr(str(key.value)[:60]), near="", keys="jobs"
            )
            raise InvalidJobsFile(Sentence("line {line}: {why}", line=key.start_mark.line + 1, why=why))
        if isinstance(value, yaml.SequenceNode):
            items += value.value
        elif not isinstance(value, yaml.ScalarNode) or value.value not in _NOTHING:
            why = Sentence("`jobs` must be a list, each job beginning with `- id:`")
            raise InvalidJobsFile(Sentence("line {line}: {why}", line=value.start_mark.line + 1, why=why))
    return items


def _entry(item: yaml.Node) -> JobEntry:
    if not isinstance(item, yaml.MappingNode):
        raise InvalidJob(Sentence("a job must have the keys {keys}", keys="id, kind, text, when, to"))
    fields: dict[str, str | Mapping[str, str]] = {}
    lines: dict[str, int] = {}
    for key, value in _pairs(item):
        lines[key] = value.start_mark.line
        if isinstance(value, yaml.MappingNode):
            fields[key] = {name: _scalar_text(name, inner) for name, inner in _pairs(value)}
        elif not (isinstance(value, yaml.ScalarNode) and not value.style and value.value in _NOTHING):
            fields[key] = _scalar_text(key, value)
    last = item.value[-1][1] if item.value else item
    end = last.end_mark.line + (1 if last.end_mark.column or last.end_mark.line == item.start_mark.line else 0)
    brace = (item.end_mark.line, item.end_mark.column - 1) if item.flow_style else None
    return JobEntry(job_.read(fields), item.start_mark.line, end, item.start_mark.column, lines, brace)


def _id_of(item: yaml.Node) -> str:
    pairs = item.value if isinstance(item, yaml.MappingNode) else []
    return next((str(value.value) for key, value in pairs if key.value == "id"), "")


def _pairs(node: yaml.MappingNode) -> Iterator[tuple[str, yaml.Node]]:
    seen: set[str] = set()
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise InvalidJob(Sentence("a key must be a word"))
        if key.value in seen:
            raise InvalidJob(Sentence("the key {key} is there twice", key=repr(key.value[:60])))
        seen.add(key.value)
        yield key.value, value


def _scalar_text(key: str, value: yaml.Node) -> str:
    if not isinstance(value, yaml.ScalarNode):
        raise InvalidJob(Sentence("`{key}` must be a text", key=key[:60]))
    return str(value.value)
