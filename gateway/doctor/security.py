"""`daybook doctor --security`: what others could reach, in plain words."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from pkgutil import resolve_name

from pydantic import BaseModel, SecretStr

from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from agent.memory.scope import Audience
from agent.skills import FOLDER as SKILLS
from channels.checks import Finding
from channels.ids import PersonId
from channels.network import is_loopback
from channels.registry import MANIFESTS
from gateway.config import Config, ConfigError, load
from gateway.doctor.examine import open_to_others
from gateway.home import Home
from gateway.manifest import features
from gateway.store.connection import reading
from gateway.store.usage import account_of

_STALE = timedelta(days=180)
_MOST_FILES = 20_000
_MOST_BYTES = 2_000_000
_MOST_NAMED = 8
_TEXTS = frozenset({".md", ".txt", ".yaml", ".yml", ".json", ".csv", ".log", ".env", ".toml", ".ini", ""})
_SECRETS: Mapping[Sentence, re.Pattern[str]] = {
    Sentence("a key of Anthropic's"): re.compile(r"\bsk-ant-[A-Za-z0-9_-]{20,200}"),
    Sentence("an API key"): re.compile(r"\bsk-(?:proj-)?[A-Za-z0-9_]{20,200}"),
    Sentence("a token of GitHub"): re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,200}|github_pat_[A-Za-z0-9_]{30,200})"),
    Sentence("a token of Slack"): re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,200}"),
    Sentence("a key of AWS"): re.compile(r"\bAKIA[A-Z0-9]{16}\b"),
    Sentence("a token of Telegram"): re.compile(r"\b[0-9]{8,10}:[A-Za-z0-9_-]{35}\b"),
    Sentence("a private key"): re.compile(r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----"),
}


def security(home: Home, environ: Mapping[str, str]) -> list[Finding]:
    """Every finding with its fix; asks no server. Blocks for some seconds at most."""
    try:
        config = load(home, environ).config
    except ConfigError as error:
        return [
            Finding("config", False, str(problem), Sentence("edit {file}", file=problem.file))
            for problem in error.problems
        ]
    except OSError as error:
        return [Finding("config", False, Sentence("can't be read: {why}", why=error), "see who owns the home's files")]
    checks: tuple[Callable[[Home, Config], Iterator[Finding]], ...] = (
        _permissions,
        _keys_in_config,
        _page,
        _people,
        _groups,
        *(resolve_name(feature.exposure) for feature in features() if feature.exposure),
        _skills,
        _secrets,
    )
    return [finding for check in checks for finding in _found(check, home, config)]


def _found(check: Callable[[Home, Config], Iterator[Finding]], home: Home, config: Config) -> list[Finding]:
    """The findings of a check; its failure is a finding, too."""
    try:
        return list(check(home, config))
    except Exception as error:
        said = Sentence("this could not be looked at: {why}", why=str(error) or type(error).__name__)
        return [Finding(check.__name__.strip("_"), False, said, "run `daybook doctor`, and correct that")]


def _permissions(home: Home, config: Config) -> Iterator[Finding]:
    private = [home.path, home.env_file, home.config_file, *_files(home.state)]
    exposed = [path for path in private if path.exists() and _others_reach(home, path)]
    for path in exposed[:_MOST_NAMED]:
        yield Finding(
            "permissions",
            False,
            Sentence("{path} can be read by other users of this computer", path=path),
            f"chmod go-rwx {path}",
        )
    if not exposed:
        yield Finding("permissions", True, "no other user of this computer can read the home")


def _others_reach(home: Home, path: Path) -> bool:
    """False below a home that nobody else may enter."""
    return open_to_others(path) and (path == home.path or open_to_others(home.path))


def _keys_in_config(home: Home, config: Config) -> Iterator[Finding]:
    """Keys in `config.yaml`, which people copy and show; `.env` is the place for them."""
    try:
        text = home.config_file.read_text("utf-8")
    except OSError:
        return
    inside = [name for value, name in _named(config).items() if value in text]
    for name in inside:
        yield Finding(
            "tokens",
            False,
            Sentence("{name} stands in config.yaml itself", name=name),
            Sentence(
                "move it to .env, and write `{line}`, or leave it out", line=f"{name.rpartition('.')[2]}: ${{ITS_NAME}}"
            ),
        )
    if not inside:
        yield Finding("tokens", True, "config.yaml holds no token and no key")


def _named(config: Config) -> dict[str, str]:
    """Each secret and the first key that has it: agents repeat the common ones."""
    found: dict[str, str] = {}
    for name, value in _secrets_of(config, ""):
        found.setdefault(value, name)
    return found


def _secrets_of(value: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, SecretStr) and len(value.get_secret_value()) >= 4:
        yield name, value.get_secret_value()
    elif isinstance(value, BaseModel | dict):
        for key, inner in value if isinstance(value, BaseModel) else value.items():
            yield from _secrets_of(inner, f"{name}.{key}" if name else str(key))


def _page(home: Home, config: Config) -> Iterator[Finding]:
    web = config.channels.web
    if not web.enabled or is_loopback(web.host):
        yield Finding("page", True, "the page is off or listens on this computer only")
    elif web.public_url is None:
        yield Finding(
            "page",
            False,
            Sentence(
                "the page listens on {host} without TLS: whoever is on that network can read along", host=web.host
            ),
            "set channels.web.host: 127.0.0.1, or put a proxy with TLS before it and set channels.web.public_url; "
            "of a container, publish the port to 127.0.0.1 alone",
        )
    else:
        said = "the page is reached through {url}; {host} should be only the proxy's"
        yield Finding("page", True, Sentence(said, url=web.public_url, host=web.host))


def _people(home: Home, config: Config) -> Iterator[Finding]:
    for name, policy in config.channels.platforms.items():
        if policy.dm_policy == "open" and policy.enabled:
            yield Finding(
                "people",
                False,
                Sentence("everybody on {platform} may write to it, at your cost", platform=MANIFESTS[name].title),
                Sentence("set `{key}` to `pairing`, or limits.person_daily_usd", key=f"channels.{name}.dm_policy"),
            )
    since = (datetime.now(UTC) - _STALE).isoformat()
    try:
        with reading(home.database, config.postgres_url) as connection:
            if connection is None:
                return
            old = connection.execute(
                "SELECT channel, user_id, name FROM access WHERE role != 'owner' AND added_at < ?", (since,)
            ).fetchall()
            sessions = connection.execute("SELECT DISTINCT session FROM usage WHERE at >= ?", (since,)).fetchall()
    except StorageUnavailable as error:
        yield Finding(
            "people", False, Sentence("can't read who was approved: {why}", why=error), "run `daybook doctor`"
        )
        return
    written = {account_of(session) for (session,) in sessions}
    people = {account: person for person, accounts in config.people.items() for account in accounts}
    approved = ((PersonId(channel, user), name) for channel, user, name in old)
    stale = [
        (account, name)
        for account, name in approved
        if (Audience.PERSON, people.get(str(account), account.folder)) not in written
    ]
    for account, name in stale[:_MOST_NAMED]:
        yield Finding(
            "people",
            False,
            Sentence(
                "{person} was approved long ago and has not written for {days} days",
                person=f"{name or account.id} ({account})",
                days=_STALE.days,
            ),
            Sentence("if they should no longer write: `{command}`", command=f"daybook pair revoke {account}"),
        )
    if not stale:
        yield Finding("people", True, "everybody who was approved still writes, or was approved recently")


def _groups(home: Home, config: Config) -> Iterator[Finding]:
    open_ones: list[Sentence] = []
    for name, settings in config.channels.platforms.items():
        platform, rules = MANIFESTS[name].title, settings.rules
        open_ones += [
            *(
                Sentence("the {platform} group {id}", platform=platform, id=id)
                for id, rule in rules.groups.items()
                if not rule.allow
            ),
            *(
                Sentence("the {platform} server {id}", platform=platform, id=id)
                for id, server in rules.servers.items()
                if not server.rule.allow
            ),
        ]
    tools = config.agents[config.default_agent].tools
    for name in open_ones:
        yield Finding(
            "groups",
            not tools.reads_the_web or config.limits.group_daily_usd is not None,
            Sentence("{group}: every member may use it, with the tools of groups", group=name),
            "list members in `allow`, or set limits.group_daily_usd",
        )
    if not open_ones:
        yield Finding("groups", True, "no group is open to all its members")


def _skills(home: Home, config: Config) -> Iterator[Finding]:
    for agent in config.agents.values():
        folder = home.workspace(agent.workspace) / SKILLS
        scripts = [path for path in _files(folder) if _is_script(path)]
        for path in scripts[:_MOST_NAMED]:
            yield Finding(
                "skills",
                not agent.tools.runs_files,
                Sentence("{path} is a program that came with a skill", path=path),
                "read it before you let the assistant run it, or remove the skill",
            )


def _is_script(path: Path) -> bool:
    try:
        executable = bool(path.stat().st_mode & stat.S_IXUSR)
        with path.open("rb") as file:
            return executable or file.read(2) == b"#!" or path.suffix in (".sh", ".py", ".js")
    except OSError:
        return False


def _secrets(home: Home, config: Config) -> Iterator[Finding]:
    known = {value: name for value, name in _named(config).items() if len(value) >= 8}
    count = 0
    for agent in config.agents.values():
        for path in _files(home.workspace(agent.workspace)):
            if (secret := _secret_in(path, known)) and (count := count + 1) <= _MOST_NAMED:
                yield Finding(
                    "secrets",
                    False,
                    Sentence(
                        "{path} holds {secret}, which models and people who may read it see", path=path, secret=secret
                    ),
                    "take it out, and have a new one made where it was issued",
                )
    if not count:
        yield Finding("secrets", True, "no key or token was found in the workspace")


def _secret_in(path: Path, known: Mapping[str, str]) -> Sentence | None:
    if path.suffix.lower() not in _TEXTS:
        return None
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    for value, name in known.items():
        if value in text:
            return Sentence("the value of {name}", name=name)
    return next((secret for secret, pattern in _SECRETS.items() if pattern.search(text)), None)


def _files(folder: Path) -> Iterator[Path]:
    """Regular files below a folder, without following links."""
    found = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if not path.is_symlink() and path.is_file():
                found += 1
                if found > _MOST_FILES:
                    return
                yield path
