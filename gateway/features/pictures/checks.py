"""Checks the server that makes pictures."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from agent.languages.sentences import Sentence
from agent.model.anthropic.model import entries_of
from channels.checks import Finding
from gateway.config import Config
from gateway.features.pictures.config import WithImages
from gateway.home import Home
from gateway.setup.probe import get

_ADDRESS = "check your network and media.images.base_url"
_MODEL = "correct media.images.model in config.yaml"


def pictures(home: Home, config: Config) -> Iterator[Finding]:
    """Checks pictures by asking the server for its models: a picture would cost something."""
    images = WithImages.of(config.media).images
    if images is None:
        return
    headers = {"Authorization": f"Bearer {images.api_key.get_secret_value()}"} if images.api_key else {}
    where = urlsplit(images.base_url).netloc
    reply = get(f"{images.base_url.rstrip('/')}/models", headers)
    names = [entry.get("id") for entry in entries_of(dict(reply.body))]
    if reply.status == 0:
        what, fix = Sentence("can't reach {where}: {why}", where=where, why=reply.why), _ADDRESS
    elif reply.status in (401, 403):
        what, fix = Sentence("{where} doesn't accept the key", where=where), "create a new key and put it into .env"
    elif reply.status >= 500 or reply.status == 429:
        what = Sentence("{where} answered with status {status}", where=where, status=reply.status)
        fix = "try again in a few minutes"
    elif names and images.model not in names:
        what, fix = Sentence("{where} has no model {name}", where=where, name=images.model), _MODEL
    else:
        what, fix = Sentence("{where} answers", where=where), ""
    yield Finding("pictures", not fix, what, fix)
