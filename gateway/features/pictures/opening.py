"""Opens the tool for pictures with a gateway, where a server makes them."""

from __future__ import annotations

from contextlib import AsyncExitStack

from gateway.features.pictures.config import WithImages
from gateway.kernel import FeatureParts, Kernel


async def opened(kernel: Kernel, _: AsyncExitStack) -> FeatureParts:
    images = WithImages.of(kernel.config.media).images
    if images is None:
        return FeatureParts()
    from gateway.features.pictures.draw import ImageServer  # noqa: PLC0415 (only where pictures are made)
    from gateway.features.pictures.tools import PictureTools  # noqa: PLC0415 (the same)

    key = images.api_key.get_secret_value() if images.api_key else ""
    return FeatureParts(tools=[PictureTools(kernel, ImageServer(images.base_url, images.model, key))])
