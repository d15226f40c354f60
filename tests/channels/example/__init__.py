"""A channel as docs/extending.md describes it: its platform is a folder, and its ids have colons, capitals and letters.

Its place is `channels/example/`; `tests/channels/test_example.py` puts it there, in a copy of the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from channels.checks import CheckResult, Finding, Outcome, ServerClock
from channels.manifest import ChannelManifest, ChannelRules, ChannelSettings, GroupSettings, SetupQuestion, Wiring
from channels.message import Channel
from channels.settings import AnyId


class ExampleSettings(ChannelSettings):
    server: str = ""
    allow: tuple[AnyId, ...] = ()
    groups: dict[AnyId, GroupSettings] = Field(default={})

    texts: ClassVar[Mapping[str, str]] = {
        **ChannelSettings.texts,
        "server": "The folder that is the platform.",
        **{f"groups.*.{key}": text for key, text in GroupSettings.texts.items()},
    }
    PERSON: ClassVar[re.Pattern[str]] = re.compile(r"@[^\s/]+:[^\s/]+")

    @property
    def rules(self) -> ChannelRules:
        return replace(super().rules, groups={room: group.rule for room, group in self.groups.items()})

    def open(self, wiring: Wiring) -> Channel:
        from channels.example.channel import ExampleChannel  # noqa: PLC0415 (only where it is on)

        return ExampleChannel(Path(self.server))

    def probe(self) -> CheckResult:
        if not Path(self.server).is_dir():
            return CheckResult(
                Outcome.UNREACHABLE, f"there is no folder {self.server}", "correct channels.example.server"
            )
        if self.secret != "secret":
            return CheckResult(Outcome.REFUSED, "the folder doesn't accept this token", "get another one")
        return CheckResult(Outcome.FINE, "connected as @daybook", shown="This is @daybook.")

    def checks(self) -> Iterator[Finding | ServerClock]:
        found = self.probe()
        yield Finding("example", found.ok, found.text, found.fix)


CHANNEL = ChannelManifest(
    "example",
    "Example",
    ExampleSettings,
    {"token": "EXAMPLE_TOKEN"},
    "set EXAMPLE_TOKEN in .env",
    (
        SetupQuestion("example_server", "server", "Example's folder", "The folder of Example.", label="Folder"),
        SetupQuestion(
            "example_token", "token", "Example's token", "The token of Example.", without="no Example", label="Token"
        ),
        SetupQuestion("example_owner", "", "Your id on Example", "Your id on Example, such as @ann:example.org."),
    ),
    "Write to me in a folder.",
    "Connect Example",
    has_chats_by_person=True,
)
