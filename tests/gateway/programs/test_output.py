"""What a program has printed, taken while it prints."""

from __future__ import annotations

from agent.formats.secrets import STRUCK, KnownSecrets
from gateway.programs.output import ProgramOutput

SECRET = "canary-of-a-secret"


def test_a_copy_stays_as_it_was_when_it_was_made() -> None:
    output = ProgramOutput(KnownSecrets([SECRET]))
    output.add(b"one canary-of")
    copy = output.copy()
    output.add(b"-a-secret two")
    output.is_over = True
    assert copy.shown() == f"one {STRUCK}", "its end may still be the beginning of a secret"
