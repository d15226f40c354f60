"""A sentence for each key of `config.yaml` that does not describe itself, and the page `docs/configuration.md` that
shows all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from channels.registry import MANIFESTS
from gateway.config.whole import added, whole

_SENTENCES: Mapping[str, str] = {
    "timezone": "Your time zone, as `Europe/Berlin`. By default that of the computer.",
    "owners": "Your accounts, as `telegram:11111`. The first who is approved by a code becomes the owner.",
    "people.*": "One person's accounts on several platforms: one conversation, one memory.",
    "model.provider": "`anthropic`: the Messages API. `openai`: chat completions, at OpenAI or any server that speaks "
    "them. `offline`: notes and commands without a model. By default `anthropic` if there is a key or an address.",
    "model.api_key": "Better in `.env` as `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, where it is found by itself.",
    "model.base_url": "Another server that speaks the provider's API, with or without `/v1`.",
    "model.name": "The model, by the name it has there.",
    "model.max_tokens": "The longest answer, in tokens.",
    "model.context_window": "The model's room in tokens, where the server does not tell it.",
    "model.fallbacks": "Models to try in turn when this one does not answer; `openai:NAME` or `anthropic:NAME` at "
    "another provider's server.",
    "model.servers.anthropic.base_url": "Where `anthropic:NAME` is asked, if not at Anthropic.",
    "model.servers.anthropic.api_key": "Its key. Better in `.env` as `ANTHROPIC_API_KEY`.",
    "model.servers.openai.base_url": "Where `openai:NAME` is asked, if not at OpenAI.",
    "model.servers.openai.api_key": "Its key. Better in `.env` as `OPENAI_API_KEY`.",
    "model.effort": "How hard it thinks, where the model knows that.",
    "model.cache": "How long the server keeps the beginning of a conversation: it makes long ones cheap.",
    "model.timeout_s": "Seconds without a sign from the server after which a call is made anew; "
    "after ten times as long without a word, whatever else it sends, it is given up.",
    "model.prices.*.input": "USD for a million tokens that the model reads.",
    "model.prices.*.output": "USD for a million tokens that it writes.",
    "model.prices.*.cache_write": "USD for a million tokens that are put into its cache.",
    "model.prices.*.cache_read": "USD for a million tokens that are read from its cache.",
    "model.daily_budget_usd": "What all may cost in a day; after that it works offline until midnight.",
    "channels.web.enabled": "The page in the browser.",
    "channels.web.host": "Where it listens; by default `DAYBOOK_WEB_HOST`, which the container's image sets. Anything "
    "but this machine needs a tunnel or TLS before it.",
    "channels.web.port": "Its port; 0 takes any free one.",
    "channels.web.public_url": "Where a proxy of yours serves the page over TLS, as `https://daybook.example.org`.",
    "channels.web.token": "A token of your own to log in with; by default one is made in `state/web-token`.",
    "routes.*.channel": "A message from this platform …",
    "routes.*.account": "… to this account of yours there …",
    "routes.*.guild": "… in this Discord server …",
    "routes.*.chat": "… in this chat …",
    "routes.*.user": "… by this person …",
    "routes.*.agent": "… is answered by this agent. The first route that fits counts; what is not given does not "
    "matter.",
    "session.queue": "A message while a reply is written: `steer` it into the reply, `collect` it for the next one, "
    "or `interrupt`.",
    "session.queue_cap": "The most messages that make one turn.",
    "session.reserve_tokens": "Room that stays free for the answer and its tools.",
    "session.keep_recent_tokens": "How much of the newest part stays word for word when the older part is shortened.",
    "session.flush.enabled": "Whether it writes down what lasts before the older part is shortened.",
    "session.flush.soft_threshold_tokens": "How many tokens before that it does so.",
    "session.flush.prompt": "Words of your own for that request.",
    "session.flush.system_prompt": "The same, for its instructions.",
    "session.idle_reset_minutes": "A conversation that rested so long begins anew, its end saved in the log.",
    "session.max_tool_rounds": "The most steps with tools in one turn.",
    "memory.daily_log_days": "How many days' logs it sees: 2 are today's and yesterday's.",
    "memory.max_index_lines": "How many lines of `MEMORY.md` it sees.",
    "memory.max_index_bytes": "How many bytes of it.",
    "memory.max_file_chars": "How much of each other file of the workspace.",
    "memory.max_daily_chars": "How much of each day's log.",
    "memory.group_daily_logs": "What a group sees: its `own` logs, those `shared` by all groups, or `none`.",
    "memory.journal": "Whether each conversation's day is written into its log every night.",
    "memory.search.ranking": "`daybook`, or `hybrid` as other assistants do it.",
    "memory.search.max_chars": "How much text one search may return.",
    "memory.search.max_results": "The most passages of one search.",
    "memory.search.hybrid.chunk_tokens": "For `hybrid`: the length of a passage.",
    "memory.search.hybrid.chunk_overlap": "For `hybrid`: how much passages overlap.",
    "memory.search.hybrid.vector_weight": "For `hybrid`: the weight of meaning.",
    "memory.search.hybrid.text_weight": "For `hybrid`: the weight of words.",
    "memory.search.hybrid.min_score": "For `hybrid`: what scores less is not found.",
    "memory.search.hybrid.max_results": "For `hybrid`: the most passages.",
    "memory.search.hybrid.half_life_days": "For `hybrid`: after so many days a passage counts half.",
    "memory.search.hybrid.mmr_lambda": "For `hybrid`: how much a passage that repeats another is held back.",
    "memory.search.embedding": "Search by meaning: `auto` uses the small model where it was fetched, `none` searches "
    "by words.",
    "memory.search.embedding.model_dir": "A folder with a sentence model of your own.",
    "memory.search.embedding.base_url": "Or a server that speaks OpenAI's embeddings API …",
    "memory.search.embedding.model": "… with this model …",
    "memory.search.embedding.api_key": "… and this key.",
    "memory.search.extra_paths": "Folders of Markdown beside the workspace, for your own searches.",
    "memory.search.transcripts": "Whether your own past conversations are searched, too.",
    "memory.auto_recall.enabled": "Whether a message calls up memories by itself.",
    "memory.auto_recall.max_results": "The most passages that come with a message.",
    "memory.auto_recall.timeout_ms": "Milliseconds after which an answer does not wait for them any more.",
    "tools.files": "Whether it may read and write files of its workspace.",
    "limits.person_daily_usd": "What each other person may cost in a day.",
    "limits.group_daily_usd": "What each group may cost in a day.",
    "media.max_mb": "Larger files are not fetched.",
    "media.max_pages": "The most pages that are read of a document.",
    "media.max_chars": "The most characters that are read of a file.",
    "schedule.daily_summary.enabled": "The day's summary in the evening.",
    "schedule.daily_summary.time": "When.",
    "schedule.daily_summary.to": "Where: `owner` (where you wrote last), or chats as `telegram:11111`.",
    "schedule.heartbeat.every": "How often it looks after what is in `HEARTBEAT.md`; without this section never.",
    "schedule.heartbeat.to": "`owner`, or addresses of chats: what is said there is from the memory of that chat.",
    "schedule.heartbeat.daily_budget_usd": "What that may cost in a day.",
    "schedule.quiet_hours": "When it does not speak by itself, as `22:00-07:00`; what is due then comes after.",
    "schedule.catch_up_hours": "How late a job that was missed still runs.",
    "log.level": "How much it logs.",
    "log.format": "`text` for people, `json` for programs.",
    "database_url": "`postgresql://USER:PASSWORD@HOST:5432/DATABASE`: several gateways share the home, and one takes "
    "over when another dies. By default SQLite in `state/`.",
    "agents.*.workspace": "Another agent with a workspace of its own, relative to the home. It may have its own "
    "`model`, `session`, `memory` "
    "and `tools`, over the common ones.",
}
"""By key of the kernel; `*` stands for a name of yours, or a place in a list."""

Schema: TypeAlias = Mapping[str, Any]
"""A JSON Schema, or a part of one."""
_AGENTS = ("agents.*.model.", "agents.*.session.", "agents.*.memory.", "agents.*.tools.")
"""Keys that repeat the common sections."""


@dataclass(frozen=True, slots=True)
class Key:
    """`allowed` and `default` as written in YAML; both may be empty."""

    name: str
    allowed: str
    default: str
    text: str


def sentences() -> Mapping[str, str]:
    """The sentence for each key."""
    of_channels = {
        f"channels.{name}.{key}": text
        for name, manifest in MANIFESTS.items()
        for key, text in manifest.settings.texts.items()
    }
    return {**_SENTENCES, **of_channels, **{name: text for section in added() for name, text in section.texts.items()}}


def keys() -> tuple[Key, ...]:
    """All keys of `config.yaml`. Raises `KeyError` for one without a sentence."""
    document, texts = whole().model_json_schema(), sentences()
    found: dict[str, Key] = {}
    for name, schema, default in _leaves(document, document, "", None):
        if not name.startswith(_AGENTS) and name not in found:
            found[name] = Key(name, _allowed(schema, texts[name]), _written(default), texts[name])
    return tuple(found.values())


def markdown() -> str:
    """The text of `docs/configuration.md`."""
    parts = [
        "# Configuration",
        "All keys of `~/.daybook/config.yaml`. Each has a default, so that the file holds only what differs, and may "
        "be missing. "
        "`daybook config validate` says what is wrong with it, `daybook config show` what is in force. Secrets "
        "belong into `.env` beside it.",
    ]
    section = ""
    for key in keys():
        top = key.name.partition(".")[0]
        if top != section:
            section = top
            parts.append(f"## {top}\n\n| key | default | |\n|---|---|---|")
        allowed = f" ({key.allowed})" if key.allowed else ""
        parts[-1] += f"\n| `{key.name}` | {f'`{key.default}`' if key.default else ''} | {key.text}{allowed} |"
    return "\n\n".join(parts) + "\n"


def _leaves(document: Schema, schema: Schema, name: str, default: object) -> Iterator[tuple[str, Schema, object]]:
    variants = list(_variants(document, schema))
    inner = [variant for variant in variants if "properties" in variant]
    if (
        len(inner) < len([variant for variant in variants if variant.get("type") != "null"])
        and name
        and not _is_map(variants)
    ):
        yield name, schema, default
    for variant in inner:
        for key, field in variant["properties"].items():
            resolved = _resolved(document, field)
            given = default.get(key) if isinstance(default, dict) else None
            value = field.get("default", resolved.get("default")) if given is None else given
            yield from _leaves(document, resolved, f"{name}.{key}" if name else key, value)
    for variant in variants:
        if isinstance(more := variant.get("additionalProperties"), dict):
            yield from _leaves(document, _resolved(document, more), f"{name}.*", None)
        items = _resolved(document, variant["items"]) if isinstance(variant.get("items"), dict) else {}
        if "properties" in items:
            yield from _leaves(document, items, f"{name}.*", None)


def _variants(document: Schema, schema: Schema) -> Iterator[Schema]:
    resolved = _resolved(document, schema)
    choices = resolved.get("anyOf") or resolved.get("oneOf")
    for choice in choices or ():
        yield from _variants(document, choice)
    if not choices:
        yield resolved


def _is_map(variants: list[Schema]) -> bool:
    """True where the keys inside are listed instead of the key itself."""
    return any(
        isinstance(variant.get("additionalProperties"), dict) or "$ref" in variant.get("items", {})
        for variant in variants
    )


def _resolved(document: Schema, schema: Schema) -> Schema:
    reference = schema.get("$ref")
    return {**document["$defs"][reference.rpartition("/")[2]], **schema} if reference else schema


def _allowed(schema: Schema, text: str) -> str:
    """The values of a choice, unless the sentence names them."""
    variants = schema.get("anyOf") or [schema]
    values = [f"`{value}`" for variant in variants for value in variant.get("enum", ())]
    return "" if all(value in text for value in values) else ", ".join(values)


def _written(default: object) -> str:
    if default is None or default in ([], {}, ""):
        return ""
    return default if isinstance(default, str) else json.dumps(default, ensure_ascii=False)
