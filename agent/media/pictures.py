"""A picture as a model takes it: JPEG or PNG, upright, one frame.

https://docs.anthropic.com/en/docs/build-with-claude/vision: pictures are scaled to 1,568 pixels along their longer
side; a request may have 32 MB in all.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agent.media.sniff import HEAD, HEIC, Unreadable, sniffed

if TYPE_CHECKING:
    from PIL import Image

LONGEST_SIDE = 1_568
MOST_BYTES = 1_000_000
"""Twenty such pictures, in base64, stay below 32 MB."""
MOST_PIXELS = 100_000_000
"""About 400 MB in memory."""
_FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "AVIF", "HEIF")
"""JPEG stands for MPO too. The others of Pillow are rare, and some start programs."""
_QUALITIES = (85, 70, 50, 30)
_NO_HEIC = (
    "it is a HEIC picture, and the library that opens them is not installed here (pip install pillow-heif); send it as "
    "a photo, or as JPEG or PNG"
)


@dataclass(frozen=True, slots=True)
class Picture:
    name: str
    path: str
    """The file that a model is shown."""
    original: str
    """The file that came."""


def shrink(source: Path, target: Path) -> str:
    """Writes the picture; returns its ending, jpg or png. Raises `Unreadable`, and Pillow's errors for a damaged
    one."""
    from PIL import Image, ImageOps  # noqa: PLC0415 (heavy; only where a picture is read)

    Image.MAX_IMAGE_PIXELS = None  # ours is checked below, with a sentence
    warnings.simplefilter("ignore")
    with source.open("rb") as file:
        _, ending = sniffed(file.read(HEAD))
    if ending == HEIC:
        _open_heic_too()
    with Image.open(source, formats=_FORMATS) as opened:
        width, height = opened.size
        if width * height > MOST_PIXELS:
            raise Unreadable(f"it has {width:,} x {height:,} pixels, more than I can open")
        if not width or not height:
            raise Unreadable("it has no pixels")
        opened.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
        ending = "png" if opened.format in ("PNG", "GIF", "BMP") else "jpg"
        _load(opened)
        clear = opened.has_transparency_data
        picture = opened.convert("RGBA" if clear else "RGB") if opened.mode in ("P", "1") else _in_eight_bits(opened)
        picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
        picture = ImageOps.exif_transpose(picture).convert("RGBA" if clear else "RGB")
    on_white = Image.new("RGB", picture.size, "white")
    on_white.paste(picture, mask=picture if clear else None)
    if ending == "png":
        on_white.save(target, "PNG", optimize=True)
        if target.stat().st_size <= MOST_BYTES:
            return "png"
    for quality in _QUALITIES:
        on_white.save(target, "JPEG", quality=quality)
        if target.stat().st_size <= MOST_BYTES:
            break
    return "jpg"


def _load(picture: Image.Image) -> None:
    """Raises `MemoryError` also where the HEIC library raises `RuntimeError` for it."""
    try:
        picture.load()
    except RuntimeError as problem:
        if "memory allocation" in str(problem).casefold():
            raise MemoryError from problem
        raise


def _in_eight_bits(picture: Image.Image) -> Image.Image:
    """Scales grey of scanners and cameras that has more bits: `convert` alone would make it all white."""
    match picture.mode:
        case "I;16" | "I;16B" | "I;16L" | "I;16N":
            low, high = 0.0, 65_535.0
        case "I" | "F":
            low, high = cast(tuple[float, float], picture.getextrema())
        case _:
            return picture
    scale = 255 / (high - low or 1)
    return picture.convert("F").point(lambda grey: grey * scale - low * scale).convert("L")


def _open_heic_too() -> None:
    """Registers a decoder for the main picture only: other images in the file may show another thing."""
    try:
        from pillow_heif import register_heif_opener  # noqa: PLC0415 (heavy, and not for every machine)
    except ImportError as missing:
        raise Unreadable(_NO_HEIC) from missing
    register_heif_opener(thumbnails=False, depth_images=False, aux_images=False)
