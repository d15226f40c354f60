"""What a program has printed, taken while it prints."""

from __future__ import annotations

import pytest

from agent.formats.secrets import STRUCK, KnownSecrets
from agent.memory.files import MAX_BYTES
from gateway.programs.output import ProgramOutput

SECRET = "canary-of-a-secret"


def test_a_copy_stays_as_it_was_when_it_was_made() -> None:
    output = ProgramOutput(KnownSecrets([SECRET]))
    output.add(b"one canary-of")
    copy = output.copy()
    output.add(b"-a-secret two")
    output.is_over = True
    assert copy.shown() == f"one {STRUCK}", "its end may still be the beginning of a secret"


@pytest.mark.parametrize("inside", [0, 1, 9, 17, 18])
def test_a_secret_is_struck_on_both_sides_of_the_middle_that_is_left_out(inside: int) -> None:
    secrets = KnownSecrets([SECRET])
    output = ProgramOutput(secrets)
    output.add(b"x" * (MAX_BYTES + 4 * secrets.longest - inside) + SECRET.encode() + b" and the end")
    output.is_over = True
    assert output.shown().endswith(f"x{STRUCK} and the end")
