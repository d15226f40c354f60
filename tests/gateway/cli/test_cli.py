"""The commands, as a shell calls them."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli import daybook
from gateway.config.loader import load, parse
from gateway.home import Home
from tests import forked

ROOT = Path(__file__).parents[3]
HEAVY = ("telegram", "discord", "anthropic", "openai", "apscheduler", "httpx", "sqlite3", "mcp")
TOKEN = "123456789:AAF0123456789abcdefghijklmnopqrstuv"


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR")}
    return {**kept, "DAYBOOK_HOME": str(home), "HOME": str(home.parent), "TZ": "Europe/Berlin", "PYTHONPATH": str(ROOT)}


def shell(home: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gateway", *words]
    return forked.run(command, input=stdin, env=environment(home), capture_output=True, text=True, timeout=120)


def invoke(home: Path, *words: str, stdin: str = "", **variables: str) -> Result:
    """In this process: for what needs no event loop."""
    clean = {"ANTHROPIC_API_KEY": None, "TELEGRAM_BOT_TOKEN": None, "DISCORD_BOT_TOKEN": None, **variables}
    return CliRunner().invoke(daybook, ["--home", str(home), *words], input=stdin, env=clean)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@contextmanager
def gateway(home: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "gateway", "gateway", *words]
    process = forked.Popen(
        command, env=environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        while "is running (process" not in (line := process.stderr.readline()):
            assert line, "the gateway ended before it ran"
        yield process
    finally:
        process.kill()
        with process:
            pass


# start-up


@pytest.mark.parametrize("words", [["--help"], ["config", "show"], ["doctor", "--json"], ["doctor", "--help"]])
def test_light_commands_import_no_platform_and_no_sdk(home: Path, words: list[str]) -> None:
    banned = [name for name in HEAVY if not (name == "sqlite3" and words[0] == "doctor")]
    script = (
        "import sys\nfrom gateway.cli import daybook\n"
        f"try: daybook({words!r})\nexcept SystemExit: pass\n"
        f"print('LOADED', [name for name in {banned!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(home), capture_output=True, text=True, timeout=120
    )
    assert "LOADED []" in done.stderr


def test_help_lists_what_works_and_an_unknown_command_is_wrong_usage(home: Path) -> None:
    listed = invoke(home, "--help").stdout
    assert all(name in listed for name in ("init", "gateway", "chat", "doctor", "status", "pair", "sessions", "config"))
    assert invoke(home, "dance").exit_code == 2
    for name in ("init", "gateway", "chat", "doctor", "status", "pair", "sessions", "config", "usage", "memory"):
        assert invoke(home, name, "--help").exit_code == 0


# config


def test_an_invalid_configuration_is_exit_2_with_everything_on_stderr(home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("model: {max_tokens: 0}\nlgo: {level: info}\n")
    done = invoke(home, "config", "validate")
    assert done.exit_code == 2
    assert "config.yaml:1: model.max_tokens: found 0; allowed: a number greater than 0" in done.stderr
    assert "config.yaml:2: lgo: unknown key, ignored; did you mean 'log'?" in done.stderr
    assert done.stdout == ""


def test_show_hides_secrets_and_schema_is_json(home: Path) -> None:
    done = invoke(home, "config", "show", TELEGRAM_BOT_TOKEN=TOKEN)
    assert TOKEN not in done.output
    assert "token: '***'" in done.stdout
    assert json.loads(invoke(home, "config", "schema").stdout)["type"] == "object"


# init


def test_init_writes_secrets_apart_and_keeps_what_exists(home: Path) -> None:
    words = ["init", "--yes", "--name", "Ann", "--owner-id", "42", "--telegram-token", TOKEN, "--summary", "off"]
    assert invoke(home, *words).exit_code == 0
    env, config = home / ".env", home / "config.yaml"
    assert f"TELEGRAM_BOT_TOKEN={TOKEN}" in env.read_text()
    assert TOKEN not in config.read_text()
    assert [path.stat().st_mode & 0o777 for path in (home, env, config)] == [0o700, 0o600, 0o600]
    made = parse(config.read_text(), {}).config
    assert (made.owners, made.schedule.daily_summary.enabled) == (("telegram:42",), False)
    assert "- Name: Ann" in (home / "workspace" / "USER.md").read_text()

    before = config.read_text()
    (home / "workspace" / "SOUL.md").write_text("mine")
    again = invoke(home, "init", "--yes")
    assert again.exit_code == 0
    assert config.read_text() == before
    assert invoke(home, "init", "--yes", "--owner-id", "43", "--name", "Bob").exit_code == 0
    assert config.read_text() == before.replace("42", "43")
    assert (home / "workspace" / "SOUL.md").read_text() == "mine"
    assert "- Name: Bob" in (home / "workspace" / "USER.md").read_text()


def test_init_makes_the_workspace_of_whichever_agent_answers(home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("agents: {work: {workspace: desk}}\n")
    assert invoke(home, "init", "--yes").exit_code == 0
    assert (home / "desk" / "AGENTS.md").exists()


def test_init_asks_again_for_what_would_be_invalid(home: Path) -> None:
    answers = "Ann\nMars/Base\nEurope/Rome\n\n\n\nbob\n42\n\n25:00\n20:15\n"
    done = invoke(home, "init", stdin=answers)
    assert done.exit_code == 0, done.output
    made = parse((home / "config.yaml").read_text(), {}).config
    assert (made.timezone, made.owners) == ("Europe/Rome", ("telegram:42",))
    assert made.schedule.daily_summary.time.isoformat("minutes") == "20:15"


def test_init_refuses_a_wrong_flag_before_it_writes_anything(home: Path) -> None:
    done = invoke(home, "init", "--yes", "--timezone", "Mars/Base")
    assert done.exit_code == 2
    assert "--timezone" in done.stderr
    assert not home.exists()


def test_a_home_that_cannot_be_made_is_one_sentence(home: Path) -> None:
    home.write_text("a file")
    done = shell(home, "chat", "-m", "hello")
    assert done.returncode == 1
    assert "is not a folder" in done.stderr
    assert "Traceback" not in done.stderr


# alone


def test_one_message_alone_prints_only_the_reply(home: Path) -> None:
    done = shell(home, "chat", "-m", "Remember that my sister is called Anna")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert done.stderr == ""
    found = shell(home, "memory", "search", "sister", "--json")
    assert [row["path"].startswith("memory/") for row in json.loads(found.stdout)] == [True]


def test_lines_from_a_pipe_are_answered_in_order(home: Path) -> None:
    done = shell(home, "chat", "--session", "work", stdin="/whoami\n\n/status\n")
    assert done.returncode == 0, done.stderr
    assert 0 <= done.stdout.lower().index("owner") < done.stdout.index("Conversation:")


def test_operations_without_a_gateway_answer_json_alone_on_stdout(home: Path) -> None:
    status = shell(home, "status", "--json")
    assert json.loads(status.stdout)["channels"]["telegram"]["state"] == "off"
    assert "Daybook isn't running" in status.stderr
    for words in (["sessions", "list"], ["pair", "list"], ["usage"]):
        assert json.loads(shell(home, *words, "--json").stdout) == []


@pytest.mark.parametrize(
    "words", [["pair", "approve", "NOPE1234"], ["sessions", "show", "none"], ["pair", "revoke", "x:1"]]
)
def test_what_is_not_there_is_exit_1_with_a_sentence(home: Path, words: list[str]) -> None:
    done = shell(home, *words)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["chat", "--session", "../x"], ["chat", "-m", " "], ["usage", "--days", "0"]])
def test_wrong_usage_is_exit_2(home: Path, words: list[str]) -> None:
    assert shell(home, *words).returncode == 2


def test_commands_that_act_alone_at_once_wait_for_each_other(home: Path) -> None:
    command = [sys.executable, "-m", "gateway", "chat", "-m", "/whoami"]
    started = [
        forked.Popen(command, env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], answers


@pytest.mark.parametrize("words", [["chat", "-m", "/whoami"], ["status"]])
def test_a_command_that_waits_for_the_home_says_for_whom(home: Path, words: list[str]) -> None:
    with Home(home).hold():
        waiting = forked.Popen(
            [sys.executable, "-m", "gateway", *words],
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr is not None
        told = f"Waiting for another Daybook (process {os.getpid()}) to finish…"
        assert waiting.stderr.readline().strip() == told
    _, rest = waiting.communicate(timeout=120)
    assert waiting.returncode == 0 and told not in rest


# with a gateway


def test_commands_reach_the_running_gateway_and_it_ends_in_order(home: Path) -> None:
    with gateway(home) as process:
        status = shell(home, "status", "--json")
        assert json.loads(status.stdout)["channels"]["terminal"]["state"] == "ok"
        assert status.stderr == ""
        reply = shell(home, "chat", "-m", "/whoami")
        assert (reply.returncode, reply.stderr) == (0, "")
        assert "owner" in reply.stdout.lower()
        second = shell(home, "gateway")
        assert second.returncode == 1
        assert f"process {process.pid}" in second.stderr
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0
    assert not (home / "state" / "gateway.sock").exists()


def test_a_killed_gateway_leaves_nothing_in_the_way(home: Path) -> None:
    with gateway(home) as process:
        process.kill()
        process.wait()
    assert (home / "state" / "gateway.sock").exists()
    assert shell(home, "chat", "-m", "hello").returncode == 0


def test_a_piped_terminal_talks_and_its_end_leaves_the_gateway_running(home: Path) -> None:
    with gateway(home, "--terminal") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("/whoami\n")
        process.stdin.close()
        assert "owner" in process.stdout.readline().lower()
        assert shell(home, "chat", "-m", "/whoami").returncode == 0
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0
        assert process.stderr is not None
        assert "Stopping after the current reply (Ctrl-C again to quit now)." in process.stderr.read()


class Terminal:
    """A process on a pseudo-terminal."""

    def __init__(self, home: Path, *words: str, environ: Mapping[str, str] | None = None) -> None:
        self._master, slave = pty.openpty()
        command = [sys.executable, "-m", "gateway", *words]
        variables = environment(home) | dict(environ or {})
        self.process = forked.Popen(
            command, env=variables, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        self.text = ""

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def until(self, text: str, *, after: int = 0) -> int:
        """Read until `text` stands behind position `after`; where it ends."""
        while (at := self.text.find(text, after)) < 0:
            ready, _, _ = select.select([self._master], [], [], 120)
            assert ready, f"{text!r} did not come; this did: {self.text!r}"
            self.text += os.read(self._master, 65536).decode(errors="replace")
        return at + len(text)

    def leaves(self) -> int:
        """Its exit code after Ctrl-D, typed again while it works: between two prompts the terminal may swallow one."""
        for _ in range(120):
            with suppress(OSError, subprocess.TimeoutExpired):
                self.type("\x04")
                return self.process.wait(timeout=1)
        return self.process.wait(timeout=60)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)


@pytest.mark.parametrize("words", [["chat"], ["gateway", "--terminal"]])
def test_a_person_at_a_terminal_talks_and_leaves_with_ctrl_d(home: Path, words: list[str]) -> None:
    terminal = Terminal(home, *words, environ={"TZ": "Europe/Berlin"})
    try:
        at = 0
        if words != ["chat"]:
            at = terminal.until("where you are? [Y/n]: ")
            terminal.type("\n")
        at = terminal.until("> ", after=at)
        terminal.type("/whoami\n")
        at = terminal.until("wner", after=at)
        at = terminal.until("> ", after=at)
        if words == ["chat"]:
            terminal.process.send_signal(signal.SIGINT)
            terminal.until("(Ctrl-D quits)", after=at)
        assert terminal.leaves() == 0
    finally:
        terminal.close()


def test_whoever_starts_it_at_a_terminal_is_told_where_the_page_is(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("timezone: UTC\nchannels: {web: {port: 0}}\n")
    terminal = Terminal(home, "gateway", "--terminal")
    try:
        at = terminal.until("http://127.0.0.1:")
        terminal.until("> ", after=terminal.until("Type a message, or /help.", after=at))
        shown = shell(home, "web").stdout
        assert terminal.text[at:].split()[0] in shown, "the port"
        token = (home / "state" / "web-token").read_text().strip()
        assert token in shown and token not in terminal.text
    finally:
        terminal.close()


def test_the_zone_is_asked_once_in_words_that_people_know(home: Path) -> None:
    for answers in (["n\n", "nowhereville\n", "Tokyo\n"], []):
        terminal = Terminal(home, "gateway", "--terminal", "--no-browser", environ={"TZ": "UTC"})
        try:
            at = 0
            questions = ("where you are? [Y/n]: ", "(or a city): ", "another city) [1]: ")
            for question, answer in zip(questions, answers, strict=False):
                at = terminal.until(question, after=at)
                terminal.type(answer)
            at = terminal.until(" in Tokyo.", after=at)
            assert ("where you are?" in terminal.text) == bool(answers)
            terminal.until("> ", after=terminal.until("Type a message, or /help.", after=at))
            assert terminal.leaves() == 0
        finally:
            terminal.close()
    assert load(Home(home), {}).config.timezone == "Asia/Tokyo"


def test_a_german_terminal_asks_and_greets_in_german(home: Path) -> None:
    german = {"TZ": "UTC", "LC_ALL": "de_DE.UTF-8"}
    terminal = Terminal(home, "gateway", "--terminal", "--no-browser", environ=german)
    try:
        at = terminal.until("Uhr? [J/n]: ")
        terminal.type("vielleicht\n")
        at = terminal.until("Uhr? [J/n]: ", after=at)
        terminal.type("nein\n")
        at = terminal.until("(oder eine Stadt): ", after=at)
        terminal.type("Tokio\n")
        at = terminal.until("Uhr in Tokio.", after=at)
        at = terminal.until("> ", after=terminal.until("Schreib eine Nachricht, oder /help.", after=at))
        terminal.type("/hilfe\n")
        terminal.until("alle Befehle", after=at)
        assert terminal.leaves() == 0
    finally:
        terminal.close()


@pytest.mark.timeout(1_800)
def test_memory_history_and_undo(home: Path) -> None:
    assert shell(home, "chat", "-m", "/remember the car is blue").returncode == 0
    (entry,) = json.loads(shell(home, "memory", "log", "--json").stdout)
    assert set(entry) == {"id", "ts", "scope", "path", "by", "summary"}
    assert "+- " in shell(home, "memory", "diff", entry["id"]).stdout
    assert "Undone in memory/" in shell(home, "memory", "restore", entry["id"]).stdout
    again = shell(home, "memory", "restore", entry["id"])
    assert (again.returncode, again.stdout) == (1, "") and "undone already" in again.stderr
    assert shell(home, "memory", "restore", "nothing").returncode == 1
    assert shell(home, "memory", "restore").returncode == 2
    assert shell(home, "memory", "log", "--scope", "nobody").returncode == 2


@pytest.mark.parametrize("folder", ["elsewhere", "ann/.daybook"])
def test_the_offline_assistant_names_the_env_of_this_home(tmp_path: Path, folder: str) -> None:
    variables = environment(tmp_path / "other") | {"HOME": str(tmp_path / "ann")}
    command = [sys.executable, "-m", "gateway", "--home", str(tmp_path / folder), "chat", "-m", "Help"]
    said = forked.run(command, env=variables, capture_output=True, text=True, timeout=120)
    named = "~/.daybook/.env" if folder.startswith("ann") else str(tmp_path / folder / ".env")
    assert f"putting `ANTHROPIC_API_KEY=…` into `{named}`" in said.stdout


# the time zone


def configure(home: Path, text: str = "") -> None:
    """Without a page: its port is one for all tests that run at once."""
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text(f"{text}channels: {{web: {{enabled: false}}}}\n", "utf-8")
    (home / "config.yaml").chmod(0o600)


@pytest.mark.parametrize("zone", ["CET-1CEST,M3.5.0,M10.5.0/3", "Europe/Berln", ":Mars/Base", "Europe"])
def test_a_tz_that_is_no_zone_is_named_with_a_fix_unless_one_is_configured(home: Path, zone: str) -> None:
    found = {one["check"]: one for one in json.loads(invoke(home, "doctor", "--json", TZ=zone).stdout)}
    assert not found["time zone"]["ok"] and f"TZ is {zone}," in found["time zone"]["message"]
    assert "`timezone: " in found["time zone"]["cure"]
    configure(home, "timezone: Europe/Lisbon\n")
    told = invoke(home, "doctor", "--json", TZ=zone)
    assert told.exit_code == 0 and "time zone" not in {one["check"] for one in json.loads(told.stdout)}


def test_a_clock_on_utc_that_nobody_chose_is_a_hint_of_the_doctor(home: Path) -> None:
    configure(home)
    told = invoke(home, "doctor", TZ="UTC")
    assert told.exit_code == 0 and "time zone: my clock is on UTC (" in told.stdout
    assert invoke(home, "config", "set", "timezone", "UTC").exit_code == 0
    assert "time zone" not in invoke(home, "doctor", TZ="UTC").stdout


@pytest.mark.parametrize(
    ("zone", "known"), [("Asia/Tokyo", "Asia/Tokyo"), (":Asia/Tokyo", "Asia/Tokyo"), ("CST6CDT", "CST6CDT")]
)
def test_a_tz_that_is_a_zone_is_taken(home: Path, zone: str, known: str) -> None:
    configure(home)
    assert invoke(home, "doctor", TZ=zone).exit_code == 0
    assert f"timezone: {known}" in invoke(home, "config", "show", TZ=zone).stdout
