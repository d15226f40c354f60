"""A process that is forked for a test behaves as one that is started."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import forked

SCRIPTS = {
    "an end": "pass",
    "a code": "import sys; sys.exit(3)",
    "a last word": "import sys; sys.exit('no')",
    "an error": "1 / 0",
    "an interrupt": "import os, signal; os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(60)",
    "a kill": "import os; os.kill(os.getpid(), 9)",
    "what runs at the end": "import atexit; atexit.register(print, 'bye')",
    "a thread": "import threading, time; threading.Timer(0.05, print, ['late']).start()",
    "input": "import sys; print(sys.stdin.read()[::-1])",
    "where it is": "import os, sys; print(os.getcwd(), sys.argv, sys.orig_argv[1:2], sys.path[0], __name__)",
    "its world": "import os; print(sorted(os.environ.items()))",
    "its time zone": "import time; print(time.strftime('%H %Z', time.gmtime(0)), time.tzname)",
    "open files": "import os; print(sorted(os.listdir('/proc/self/fd'))[:4])",
    "signals": "import signal; print([signal.getsignal(one) for one in (2, 13, 15, 17)], signal.set_wakeup_fd(-1))",
    "no text": "import sys; sys.stdout.buffer.write(bytes(range(256)))",
    "odd letters": "print('\\udcff Grüße 漢'); import sys; print(sys.stdin.encoding, sys.stdout.errors)",
    "the module of itself": "import __main__; x = 1; print(__main__.x)",
}


@pytest.fixture
def heeds_an_interrupt() -> Iterator[None]:
    """A process in the background of a shell ignores Ctrl-C, and so does all that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not forked.CAN_FORK, reason="nothing is forked here")
@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.usefixtures("heeds_an_interrupt")
def test_it_ends_and_prints_as_a_plain_start_does(tmp_path: Path, script: str) -> None:
    command = [sys.executable, "-c", SCRIPTS[script], "a", "b c"]
    environ = {"PATH": os.environ["PATH"], "PYTHONUTF8": "1", "TZ": "Asia/Tokyo", "MINE": "ä"}

    def told(start: object) -> tuple[int, bytes, bytes]:
        done = start(command, input=b"abc", capture_output=True, cwd=tmp_path, env=environ, timeout=60)  # type: ignore[operator]
        return done.returncode, done.stdout, done.stderr.splitlines()[-1:]

    assert told(forked.run) == told(subprocess.run)


def test_what_waits_can_be_killed_and_waited_for() -> None:
    with forked.Popen([sys.executable, "-c", "print(1, flush=True); input()"], stdin=-1, stdout=-1, text=True) as one:
        assert one.stdout.readline() == "1\n" and one.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            one.wait(0.01)
        os.kill(one.pid, signal.SIGKILL)
        assert one.wait(60) == -signal.SIGKILL
        one.kill()  # as `subprocess`, no matter that it is gone


async def test_asyncio_waits_for_it_too() -> None:
    script = "import sys; print('begun', flush=True); print(sys.stdin.readline())"
    one = await forked.create_subprocess_exec(sys.executable, "-c", script, stdin=-1, stdout=-1)
    assert await one.stdout.readline() == b"begun\n" and one.returncode is None
    out, _ = await one.communicate(b"words")
    assert (out, one.returncode) == (b"words\n", 0)
    killed = await forked.create_subprocess_exec(sys.executable, "-c", "input()", stdin=-1)
    killed.kill()
    async with asyncio.timeout(60):
        assert await killed.wait() == -signal.SIGKILL


@pytest.mark.skipif(not forked.CAN_FORK, reason="asyncio's own")
async def test_who_saw_it_alive_may_kill_it() -> None:
    process = await forked.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(600)")
    assert process.returncode is None
    os.kill(process.pid, signal.SIGKILL)
    assert select.select([process._watched], [], [], 60)[0], "it has ended, and nobody has looked"
    process.kill()
    assert await process.wait() == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        process.kill()


def test_it_has_a_terminal_of_its_own() -> None:
    master, slave = pty.openpty()
    script = "import os, sys; print(sys.stdout.isatty(), os.getsid(0) == os.getpid(), os.tcgetpgrp(0) == os.getpgrp())"
    one = forked.Popen(
        [sys.executable, "-c", script], stdin=slave, stdout=slave, stderr=slave, start_new_session=True, terminal=True
    )
    os.close(slave)
    assert os.read(master, 100) == b"True True True\r\n"
    assert one.wait(60) == 0
    os.close(master)


def test_its_processor_time_is_known() -> None:
    before, own = forked.seconds_of_forked, time.process_time()
    forked.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.2: pass"])
    assert not forked.CAN_FORK or forked.seconds_of_forked - before > 0.1 > time.process_time() - own


@pytest.mark.full
@pytest.mark.skipif(not forked.CAN_FORK, reason="nothing is forked here")
def test_of_those_that_share_a_copy_each_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(forked._SHARED, raising=False)
    asks = """if True:
        import sys
        from tests import forked
        print(forked.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid, flush=True)
        input()"""
    stop = forked.share()
    askers = [
        subprocess.Popen([sys.executable, "-c", asks], cwd=forked.ROOT, stdin=-1, stdout=-1, text=True) for _ in "ab"
    ]
    first, second = (os.pidfd_open(int(one.stdout.readline())) for one in askers)  # type: ignore[union-attr]
    askers[0].communicate("")
    assert select.select([first], [], [], 60)[0], "nobody waits for it any more"
    assert not select.select([second], [], [], 0)[0]
    askers[1].communicate("")
    assert select.select([second], [], [], 60)[0]
    assert stop() > 0
