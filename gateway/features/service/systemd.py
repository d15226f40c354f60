"""The units that have systemd run Daybook: the user's and the system's. docs/running.md says what they confine."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.config import Config
from gateway.home import Home

_PROBE_S = 20.0
_CONFINING = ("-p", "PrivateUsers=yes", "-p", "ProtectSystem=strict")
_PROBE = ("systemd-run", "--user", "--quiet", "--wait", "--collect", *_CONFINING, "true")

_UNIT = """\
[Unit]
Description=Daybook ({home})
After=network-online.target
{wants}
[Service]
{user}ExecStart={program}
Restart=on-failure
RestartSec=10
TimeoutStopSec=40
{confined}
[Install]
WantedBy={target}
"""

# What is missing here, and why: RestrictNamespaces, since bubblewrap makes namespaces for each program; ProcSubset,
# since it reads /proc/sys; MemoryDenyWriteExecute, since node (MCP servers, programs) makes machine code while it runs.
# @mount and AF_NETLINK are bubblewrap's too. A call that is refused fails (EPERM) instead of ending the process.
_CONFINED = """
UMask=0077
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths={writable}
PrivateTmp=yes
PrivateMounts=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
ProtectHostname=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service @mount
SystemCallErrorNumber=EPERM
"""
# These need rights that a user's manager has only in a user namespace of the service's own; without, it does not start.
_CONFINED_MORE = """\
PrivateUsers=yes
PrivateDevices=yes
ProtectKernelModules=yes
ProtectClock=yes
ProtectProc=invisible
CapabilityBoundingSet=
"""
_CONFINED_BY_SYSTEM = """\
ProtectKernelLogs=yes
RemoveIPC=yes
"""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whom Daybook runs as; without a name it is this user, and their own systemd starts it."""

    name: str
    group: str
    folder: Path

    @property
    def tokens(self) -> Path:
        """Where locks keep a second Daybook from a bot's token. A service can lock there only if the folder exists."""
        return self.folder / ".local" / "state" / "daybook"

    def make_tokens(self) -> None:
        command = ("mkdir", "-p", "-m", "700", str(self.tokens))
        subprocess.run(command, user=self.name or None, group=self.group or None, capture_output=True, check=False)


def unit(home: Home, program: list[str], owner: Owner, writable: tuple[Path, ...], *, namespaced: bool) -> str:
    """The unit's text. `namespaced`: the service can have a user namespace of its own."""
    system = bool(owner.name)
    # What MCP servers keep beside what they are asked to do.
    caches = (owner.folder / ".cache", owner.folder / ".npm")
    paths = (*(str(path) for path in (home.path, *writable)), *(f"-{path}" for path in (owner.tokens, *caches)))
    confined = _CONFINED.format(writable=" ".join(_word(path) for path in paths))
    if system or namespaced:
        confined += _CONFINED_MORE
    if system:
        confined += _CONFINED_BY_SYSTEM
    return _UNIT.format(
        home=str(home.path).replace("%", "%%"),
        wants="Wants=network-online.target\n" if system else "",
        user=f"User={owner.name}\n" if system else "",
        program=" ".join(_word(part).replace("$", "$$") for part in program),
        confined=confined,
        target="multi-user.target" if system else "default.target",
    )


def written_elsewhere(home: Home, config: Config, owner: Owner) -> tuple[Path, ...]:
    """The folders outside the home that Daybook writes to by its configuration."""
    return tuple(dict.fromkeys(_outside(home, config.written_folders(), owner)))


def _outside(home: Home, texts: Sequence[str], owner: Owner) -> Iterator[Path]:
    for text in texts:
        path = home.path / (owner.folder / text[2:] if text.startswith("~/") else text)
        if not path.is_relative_to(home.path):
            yield path


def can_have_namespace() -> bool:
    """True if this user's manager can give a service a user namespace of its own. Blocks."""
    try:
        done = subprocess.run(_PROBE, capture_output=True, timeout=_PROBE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _word(word: str) -> str:
    """A word as systemd.syntax(7) reads it."""
    for found, written in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%")):
        word = word.replace(found, written)
    return f'"{word}"' if any(sign in word for sign in " \t'\"\\;") else word
