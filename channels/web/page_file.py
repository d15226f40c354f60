"""The page, shipped as one file. Its script and style are allowed by hash."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources

_INLINE = re.compile(rb"<(script|style)>((?:(?!</\1>|<\1>).)*+)</\1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PageFile:
    html: bytes
    policy: str

    def policy_at(self, host: str) -> str:
        return f"{self.policy}; connect-src 'self' ws://{host}"


@cache
def load_page() -> PageFile:
    """Blocks, the first time."""
    html = resources.files("channels.web").joinpath("page.html").read_bytes()
    hashes = {
        kind.decode(): f"'sha256-{b64encode(sha256(text).digest()).decode()}'" for kind, text in _INLINE.findall(html)
    }
    policy = [
        "default-src 'none'",
        f"script-src {hashes['script']}",
        f"style-src {hashes['style']}",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    return PageFile(html, "; ".join(policy))
