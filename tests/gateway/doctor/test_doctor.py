"""The doctor: each problem is found, with its fix, and nothing is changed."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from channels.checks import Finding
from gateway.cli import daybook
from gateway.doctor.examine import examine
from gateway.doctor.mend import mend
from gateway.home import Home
from gateway.store.schema import migrate
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.openai import FakeOpenAI

TOKEN = "123456789:AAF0123456789abcdefghijklmnopqrstuv"


class World(ThreadingHTTPServer):
    """Telegram and a model's server in one: `answers` by path, and how wrong this machine's clock is."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, tuple[int, object]] = {}
        self.ahead = timedelta()
        self.keys: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: World

    def do_GET(self) -> None:
        self.server.keys.append(self.headers.get("x-api-key"))
        status, body = self.server.answers.get(self.path, (404, {}))
        self.send_response_only(status)
        self.send_header("Date", format_datetime(datetime.now(UTC) + self.server.ahead, usegmt=True))
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        thread = threading.Thread(target=world.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield world
        world.shutdown()
        thread.join()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


def bad(home: Home, **environ: str) -> list[Finding]:
    """But for the page's usual port, which the Daybook of whoever runs the tests may have."""
    found = [finding for finding in examine(home, environ) if not finding.ok and finding.check != "web"]
    assert all(finding.fix for finding in found)
    return found


def connect(home: Home, world: World) -> None:
    telegram = f"{{token: '{TOKEN}', base_url: '{world.url}/bot'}}"
    home.config_file.write_text(
        f"channels: {{telegram: {telegram}}}\nmodel: {{base_url: '{world.url}', api_key: key-1, name: m}}\n"
    )
    home.config_file.chmod(0o600)
    world.answers[f"/bot{TOKEN}/getMe"] = (200, {"ok": True, "result": {"username": "ann_bot"}})
    world.answers["/v1/models/m"] = (200, {"id": "m"})


def test_a_new_home_is_well(home: Home) -> None:
    assert bad(home) == []


def test_a_home_that_is_not_there_yet_is_well_too(tmp_path: Path) -> None:
    assert bad(Home(tmp_path / "none")) == []
    assert not (tmp_path / "none").exists()


def test_servers_are_asked_past_any_proxy_with_the_key(
    home: Home, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(home, world)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert bad(home) == []
    messages = {finding.check: finding.message for finding in examine(home, {})}
    assert messages["telegram"] == "connected as @ann_bot"
    assert "key-1" in world.keys


def in_groups(home: Home, world: World, groups: str, **bot: object) -> list[Finding]:
    """What is said of groups, with a bot as Telegram tells of it."""
    connect(home, world)
    settings = home.config_file.read_text().replace("base_url: '", f"groups: {groups}, base_url: '", 1)
    home.config_file.write_text(settings)
    world.answers[f"/bot{TOKEN}/getMe"] = (200, {"ok": True, "result": {"id": 42, "username": "ann_bot"} | bot})
    return [finding for finding in examine(home, {}) if finding.check == "telegram groups"]


def test_privacy_mode_that_makes_the_bot_deaf_is_named_with_its_fix(home: Home, world: World) -> None:
    """Where it should answer without being called, but Telegram passes on only what calls it."""
    groups = "{-1001: {mention: optional}, -1002: {mention: optional}, -1003: {mention: required}}"
    administrator = {"ok": True, "result": {"status": "administrator"}}
    world.answers[f"/bot{TOKEN}/getChatMember?chat_id=-1002&user_id=42"] = (200, administrator)
    (deaf,) = in_groups(home, world, groups, can_read_all_group_messages=False)
    assert not deaf.ok
    assert "-1001" in deaf.message
    assert "/setprivacy" in deaf.fix
    assert TOKEN not in str(deaf)
    assert in_groups(home, world, groups, can_read_all_group_messages=True) == []


def test_privacy_mode_is_explained_where_it_does_no_harm(home: Home, world: World) -> None:
    (explained,) = in_groups(home, world, "{-1003: {mention: required}}", can_read_all_group_messages=False)
    assert explained.ok
    assert "privacy mode is on" in explained.message
    assert in_groups(home, world, "{}", can_read_all_group_messages=False) == []


def test_refused_keys_and_unreachable_servers_are_told_without_the_secret(home: Home, world: World) -> None:
    connect(home, world)
    world.answers = {f"/bot{TOKEN}/getMe": (401, {}), "/v1/models/m": (401, {})}
    assert [finding.check for finding in bad(home)] == ["telegram", "model"]
    world.shutdown()
    world.server_close()
    text = str(bad(home))
    assert "can't reach" in text
    assert TOKEN not in text
    assert "key-1" not in text


def test_a_token_of_the_wrong_shape_is_not_sent_anywhere(home: Home, world: World) -> None:
    home.config_file.write_text(f"channels: {{telegram: {{token: abc, base_url: '{world.url}/bot'}}}}")
    home.config_file.chmod(0o600)
    (finding,) = bad(home)
    assert "doesn't look like a bot token" in finding.message
    assert world.keys == []


def test_a_wrong_clock_is_found_by_the_servers(home: Home, world: World) -> None:
    connect(home, world)
    world.ahead = timedelta(minutes=10)
    assert {finding.check for finding in bad(home)} == {"clock"}


def test_index_and_clock_are_always_told_of(home: Home) -> None:
    found = {finding.check: finding for finding in examine(home, {})}
    assert found["index"].ok and "no search index yet" in found["index"].message
    assert found["clock"].ok and "no server was asked" in found["clock"].message


def test_a_damaged_index_is_found_and_says_how_it_is_mended(home: Home) -> None:
    (home.state / "memory.db").write_bytes(b"no database at all" * 100)
    (finding,) = bad(home)
    assert (finding.check, "memory index --force" in finding.fix) == ("index", True)


def test_an_invalid_configuration_does_not_hide_the_rest(home: Home) -> None:
    home.config_file.write_text("model: {max_tokens: no}")
    home.state.chmod(0o755)
    checks = [finding.check for finding in bad(home)]
    assert checks == ["config", "permissions", "permissions"]


def test_what_others_can_read_is_named_with_the_command_that_closes_it(home: Home) -> None:
    home.env_file.write_text("A=1")
    home.env_file.chmod(0o644)
    (finding,) = bad(home)
    assert finding.fix == f"chmod go-rwx {home.env_file}"


def test_a_page_that_is_no_text_is_named(home: Home) -> None:
    workspace = home.path / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_bytes(b"\xff\xfe\x00")
    (workspace / "USER.md").symlink_to("/nowhere")
    (finding,) = bad(home)
    assert "MEMORY.md is not UTF-8" in finding.message


def test_a_folder_in_a_pages_place_and_a_read_only_page_are_named(home: Home) -> None:
    memory = home.path / "workspace" / "memory"
    (memory / "2026-11-21.md").mkdir(parents=True)
    (home.path / "workspace" / "MEMORY.md").write_text("- tea\n")
    (home.path / "workspace" / "MEMORY.md").chmod(0o400)
    (memory / "2026-11-20.md").write_bytes(b"- caf\xe9\n")
    found = {Path(one.message.split()[0]).name: one for one in examine(home, {}) if one.check == "workspace"}
    assert not found["2026-11-21.md"].ok and "is a folder" in found["2026-11-21.md"].message
    assert not found["2026-11-20.md"].ok and "UTF-8" in found["2026-11-20.md"].message
    assert found["MEMORY.md"].ok and "is read-only" in found["MEMORY.md"].message


def test_what_a_talk_is_still_owed_is_told(home: Home) -> None:
    folder = home.sessions / "main" / "owner"
    folder.mkdir(parents=True)
    (folder / "20261121-073000-000-aaaa-e000002.owed").write_text("{}")
    (told,) = (one for one in examine(home, {}) if "HISTORY.md" in one.message)
    assert told.ok and told.message.startswith("1 part of a conversation waits")


def test_damaged_transcripts_are_named_and_a_torn_tail_is_no_damage(home: Home) -> None:
    folder = home.sessions / "main" / "owner"
    folder.mkdir(parents=True)
    (folder / "broken.jsonl").write_text("not a header\n")
    (finding,) = bad(home)
    assert finding.check == "transcripts"
    assert "broken.jsonl" in finding.message


def test_a_database_that_is_none_is_told(home: Home) -> None:
    home.database.write_bytes(b"x" * 4096)
    home.database.chmod(0o600)
    (finding,) = bad(home)
    assert finding.check == "queue"


def test_messages_that_wait_for_long_are_told(home: Home) -> None:
    with closing(sqlite3.connect(home.database)) as connection:
        migrate(connection, home.database)
        long_ago = "2020-01-01T00:00:00.000Z"
        connection.executescript(
            "INSERT INTO inbox (channel, account, id, state, session, chat_id, platform_id, message, received_at)"
            f" VALUES ('', '', '1', 'waiting', '', '', '', '', '{long_ago}'),"
            f" ('', '', '2', 'done', '', '', '', '', '{long_ago}');"
            "INSERT INTO outbox (key, channel, account, chat_id, text, state, created_at)"
            f" VALUES ('1', '', '', '', '', 'sent', '{long_ago}');"
        )
    home.database.chmod(0o600)
    (finding,) = bad(home)
    assert (finding.check, finding.message) == ("inbox", "1 message has been waiting for more than 15 minutes")


def test_a_home_that_cannot_be_made_is_named_with_its_fix(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    [finding] = bad(Home(tmp_path / "file" / "home"))
    assert finding.message == f"{tmp_path / 'file'} is not a folder"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("name", ["", "home"])
def test_a_home_that_may_not_be_entered_is_one_problem(tmp_path: Path, name: str) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    try:
        assert {finding.check for finding in bad(Home(closed / name))} <= {"config", "home"}
    finally:
        closed.chmod(0o700)


def discord_findings(world: World, home: Home, answer: tuple[int, object], more: str = "") -> list[Finding]:
    world.answers["/api/v10/applications/@me"] = answer
    home.config_file.write_text(f"channels: {{discord: {{token: t0, api_url: '{world.url}/api/v10'{more}}}}}")
    return [finding for finding in examine(home, {}) if finding.check == "discord"]


def test_discord_is_there_and_its_bot_may_read(world: World, home: Home) -> None:
    found = discord_findings(world, home, (200, {"name": "Ann", "flags": 1 << 19}), ", guilds: {42: {}}")
    assert [one.message for one in found] == ["connected as Ann", "the bot can read messages", "servers listed: 1"]


@pytest.mark.parametrize(
    ("servers", "more", "ok", "says"),
    [
        (2500, "", True, "the bot can read messages"),
        (2501, "", False, "about 2501 servers, but its connections may serve only 2500"),
        (5000, ", shards: 2", True, "connections that share the servers: 2"),
        (5001, ", shards: 2", False, "about 5001 servers, but its connections may serve only 5000"),
        (9999, ", shards: auto", True, "as many connections as Discord recommends"),
        ("many", ", shards: 2", True, "connections that share the servers: 2"),
    ],
)
def test_discord_with_more_servers_than_its_connections_may_serve(
    world: World, home: Home, servers: object, more: str, ok: bool, says: str
) -> None:
    answer = {"name": "Ann", "flags": 1 << 19, "approximate_guild_count": servers}
    found = discord_findings(world, home, (200, answer), more)
    assert any(says in one.message for one in found)
    assert [one.fix for one in found if not one.ok] == (
        [] if ok else ["set channels.discord.shards: auto in config.yaml, then start Daybook again"]
    )


@pytest.mark.parametrize(
    ("answer", "fix"),
    [
        ((401, {}), "Reset Token"),
        ((200, {"name": "Ann", "flags": 0}), "Message Content Intent"),
        ((503, {}), "a few minutes"),
        ((429, {}), "another bot behind the same address"),
    ],
)
def test_what_is_wrong_with_discord(world: World, home: Home, answer: tuple[int, object], fix: str) -> None:
    (found,) = [one for one in discord_findings(world, home, answer) if not one.ok]
    assert fix in found.fix


def test_a_model_that_a_server_of_ones_own_lacks_is_found_with_those_it_has(home: Home) -> None:
    with FakeAnthropic.in_thread("key-1") as server:
        config = "model: {{base_url: '{}', api_key: key-1, name: {}}}\n"
        home.config_file.write_text(config.format(server.base_url, "claude-typo"))
        home.config_file.chmod(0o600)
        (missing,) = bad(home)
        assert missing.check == "model" and missing.message.endswith("has no model claude-typo")
        assert "claude-opus-5-5" in missing.fix
        home.config_file.write_text(config.format(server.base_url, "claude-opus-5-5"))
        assert bad(home) == []
        assert not server.requests[1:], "a model that is listed is asked nothing"


def test_a_server_that_reads_only_bearer_tokens_takes_the_key(home: Home) -> None:
    with FakeAnthropic.in_thread("key-1") as server:
        server.bearer_only = True
        home.config_file.write_text(f"model: {{base_url: '{server.base_url}', api_key: key-1}}\n")
        home.config_file.chmod(0o600)
        assert bad(home) == []


def test_a_chat_completions_server_is_asked_in_its_own_way(home: Home) -> None:
    with FakeOpenAI.in_thread("key-1") as server:
        config = "model: {{provider: openai, base_url: '{}', api_key: {}, name: {}}}\n"
        home.config_file.write_text(config.format(server.base_url, "key-1", "llama3.3"))
        home.config_file.chmod(0o600)
        assert bad(home) == []
        home.config_file.write_text(config.format(f"{server.base_url}/v1", "key-1", "gpt-typo"))
        (missing,) = bad(home)
        assert missing.message.endswith("has no model gpt-typo") and "llama3.3" in missing.fix
        home.config_file.write_text(config.format(server.base_url, "key-2", "llama3.3"))
        (refused,) = bad(home)
        assert "doesn't accept the key" in refused.message


def test_a_server_that_answers_under_any_name_is_well(home: Home, world: World) -> None:
    """llama.cpp lists the one model that it has loaded, and does not mind the name."""
    connect(home, world)
    world.answers["/v1/models/m"] = (404, {})
    world.answers["/v1/models?limit=1000"] = (200, {"data": [{"id": "qwen.gguf"}]})
    world.answers["/v1/messages"] = (200, {"content": [{"type": "text", "text": "Hi."}]})
    assert bad(home) == []


def test_fix_mends_what_is_harmless_and_says_so(home: Home, tmp_path: Path) -> None:
    home.config_file.write_text("log: {level: info}\n")
    home.config_file.chmod(0o644)
    home.media.rmdir()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(os.path.relpath(home.socket))
    said = mend(home, {})
    assert any(str(home.media) in one for one in said) and any("for you only" in one for one in said)
    assert any("left that was killed" in one for one in said)
    assert (home.path / "workspace" / "AGENTS.md").exists()
    assert home.config_file.stat().st_mode & 0o777 == 0o600 and not home.socket.exists()
    assert bad(home) == [] and mend(home, {}) == []


def test_fix_leaves_a_running_daybooks_socket_alone(home: Home) -> None:
    with socket.socket(socket.AF_UNIX) as live, home.hold():
        live.bind(os.path.relpath(home.socket))
        mend(home, {})
        assert home.socket.exists()


def test_fix_of_a_home_that_cannot_be_made_ends_calmly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert mend(Home(tmp_path / "file"), {}) == []


@pytest.mark.parametrize(("text", "end"), [("", "All is well."), ("log: {level: loud}", "1 problem; its fix is above")])
def test_the_last_line_says_how_many_problems_there_are(home: Home, text: str, end: str) -> None:
    home.config_file.write_text(f"{text}\nchannels: {{web: {{enabled: false}}}}\n")
    home.config_file.chmod(0o600)
    done = CliRunner().invoke(daybook, ["--home", str(home.path), "doctor"])
    assert done.output.rstrip().splitlines()[-1].startswith(end)
    assert done.exit_code == (0 if end.startswith("All") else 1)


@pytest.mark.parametrize(
    ("locale", "line"),
    [
        ("de_DE.UTF-8", "ok   Warteschlange: nichts wartet"),
        ("fr", "Tout va bien."),
        ("xx_XX", "ok   queue: nothing is waiting"),
    ],
)
def test_a_terminal_reads_it_in_its_language(home: Home, locale: str, line: str) -> None:
    home.config_file.write_text("channels: {web: {enabled: false}}\n")
    home.config_file.chmod(0o600)
    done = CliRunner().invoke(daybook, ["--home", str(home.path), "doctor"], env={"LC_ALL": locale})
    assert line in done.output.splitlines()


@pytest.mark.parametrize("name", ["memory", "memory/notes", "people", "skills"])
def test_a_folder_of_the_layout_that_is_a_file_is_not_well(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / "home")
    home.create()
    place = home.workspace("workspace") / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("a file")
    found = [one for one in examine(home, {}) if not one.ok and one.check == "workspace"]
    assert [one.message for one in found] == [f"{place} should be a folder, but it is a file"]
    assert "move it" in found[0].fix


def test_the_home_of_a_newer_daybook_is_not_well(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    with closing(sqlite3.connect(home.database)) as database:
        migrate(database, home.database)
        database.execute("PRAGMA user_version = 9999")
    found = [one for one in examine(home, {}) if not one.ok and one.check == "queue"]
    assert "written by a newer Daybook (schema 9999" in found[0].message and "update" in found[0].fix
