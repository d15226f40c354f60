"""SPEC section 2: its complete example is a configuration, and says the defaults."""

from __future__ import annotations

from datetime import time

import pytest
import yaml

from gateway.config import ConfigError, schema
from gateway.config.loader import parse
from gateway.config.whole import whole

COMPLETE = """
timezone: Europe/Berlin
owners: ["telegram:11111"]
people:
  alice: ["telegram:11111", "discord:22222"]

model:
  provider: anthropic
  name: claude-sonnet-5-5
  api_key: ${ANTHROPIC_API_KEY:-}
  base_url: null
  max_tokens: 8192
  context_window: null
  fallbacks: []
  effort: null
  cache: 5m
  timeout_s: 120
  prices: {}
  daily_budget_usd: null

channels:
  telegram:
    enabled: true
    token: ${TELEGRAM_BOT_TOKEN:-}
    base_url: https://api.telegram.org/bot
    base_file_url: https://api.telegram.org/file/bot
    dm_policy: pairing
    allow: []
    groups: {}
    reaction: null
  discord:
    token: ${DISCORD_BOT_TOKEN:-}
    api_url: https://discord.com/api/v10
    dm_policy: pairing
    allow: []
    guilds: {}
  web:
    enabled: true
    host: 127.0.0.1
    port: 8765
    token: null

agents:
  main: {workspace: workspace}
routes: []

session:
  queue: steer
  queue_cap: 20
  reserve_tokens: 20000
  keep_recent_tokens: 20000
  flush: {enabled: true, soft_threshold_tokens: 4000, prompt: null, system_prompt: null}
  idle_reset_minutes: null
  max_tool_rounds: 40

memory:
  daily_log_days: 2
  max_index_lines: 200
  max_index_bytes: 25000
  max_file_chars: 20000
  max_daily_chars: 8000
  group_daily_logs: own
  journal: true
  search:
    ranking: daybook
    max_chars: 4000
    max_results: 150
    hybrid: {chunk_tokens: 400, chunk_overlap: 80, vector_weight: 0.7, text_weight: 0.3, min_score: 0.35,
             max_results: 6, half_life_days: null, mmr_lambda: null}
    embedding: auto
    extra_paths: []
    transcripts: true
  auto_recall: {enabled: true, max_results: 5, timeout_ms: 300}

tools:
  files: true
  web: true
  web_search: null
  exec: false
  exec_allow: []
  mcp: {}

limits: {person_daily_usd: null, group_daily_usd: null}

media:
  max_mb: 20
  max_pages: 200
  max_chars: 100000
  transcribe: null
  speak: null
  images: null

schedule:
  daily_summary: {enabled: true, time: "21:00", to: owner}
  heartbeat: null
  quiet_hours: null
  catch_up_hours: 12

database_url: null
backup: null
log: {level: info, format: text}
"""
"""As SPEC has it, without its comments."""

KEYS = {"ANTHROPIC_API_KEY": "sk-ant-1", "TELEGRAM_BOT_TOKEN": "1:a"}
OF_THE_EXAMPLE = ("timezone", "owners", "people")
"""What the example writes although it is not the default."""

BEYOND_THE_EXAMPLE = (
    ("model", "servers"),
    ("channels", "web", "public_url"),
    ("channels", "discord", "enabled"),
    ("channels", "discord", "reaction"),
    ("channels", "discord", "shards"),
)
"""Keys that SPEC's example does not have; all are off, or as the example says, by default."""


def test_the_complete_example_is_valid_without_a_warning() -> None:
    loaded = parse(COMPLETE, KEYS)
    assert loaded.warnings == ()
    assert loaded.config.schedule.daily_summary.time == time(21)


def test_every_value_of_the_complete_example_is_the_default() -> None:
    written = parse(COMPLETE, KEYS).config.model_dump(exclude=set(OF_THE_EXAMPLE))
    assert written == parse("", KEYS).config.model_dump(exclude=set(OF_THE_EXAMPLE))


def test_the_complete_example_leaves_no_key_out() -> None:
    def keys(value: object) -> object:
        return {name: keys(inner) for name, inner in value.items()} if isinstance(value, dict) else None

    known = keys(parse("", KEYS).config.model_dump())
    written = keys(yaml.safe_load(COMPLETE))
    assert isinstance(known, dict) and isinstance(written, dict)
    del known["agents"], known["people"], written["agents"], written["people"]  # a dict each
    for *path, name in BEYOND_THE_EXAMPLE:
        section = known
        for part in path:
            section = section[part]
        del section[name]
    assert written == known


def test_the_schema_names_every_section_of_the_example() -> None:
    document = yaml.safe_load(schema())
    beyond = {path[0] for path in BEYOND_THE_EXAMPLE if len(path) == 1}
    assert set(yaml.safe_load(COMPLETE)) | beyond == set(document["properties"]) == set(whole().model_fields)


def test_the_schema_lets_people_write_what_the_loader_reads() -> None:
    """An editor that checks by it must not complain of `to: owner`, of ids as numbers, or of an agent without a
    workspace."""
    parts = yaml.safe_load(schema())["$defs"]
    assert {"type": "string"} in parts["SummaryConfig"]["properties"]["to"]["anyOf"]
    assert {"type": "integer"} in parts["TelegramConfig"]["properties"]["allow"]["items"]["anyOf"]
    assert "required" not in parts["AgentConfig"]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("telegram:\n  token: x\n", "it belongs under another key: channels.telegram"),
        ("api_key: x\n", "model.api_key"),
        ("zzz: 1\n", "known here: agents"),
    ],
)
def test_a_key_in_the_wrong_place_is_sent_to_the_right_one(text: str, hint: str) -> None:
    [warning] = parse(text, {}).warnings
    assert warning.line == 1
    assert hint in warning.text


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("log: {level: info}\nmodel: \0x\n", 2, "U+0000"),
        ("owners: ['discrod:2']\n", 1, "did you mean 'discord'?"),
        ("model:\n  base_url: http://me:hunter2@host/\n", 2, "found 'http://***@host/'"),
    ],
)
def test_what_is_odd_is_named_with_its_line_and_without_its_secret(text: str, line: int, says: str) -> None:
    with pytest.raises(ConfigError) as failed:
        parse(text, {})
    [problem] = failed.value.problems
    assert problem.line == line
    assert says in problem.text
    assert "hunter2" not in str(failed.value)


@pytest.mark.parametrize("value", ["0", "-1", "2.5", "1001", "many", "true", "'3'", "[1]", "{}"])
def test_a_number_of_shards_that_cannot_be_is_an_error_in_words(value: str) -> None:
    with pytest.raises(ConfigError) as failed:
        parse(f"channels:\n  discord:\n    shards: {value}\n", {})
    [problem] = failed.value.problems
    assert (problem.line, problem.key) == (3, "channels.discord.shards")
    assert "allowed: `auto`, or a whole number from 1 to 1000" in problem.text


@pytest.mark.parametrize(("value", "shards"), [("null", None), ("1", 1), ("1000", 1000), ("auto", "auto")])
def test_a_number_of_shards_or_as_many_as_discord_recommends(value: str, shards: int | str | None) -> None:
    loaded = parse(f"channels:\n  discord:\n    shards: {value}\n", {})
    assert loaded.warnings == () and loaded.config.channels.discord.shards == shards
