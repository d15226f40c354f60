"""What is said of a configuration that is wrong, in English and in other languages."""

from __future__ import annotations

import re

import pytest

from agent.languages.codes import Language
from agent.languages.sentences import translated
from gateway.config import ConfigError
from gateway.config.loader import parse
from tests.english import english_in
from tests.gateway.config.test_config import failed, problems

WRONG = [
    ("a:\n\tb: 1", "config.yaml:2: not valid YAML: found a tab"),
    ("a: [1", "not valid YAML"),
    ("channels: {web: {port: ${PORT}}}", "between brackets a ${NAME} needs quotes"),
    ("a: b: c", "config.yaml:1: not valid YAML"),
    ("- 1", "config.yaml:1: found a list at the top"),
    ("just words", "config.yaml:1: found a single value at the top"),
    ("model: {name: a}\nmodel: {name: b}", "config.yaml:2: model: written twice (first in line 1)"),
    ("x: &a [*a]", "an alias that contains itself"),
    ("? [a, b]\n: 1", "a key that is not a word"),
    ("x: !!python/object:os.system 1", "the tag"),
    ("timezone: europe/berlin", "did you mean 'Europe/Berlin'?"),
    ("owners: ['telegram:bob']", "a platform and a numeric id"),
    ("channels: {telegram: {groups: {'@club': {}}}}", "a numeric chat id"),
    ("channels: {web: {port: 70000}}", "not above 65535"),
    ("channels: {telegram: {base_url: 'api.telegram.org'}}", "http:// or https://"),
    ("model: {base_url: 'https://me:pw@host'}", "without a user name"),
    ("schedule: {daily_summary: {time: 24:00}}", "a time of day"),
    ("schedule: {quiet_hours: '23:00'}", "two times of day"),
    ("schedule: {daily_summary: {to: [nobody]}}", "addresses of chats"),
    ("memory: {search: {embedding: {dir: x}}}", "model_dir"),
    (
        "media: {transcribe: whisper}",
        "config.yaml:1: media.transcribe: found 'whisper'; allowed: `null`, or lines with",
    ),
    ("media: {transcribe: {command: whisper}}", "media.transcribe.command: found 'whisper'; allowed: a command"),
    ("media: {transcribe: {base_url: 'http://e'}}", "media.transcribe.model: is missing"),
    (
        "media: {speak: piper}",
        "found 'piper'; allowed: `null`, or lines with `base_url`, `model` and `voice`, or with `command`",
    ),
    ("media: {speak: {command: [piper]}}", "one of which has {file} in it"),
    ("media: {speak: {base_url: 'http://e', model: m}}", "media.speak.voice: is missing"),
    ("media: {speak: {command: [a, '{file}'], when: sometimes}}", "media.speak.when: found 'sometimes'"),
    ("media: {images: {base_url: 'http://e'}}", "media.images.model: is missing"),
    ("media: {images: {base_url: 'ftp://e', model: m}}", "http:// or https://"),
    ("media: {max_mb: 0}", "greater than 0"),
    ("memory: {search: {hybrid: {chunk_overlap: 400}}}", "less than `chunk_tokens`"),
    ("routes: [{channel: telegram, agent: mian}]", "did you mean 'main'?"),
    ("people: {telegram-1: []}", "choose another name"),
    ("people: {a: ['telegram:1'], b: ['telegram:1']}", "an account belongs to one person"),
    ("people: {Ann: [], ann: []}", "only in upper and lower case"),
    ("agents: {main: {}, b: {workspace: workspace/b}}", "overlaps the workspace of 'main'"),
    ("agents: {main: {workspace: state}}", "a folder of its own"),
    ("agents: {main: {workspace: ..}}", "a folder of its own"),
    ("agents: {'../x': {}}", "a short name"),
    ("model: 3", "`key: value` lines"),
    ('model: {name: "a', "never closed"),
    ("model:\n  name: a\n x: b", "the indentation"),
    ("model:\n  name: a\n  b\n", "a `:` is missing"),
    ("model: {name: %x}", "a sign that no value begins with"),
    ("x: &a 1\ny: {<<: *a}", "`<<` takes"),
    ("tools: {web_search: {kind: bing}}", "tools.web_search: found 'bing'; allowed: searxng, brave, anthropic"),
    ("tools: {web_search: {base_url: 'http://e'}}", "lines with the key 'kind'"),
    ("tools: {mcp: {x: {}}}", "with `url` (a server)"),
    ("tools: {mcp: {x: {command: []}}}", "a command as a list of words"),
    ("tools: {exec_allow: [[]]}", "an empty list would allow all"),
    ("tools: {exec: maybe}", "`true` or `false`"),
    ("model: {max_tokens: many}", "a whole number"),
    ("model: {max_tokens: null, timeout_s: soon}", "a number"),
    ("model: {name: 3}", "text (put"),
    ("model: {name: ''}", "not empty"),
    ("memory: {search: {hybrid: {min_score: 2}}}", "not above 1"),
    ("schedule: {heartbeat: {every: soon}}", "an interval such as 30m"),
    ("schedule: {heartbeat: {every: [1]}}", "an interval such as 30m"),
    ("schedule: {heartbeat: {every: 5s}}", "an interval such as 30m"),
    ("owners: telegram", "a list"),
    ("backup: {}", "backup.to: is missing"),
    ("backup: {to: here}", "a folder outside of the home"),
    ("database_url: mysql", "postgresql://"),
    ("model: {api_key: '${KEY}'}", "needs ${KEY}"),
    ("channels: {discord: {shards: many}}", "a whole number from 1"),
    ("timezone: CEST", "did you mean 'Europe/Berlin'?"),
]
"""Configurations, each with words of what is said of it."""


@pytest.mark.parametrize(("text", "says"), WRONG)
def test_what_is_wrong_is_said(text: str, says: str) -> None:
    assert says in "\n".join(problems(text))


ODD = """\
nonsense: 1
model: {provider: openai, fallbacks: ['anthropic:b'], daily_budget_usd: 1, port: 2, xyz: 3}
channels: {telegram: {enabled: true}, web: {host: 0.0.0.0, token: short}}
"""
TYPED = re.compile(
    r"'[^']*'|\"[^\"]*\"|\[[^]]*]|\w+://\S+|config\.yaml:\d+(?:: [\w.\[\]]+: )?|\$\{\w+}|\w+(?:\.\w+)+"
    r"|(?:[a-z_]+, ){2,}[a-z_]+|\(ssh -L\)|/whoami"
)
"""Names and values, which are the same in every language."""


@pytest.mark.parametrize("language", [Language(code) for code in ("de", "fr", "zh")])
def test_whoever_shows_it_says_it_in_another_language(language: Language) -> None:
    for error in [*(failed(text) for text, _ in WRONG), ConfigError(parse(ODD, {}).warnings)]:
        shown = str(translated(language, error))
        assert english_in(TYPED.sub(" ", shown), language, "main") == [], shown
