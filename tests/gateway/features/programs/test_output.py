"""What a program has printed, taken while it prints."""

from __future__ import annotations

import pytest

from agent.formats.secrets import STRUCK, KnownSecrets
from agent.memory.files import MAX_BYTES
from gateway.features.programs.output import MOST_SHOWN, ProgramOutput

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


@pytest.mark.parametrize("size", [1, 7, 13, 65_536])
def test_chunks_of_an_output(size: int) -> None:
    output = ProgramOutput(KnownSecrets([SECRET]))
    data = f"before {SECRET} after {SECRET}".encode()
    for at in range(0, len(data), size):
        output.add(data[at : at + size])
        for part in range(8, len(SECRET)):
            assert SECRET[:part] not in output.shown(), "while it runs"
    output.is_over = True
    assert output.shown() == f"before {STRUCK} after {STRUCK}"
    assert output.whole == output.shown().encode()


@pytest.mark.parametrize("before", [MOST_SHOWN // 2 - 10, 4_000_000 - 10, 4_000_000 - 1])
def test_no_cut_leaves_a_part_of_it(before: int) -> None:
    output = ProgramOutput(KnownSecrets([SECRET]))
    output.add(b"x" * before + SECRET.encode() + b"y" * 100_000)
    output.is_over = True
    for part in (SECRET[:8], SECRET[-8:]):
        assert part not in output.shown() and part.encode() not in output.whole
