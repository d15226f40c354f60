"""The keys `media.images` of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from channels.settings import Secret, Section, Url
from gateway.config.capabilities import MediaConfig

_TEXTS = {
    "media.images.base_url": "A server that speaks OpenAI's image API, up to and with `/v1`: it makes pictures …",
    "media.images.model": "… with this model …",
    "media.images.api_key": "… and this key.",
}


class ImagesConfig(Section):
    """A server that speaks OpenAI's `POST /images/generations`; `base_url` up to and with `/v1`."""

    base_url: Url
    model: Annotated[str, Field(min_length=1)]
    api_key: Secret | None = None


class WithImages(MediaConfig):
    """`images` null: no pictures are made."""

    images: ImagesConfig | None = None

    texts: ClassVar[Mapping[str, str]] = _TEXTS
