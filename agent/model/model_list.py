"""What servers say of their models, each in fields of its own. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from agent.model.base import Json

_WINDOW = (
    "max_input_tokens",  # Anthropic
    "max_model_len",  # vLLM, SGLang
    "loaded_context_length",  # LM Studio: as it is loaded, before what it could be
    "max_context_length",
    "context_length",  # OpenRouter
    "context_window",  # Groq
    "n_ctx",  # llama.cpp, in `meta`; its `n_ctx_train` is only what the model could take
)
_LARGEST = 100_000_000


def entries_of(page: Json) -> list[Mapping[str, Json]]:
    """The models of a list."""
    listed = page.get("data") if isinstance(page, Mapping) else page
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []


def window_of(entry: Json) -> int | None:
    """Tokens of a model's window, or None where its entry does not tell them."""
    if not isinstance(entry, Mapping):
        return None
    meta = entry.get("meta")
    fields = {**(meta if isinstance(meta, Mapping) else {}), **entry}
    for name in _WINDOW:
        if size := _size(fields.get(name)):
            return size
    return None


def _size(value: Json) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _LARGEST else None
