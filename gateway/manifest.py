"""What each feature says of itself. A list of commands is shown without importing one: all here is light."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name

from agent.languages.sentences import Sentence
from agent.media.sniff import Kind


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command of `daybook`."""

    help: str
    """The first paragraph of its `--help`."""
    command: str
    """`module:attribute`: the command, or an `OperationGroup`, each of whose operations that is shown becomes one."""
    after: str = ""
    """The command that it follows in the list; empty: the last."""


@dataclass(frozen=True, slots=True)
class Feature:
    """The manifest of a feature. Functions are named as `module:attribute` and imported when they are needed."""

    commands: Mapping[str, CommandLine] = field(default_factory=dict)
    opening: str = ""
    """From the `Kernel`, and a stack that is closed with the gateway, to the `FeatureParts`."""
    checks: str = ""
    """From the home and its configuration to the doctor's findings. May block for some seconds."""
    secrets: str = ""
    """From the home to what no model may see."""
    config: Sequence[str] = ()
    """The classes that add its keys to sections of the configuration."""
    exposure: str = ""
    """From the home and its configuration to what `daybook doctor --security` says of it."""
    readers: Mapping[Kind, str] = field(default_factory=dict)
    """From a file and the most characters to its texts, by kind of file; run in a process with limits."""
    jobs: Mapping[str, Sentence] = field(default_factory=dict)
    """What it does by itself, by the id of the job."""


def features() -> Sequence[Feature]:
    """All features. The list is found by its name, because what it names imports the kernel."""
    found: Sequence[Feature] = resolve_name("gateway.features:FEATURES")
    return found


def readers() -> Mapping[Kind, str]:
    """What reads files of a kind, for `agent.media.reader.Reader`."""
    return {kind: name for feature in features() for kind, name in feature.readers.items()}
