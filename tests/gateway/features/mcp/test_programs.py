"""Servers as programs: what they do wrong hurts nobody but themselves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
import uuid
from pathlib import Path

import pytest

from agent.formats.secrets import KnownSecrets
from gateway.features.mcp.config import LocalMcpServer
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.schemas import LONGEST_DESCRIPTION
from gateway.features.mcp.servers import ManagedServer, McpServers
from gateway.features.mcp.values import McpFailure
from tests.fakes import started_again
from tests.gateway.features.mcp.conftest import PROGRAM, FakeProgram, until

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the process group ends with a program")


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:1]
    except OSError:
        return False


async def test_a_program_is_started_at_its_first_use_and_ended_with_all_it_started(tmp_path: Path) -> None:
    async with McpServers(KeptMcp(tmp_path / "mcp")) as servers:
        fake = FakeProgram(servers, tmp_path / "log")
        server = fake.server()
        assert not server.is_running and server.tools is None
        result = await server.call("look", {"text": "the key"})
        assert result.text == "Found: the key is in the third drawer." and not result.failed
        child = int((await server.call("child", {})).text)
        [started] = fake.events("started")
        assert is_alive(started["pid"]) and is_alive(child)
    assert not is_alive(started["pid"])
    await until(lambda: not is_alive(child))
    assert len(fake.events("stdin closed")) == 1, "it was given the time to end by itself"


async def test_no_key_is_in_what_a_server_says_of_its_tools(tmp_path: Path) -> None:
    """Its words are in every request. The second description is cut in the middle of the key."""
    key = "canary-4711-0123456789-abcdefghij"
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": f"as {key}"}}}
    cut = f"{'word ' * (LONGEST_DESCRIPTION // 5 - 4)}{key}{key}"
    listed = [{"name": "two", "description": cut, "inputSchema": schema}]
    async with McpServers(KeptMcp(tmp_path / "mcp"), secrets=KnownSecrets([key])) as servers:
        fake = FakeProgram(servers, tmp_path / "log")
        server = fake.server(env={"DESCRIPTION": f"Look, with {key}.", "LISTED": json.dumps(listed)})
        await server.start()
        said = {one.name: f"{one.description} {one.schema}" for one in server.tools or ()}
    assert said["look"].startswith("Look, with [secret left out].") and "as [secret left out]" in said["two"]
    assert "canary" not in f"{said}{[one.read_text() for one in (tmp_path / 'mcp').rglob('*.json')]}"


async def test_a_stubborn_program_is_killed(tmp_path: Path) -> None:
    async with McpServers(KeptMcp(tmp_path / "mcp")) as servers:
        fake = FakeProgram(servers, tmp_path / "log")
        await fake.server("stubborn").start()
        [started] = fake.events("started")
    await until(lambda: not is_alive(started["pid"]))


# its end, and that of all it has started ------------------------------------------------------------------------------


@pytest.fixture
def mark() -> str:
    """In the command lines of what a test starts; other tests and other runs have others."""
    return f"daybook-test-{os.getpid()}-{uuid.uuid4().hex}"


def marked(mark: str) -> list[int]:
    """Processes, without what has ended and what is not reaped yet."""
    found = []
    for one in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if one.name.isdigit() and mark.encode() in (one / "cmdline").read_bytes():
                found.append(int(one.name))
    return found


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


CHILDREN = 3
"""In its group, in a session of its own, and without a parent."""


@linux
@pytest.mark.parametrize("mode", ["gentle", "stubborn"])
async def test_all_that_a_program_has_started_ends_with_it(tmp_path: Path, mark: str, mode: str) -> None:
    async with McpServers(KeptMcp(tmp_path / "mcp")) as servers:
        await FakeProgram(servers, tmp_path / "log").server("brood", mode, env={"MARK": mark}).start()
        await until(lambda: len(marked(mark)) == CHILDREN)
    assert marked(mark) == []


@linux
async def test_a_program_that_ends_by_itself_leaves_nothing_behind(fake: FakeProgram, mark: str) -> None:
    server = fake.server("brood", env={"MARK": mark})
    await server.start()
    await until(lambda: len(marked(mark)) == CHILDREN)
    with pytest.raises(McpFailure, match="ended before it answered"):
        await server.call("die", {})
    await until(lambda: marked(mark) == [])


@linux
@pytest.mark.parametrize("which", [0, 1])
async def test_a_killed_launcher_leaves_nothing_behind(fake: FakeProgram, mark: str, which: int) -> None:
    """There are two, each of which ends all if the other cannot."""
    server = fake.server("brood", "stubborn", env={"MARK": mark})
    await server.start()
    await until(lambda: len(marked(mark)) == CHILDREN)
    [started] = fake.events("started")
    launchers = [inner := parent(started["pid"]), parent(inner)]
    assert parent(launchers[1]) == os.getpid()
    os.kill(launchers[which], signal.SIGKILL)
    await until(lambda: not any(map(is_alive, [started["pid"], *launchers])) and marked(mark) == [])


@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGCONT])
async def test_a_program_does_not_outlive_its_gateway(tmp_path: Path, mark: str, how: signal.Signals) -> None:
    """One that is killed, or starts itself again under its number; also a program that notices nothing, and what it has
    started."""
    body = f"""
import asyncio, sys
from pathlib import Path
from gateway.features.mcp.config import LocalMcpServer
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.schemas import LONGEST_DESCRIPTION
from gateway.features.mcp.servers import ManagedServer, McpServers
from tests.fakes import started_again

async def main():
    started_again.at_sigcont()
    async with McpServers(KeptMcp(Path({str(tmp_path)!r}) / "mcp")) as servers:
        command = ({sys.executable!r}, {str(PROGRAM)!r}, {str(tmp_path / "log")!r}, "stubborn", "brood")
        config = LocalMcpServer.model_validate({{"command": command, "env": {{"MARK": {mark!r}}}}})
        await servers.server("fake", config).start()
        print("started", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""
    gateway = await asyncio.create_subprocess_exec(
        sys.executable, "-c", body, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[4]
    )
    assert gateway.stdout is not None and await gateway.stdout.readline() == b"started\n"
    [started] = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines() if "started" in line]
    await until(lambda: len(set(marked(mark)) - {gateway.pid}) == CHILDREN)
    launchers = [inner := parent(started["pid"]), parent(inner)]
    assert parent(launchers[1]) == gateway.pid
    gateway.send_signal(how)
    if how is signal.SIGCONT:
        assert await gateway.stdout.readline() == started_again.SAID
    await until(lambda: not any(map(is_alive, [started["pid"], *launchers])))
    assert set(marked(mark)) <= {gateway.pid}
    if how is signal.SIGCONT:
        gateway.kill()
    await gateway.wait()


async def test_no_key_of_ours_is_in_its_environment(fake: FakeProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-canary")
    monkeypatch.setenv("DAYBOOK_SECRET", "canary")
    seen = json.loads((await fake.server(env={"OWN": "its own"}).call("environ", {})).text)
    assert "canary" not in json.dumps(seen)
    assert seen["OWN"] == "its own" and seen["PATH"] == os.environ["PATH"]


async def test_a_variable_of_its_environment_may_have_any_letters(fake: FakeProgram) -> None:
    values = {"FOLDER": "/home/jörg/私の ノート", "EMPTY": "", "NUMBER": "7"}
    seen = json.loads((await fake.server(env=values).call("environ", {})).text)
    assert {name: seen[name] for name in values} == values


async def test_a_program_that_dies_in_a_call_is_not_asked_again_for_it_and_is_started_for_the_next(
    fake: FakeProgram,
) -> None:
    server = fake.server()
    with pytest.raises(McpFailure, match="may or may not have taken effect"):
        await server.call("die", {})
    assert (await server.call("look", {"text": "it"})).text.startswith("Found")
    assert [one["tool"] for one in fake.events("call")] == ["die", "look"]
    assert len(fake.events("started")) == 2


async def test_a_program_that_died_between_calls_is_started_without_a_word(fake: FakeProgram) -> None:
    server = fake.server()
    await server.start()
    [started] = fake.events("started")
    os.kill(started["pid"], 9)
    await until(lambda: not server.is_running)
    assert (await server.call("look", {"text": "it"})).text.startswith("Found")


async def test_one_that_never_answers_is_given_up_and_told_so(fake: FakeProgram) -> None:
    server = fake.server(timeout=2)
    with pytest.raises(McpFailure, match=r"did not answer within 2 seconds.*may or may not"):
        await server.call("hang", {})
    await fake.until("cancelled")
    assert (await server.call("look", {"text": "it"})).text.startswith("Found"), "it goes on"


async def test_progress_keeps_a_call_alive(fake: FakeProgram) -> None:
    assert (await fake.server(timeout=3).call("step", {})).text == "done"


async def test_a_stopped_call_is_cancelled_there_too(fake: FakeProgram) -> None:
    call = asyncio.create_task(fake.server().call("hang", {}))
    await fake.until("call")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await fake.until("cancelled")


async def test_a_flood_ends_the_program_not_us(fake: FakeProgram) -> None:
    server = fake.server()
    with pytest.raises(McpFailure, match="ended before it answered"):
        await server.call("flood", {})
    assert (await server.call("look", {"text": "it"})).text.startswith("Found")


async def test_one_that_never_stops_talking_is_read_no_faster_than_can_be_borne(fake: FakeProgram) -> None:
    server = fake.server("chatty", timeout=2)
    began = time.monotonic()
    with pytest.raises(McpFailure, match="did not answer within 2 seconds"):
        await server.call("chatter", {})
    await fake.until("chattered", 8)
    seconds, in_pipes = time.monotonic() - began, 4_000
    assert fake.events("chattered")[-1]["count"] <= 1_000 * (seconds + 1) + in_pipes


async def test_noise_on_stdout_is_skipped(fake: FakeProgram) -> None:
    assert (await fake.server("noisy").call("look", {"text": "it"})).text.startswith("Found")


async def test_one_that_does_not_begin_is_tried_again_later_and_later(fake: FakeProgram) -> None:
    server = fake.server("refuses")
    for _ in range(2):
        with pytest.raises(McpFailure, match="did not begin to work"):
            await server.call("look", {"text": "it"})
    assert list(server.said) == ["no licence was found"]
    with pytest.raises(McpFailure, match=r"has failed 2 times; it is tried again in \d s"):
        await server.call("look", {"text": "it"})


async def test_a_deaf_one_is_given_up(tmp_path: Path) -> None:
    async with McpServers(KeptMcp(tmp_path / "mcp"), patience=1) as servers:
        with pytest.raises(McpFailure, match="did not begin to work within 1 seconds"):
            await FakeProgram(servers, tmp_path / "log").server("deaf", timeout=1).start()


async def test_a_missing_program_is_named(tmp_path: Path) -> None:
    async with McpServers(KeptMcp(tmp_path)) as servers:
        with pytest.raises(McpFailure, match="no-such-program cannot be started"):
            await servers.server("x", LocalMcpServer(command=("no-such-program",))).start()


async def test_a_changed_list_is_read_again_and_kept(fake: FakeProgram, tmp_path: Path) -> None:
    server = fake.server()
    await server.call("change", {})
    await until(lambda: any(one.name == "new" for one in server.tools or ()))

    def again() -> ManagedServer:
        return FakeProgram(McpServers(KeptMcp(tmp_path / "mcp")), fake.log).server()

    await until(lambda: again().tools == server.tools)
    assert not again().is_running, "a restart knows it without the program"


async def test_results_that_are_no_text(fake: FakeProgram) -> None:
    server = fake.server()
    [picture] = (await server.call("picture", {})).files
    assert picture.ending == "png" and picture.content.startswith(b"\x89PNG")
    assert (await server.call("embed", {})).text == "[note://1]\nThe note itself."
    failed = await server.call("fail", {})
    assert failed.failed and failed.text == "the well is dry"
    wrong = await server.call("look", {"txt": "it"})
    assert wrong.failed and "must be a string" in wrong.text, "the server itself checks its arguments"
    unknown = pytest.raises(McpFailure)
    with unknown as caught:
        await server.call("nothing", {})
    assert caught.value.said == "Unknown tool: nothing"


async def test_a_result_that_lies_about_its_schema_is_a_result(fake: FakeProgram) -> None:
    assert (await fake.server("odd").call("lies", {})).text == "not what was said"


async def test_odd_tools_are_offered_beside_the_others_or_left_out_by_name(
    fake: FakeProgram, caplog: pytest.LogCaptureFixture
) -> None:
    odd = [
        {"name": "bare"},
        {"inputSchema": {}},
        "words",
        {"name": "list", "inputSchema": {"type": "array"}, "title": 5},
    ]
    server = fake.server(env={"LISTED": json.dumps(odd)})
    assert "third drawer" in (await server.call("look", {"text": "it"})).text
    tools = {one.name: one for one in server.tools or ()}
    assert list(tools)[:3] == ["bare", "list", "look"] and tools["look"].reads_only
    assert tools["bare"].schema == tools["list"].schema == {"type": "object", "properties": {}}
    assert "fake lists 2 tools that can't be used: None, 'words'" in caplog.text


async def test_what_is_no_list_is_refused(fake: FakeProgram) -> None:
    server = fake.server("listless")
    with pytest.raises(McpFailure, match="did not list its tools as the protocol says"):
        await server.start()
