"""Checks of the model: a missing or refused key, an unknown name."""

from __future__ import annotations

from urllib.parse import urlsplit

from gateway.config import ModelConfig
from gateway.doctor.clock import check_clock
from gateway.doctor.probe import Finding, get

_CHECK = "model"
_ANTHROPIC = "https://api.anthropic.com"


def model(config: ModelConfig) -> list[Finding]:
    """Checks the model by asking its server; blocks for some seconds at most."""
    if config.provider == "offline":
        return [Finding(_CHECK, True, "offline: notes are kept and found, no language model answers")]
    key = config.api_key.get_secret_value() if config.api_key else ""
    if not key and config.base_url is None:
        return [Finding(_CHECK, False, "there is no key", "set ANTHROPIC_API_KEY in .env")]
    base = (config.base_url or _ANTHROPIC).rstrip("/").removesuffix("/v1")
    where = urlsplit(base).netloc
    reply = get(f"{base}/v1/models/{config.name}", {"x-api-key": key, "anthropic-version": "2023-06-01"})
    if reply.status == 0:
        cure = "check the network and model.base_url"
        return [Finding(_CHECK, False, f"{where} cannot be reached: {reply.why}", cure)]
    time = check_clock(reply, where)
    if reply.status in (401, 403):
        return [Finding(_CHECK, False, f"{where} refuses the key", "make a new key and put it into .env"), *time]
    if reply.status == 404 and config.base_url is None:
        return [Finding(_CHECK, False, f"{where} knows no model {config.name}", "set model.name"), *time]
    if reply.status >= 500 or reply.status == 429:
        what = f"{where} answers with status {reply.status}"
        return [Finding(_CHECK, False, what, "try again in some minutes"), *time]
    return [Finding(_CHECK, True, f"{where} answers"), *time]
