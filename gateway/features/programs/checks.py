"""Checks whether programs have a sandbox."""

from __future__ import annotations

from collections.abc import Iterator

from agent.languages.sentences import Sentence
from channels.checks import Finding
from gateway.config import Config
from gateway.features.programs.config import WithPrograms
from gateway.features.programs.leading import leading_words
from gateway.features.programs.sandbox import find_sandbox, missed_sandbox
from gateway.home import Home

_CHECK = "programs"
_NO_SANDBOX = (
    "warning: tools.exec is on, and there is no sandbox here, so that programs can read and change all that "
    "Daybook can; install bubblewrap, or turn tools.exec off"
)
_AS_ROOT = (
    "warning: tools.exec is on, and Daybook runs as root, whom no sandbox holds, so that programs can read and change "
    "everything on this computer; run it as another user, or turn tools.exec off"
)
_GET_ONE = "make bubblewrap work and restart Daybook, or delete {file} if programs may run without a sandbox"
_NOT_AS_ROOT = "run Daybook as the user of before, or delete {file} if programs may run without a sandbox"


def programs(home: Home, config: Config) -> Iterator[Finding]:
    """Checks the sandbox; finds nothing where no agent runs programs."""
    if not any(WithPrograms.of(agent.tools).exec for agent in config.agents.values()):
        return
    sandbox = find_sandbox(home, config)
    if sandbox.is_tight:
        yield Finding(_CHECK, True, "programs run in a sandbox (bubblewrap)")
    elif missed_sandbox(home, sandbox):
        said = "programs are off: they had a sandbox here before, and have none now"
        way = _NOT_AS_ROOT if sandbox.is_root else _GET_ONE
        yield Finding(_CHECK, False, said, Sentence(way, file=home.had_sandbox))
    else:
        yield Finding(_CHECK, True, _AS_ROOT if sandbox.is_root else _NO_SANDBOX)


def exposure(home: Home, config: Config) -> Iterator[Finding]:
    """Which programs may run, and what holds them."""
    running = [name for name, agent in config.agents.items() if WithPrograms.of(agent.tools).exec]
    if not running:
        yield Finding(_CHECK, True, "it runs no programs (tools.exec)")
        return
    sandbox = find_sandbox(home, config)
    if sandbox.is_tight:
        yield Finding(_CHECK, True, "programs run in a sandbox, each after your yes")
    else:
        why = Sentence("it runs as root, whom no sandbox holds" if sandbox.is_root else "there is none here")
        said = "programs run without a sandbox ({why}): after your yes one can read and change all that Daybook can"
        yield Finding(
            _CHECK,
            False,
            Sentence(said, why=why),
            "run Daybook as another user" if sandbox.is_root else "install bubblewrap, or set tools.exec: false",
        )
    for name in running:
        for words in WithPrograms.of(config.agents[name].tools).exec_allow:
            if words and not leading_words(words, home.workspace(config.agents[name].workspace)):
                yield Finding(
                    _CHECK,
                    False,
                    Sentence(
                        "tools.exec_allow lets `{command}` start anything without a question", command=" ".join(words)
                    ),
                    "name the program itself, with as many of its first words as never change",
                )
