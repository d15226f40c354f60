"""The command line in the terminal's language."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agent.languages.codes import Language
from gateway.cli import COMMANDS, command_of
from tests.english import english_in
from tests.fakes.anthropic import FakeAnthropic
from tests.gateway.cli.test_cli import invoke
from tests.gateway.cli.test_init import KEY, answers

LANGUAGES = [Language(code) for code in ("de", "fr", "zh")]
TYPED = re.compile(r"(?<![\w-])--?[a-z][\w-]*|daybook(?: [a-z]+)*|[\w.-]+\.(?:com|json|md|yaml|web\.port)\b|\$\w+")
"""Names of options, commands, files and variables, which are the same in every language."""

NAMES = re.compile(r"^  [a-z]+(?=  )|\[(?:message\|prompt|bash\|zsh\|fish)\]|URL\|sqlite|\w+(?=\])", re.MULTILINE)
"""In a help: commands, values to choose from, defaults."""

OTHERS = re.compile(
    r"connection (?:failed|to server).*refused|(?<=`)\S+ -m gateway|config\.yaml:\d+: [\w.]+: |[\w, ]+timezone, tools"
)
"""What libraries say, how the command line was started, keys and lists of keys."""

QUOTED = ("telegram", "notes", "discord", "web", "daybook", "journal", "daily-summary", "heartbeat", "owner", "x:1")
"""Names that are typed."""


def commands(command: click.Command, *words: str) -> Iterator[tuple[str, ...]]:
    """What is typed for the command and those in it."""
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *words, name)


EVERY = [(), *(words for name in COMMANDS for words in commands(command_of(name), name))]


def in_terminal(language: Language, home: Path, *words: str, stdin: str = "") -> str:
    done = invoke(home, *words, stdin=stdin, LC_ALL=f"{language}.UTF-8")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.output


def english(text: str, language: Language, *quoted: str) -> list[str]:
    return english_in(TYPED.sub(" ", text), language, *quoted)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_help_of_every_command_is_in_the_terminals_language(tmp_path: Path, language: Language) -> None:
    for words in EVERY:
        shown = in_terminal(language, tmp_path, *words, "--help")
        assert english(NAMES.sub(" ", shown), language) == [], shown


def test_the_table_says_of_a_command_what_its_help_begins_with() -> None:
    for name, command in COMMANDS.items():
        assert (command_of(name).help or "").split("\n\n")[0] == command.help


def test_an_english_terminal_after_another_is_answered_in_english(tmp_path: Path) -> None:
    assert "Befehle:" in in_terminal(LANGUAGES[0], tmp_path, "--help")
    for words in EVERY:
        shown = invoke(tmp_path, *words, "--help", LC_ALL="C").output
        assert shown.startswith("Usage: ") and "Show this message and exit." in shown


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "words",
    [
        ("dance",),
        ("statsu",),
        ("status", "--nothing"),
        ("status", "extra"),
        ("backup",),
        ("restore", "nowhere"),
        ("usage", "--days", "0"),
        ("usage", "--days", "many"),
        ("completion", "tcsh"),
        ("sessions", "prune"),
        ("chat", "-m"),
    ],
)
def test_wrong_usage_is_said_in_the_terminals_language(
    tmp_path: Path, language: Language, words: tuple[str, ...]
) -> None:
    said = in_terminal(language, tmp_path, *words)
    assert english(said, language, *words, "'status'", "'bash', 'zsh', 'fish'", "bash|zsh|fish", "x>=1") == [], said


YES_AND_NO = {"de": ("j", "nein"), "fr": ("oui", "n"), "zh": ("是", "不")}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_set_up_is_a_dialogue_in_the_terminals_language(tmp_path: Path, language: Language) -> None:
    _, no = YES_AND_NO[language]
    home = tmp_path / "home"
    with FakeAnthropic.in_thread(KEY) as model:
        del model.models["claude-sonnet-5-5"]
        model.reply = lambda _: "42"
        typed = ["Ann", "Mars/Base", "UTC", "sk-wrong", "nowhere", model.base_url, KEY, "", "9", "claude-haiku-5-5"]
        lines = answers(*typed, "", "bob", "42", "", "25:00", "21:00", "maybe", no)
        first = in_terminal(language, home, "init", stdin=lines)
        again = in_terminal(language, home, "init", stdin=answers(*[""] * 8))
    names = ("@BotFather", "sk-wrong", "claude", "opus", "haiku", "sonnet", "localhost", "UTC", "maybe", "off", "bob")
    for shown in (first, again):
        assert english(shown.replace(str(tmp_path), ""), language, *typed, *names) == [], shown
    assert (home / "state" / "embedder-declined").exists() or "nein" not in first


@pytest.mark.parametrize("language", LANGUAGES)
def test_answers_of_commands_are_in_the_terminals_language(tmp_path: Path, language: Language) -> None:
    home = tmp_path / "home"
    added = in_terminal(language, home, "schedule", "add", "2 + 2", "--cron", "0 8 * * 1-5", "--id", "x")
    assert english(added, language) == [], added
    typed = [
        ("schedule", "list"),
        ("schedule", "pause", "x"),
        ("schedule", "resume", "x"),
        ("schedule", "run", "x"),
        ("schedule", "history"),
        ("schedule", "remove", "x"),
        ("schedule", "remove", "x"),
        ("schedule", "add", "2 + 2", "--when", "gibberish"),
        ("schedule", "add", "2 + 2"),
        ("status",),
        ("usage",),
        ("sessions", "list"),
        ("sessions", "list", "--archived"),
        ("sessions", "show", "1"),
        ("pair", "list"),
        ("pair", "approve", "X"),
        ("pair", "revoke", "x:1"),
        ("skills", "list"),
        ("skills", "show", "x"),
        ("import", "list"),
        ("import", "undo", "x"),
        ("import", "text", str(tmp_path / "notes")),
        ("import", "list"),
    ]
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "1.md").write_text("2\n")
    for words in typed:
        shown = in_terminal(language, home, *words)
        ours = re.sub("How the daybook's .*", "", shown.replace(str(tmp_path), ""))  # a skill's own description
        assert english(ours, language, *words, *QUOTED) == [], (words, shown)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("configuration", "words"),
    [
        ("", ("logs",)),
        ("", ("web",)),
        ("channels: {web: {enabled: false}}", ("web",)),
        ("channels: {web: {token: ''}, telegram: {enabled: true}}", ("web",)),
        ("", ("migrate", "sqlite")),
        ("database_url: postgresql://x", ("migrate", "sqlite")),
        ("", ("migrate", "postgresql://x")),
        ("database_url: postgresql://127.0.0.1:1/x", ("status",)),
        ("model: {max_tokens: many}\nnonsense: 1", ("status",)),
        ("model: {max_tokens: many}", ("doctor",)),
        ("model: {max_tokens: many}", ("doctor", "--security")),
        (
            "channels: {telegram: {token: '1:ABCDEFGH', dm_policy: open, groups: {-5: {}}}, web: {host: 10.0.0.1}}\n"
            "tools: {exec: true, mcp: {files: {command: [a], ask: none}}}",
            ("doctor", "--security"),
        ),
        ("", ("doctor", "--fix")),
        ("", ("--home", "/dev/null/home", "status")),
        ("", ("--home", "~nobody-of-that-name/home", "status")),
    ],
)
def test_what_cannot_be_done_is_said_in_the_terminals_language(
    tmp_path: Path, language: Language, configuration: str, words: tuple[str, ...]
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").write_text(configuration)
    shown = in_terminal(language, home, *words)
    ours = OTHERS.sub("", shown.replace(str(home), ""))
    assert shown and english(ours, language, *words, *QUOTED, "'many'", "gateway.log", "ok  ") == [], shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_yes_of_the_language_deletes_and_a_no_ends_the_command(tmp_path: Path, language: Language) -> None:
    yes, no = YES_AND_NO[language]
    for answer, code in ((no, 1), ("", 1), (yes, 0)):
        done = invoke(tmp_path / "home", "sessions", "prune", "--days", "9", stdin=f"{answer}\n", LC_ALL=language)
        assert done.exit_code == code and english(done.output, language) == [], done.output


def test_machines_are_answered_in_english_whatever_the_terminal(tmp_path: Path) -> None:
    words = ("schedule", "add", "Tea", "--every", "1d", "--id", "tea", "--json")
    done = invoke(tmp_path / "home", *words, LC_ALL="de_DE.UTF-8")
    assert json.loads(done.stdout)["message"].startswith("Added tea. Next: ")
