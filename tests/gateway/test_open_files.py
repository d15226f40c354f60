from __future__ import annotations

import subprocess
import sys

import pytest

from gateway.home import WANTED

_TRY = """
import resource
from gateway.home import allow_many
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
allow_many()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
@pytest.mark.parametrize(
    ("soft", "hard", "then"), [(256, 8192, WANTED), (256, 1024, 1024), (6000, 8192, 6000), (512, 512, 512)]
)
def test_the_limit_is_raised_as_far_as_it_may_be(soft: int, hard: int, then: int) -> None:
    command = [sys.executable, "-c", _TRY.format(soft=soft, hard=hard)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert ran.stdout.split() == [str(then), str(hard)]
