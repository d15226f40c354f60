"""The token of the web page: configured, or made at the first start and kept where only its owner reads it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from gateway.config import WebConfig
from gateway.home import Home, write_private


def read(config: WebConfig, home: Home) -> str:
    """Made where there is none yet. Blocks. Raises `OSError`, and `ValueError` with a sentence where what stands in the
    file is no token: an empty one would let in everybody."""
    if config.token is not None:
        return _sound(config.token.get_secret_value(), "channels.web.token", "set another, or null to have one made")
    if not home.web_token.exists():
        _make(home.web_token)
    found = home.web_token.read_text(encoding="utf-8", errors="replace")
    return _sound(found, str(home.web_token), "delete the file to have one made")


def place(config: WebConfig, home: Home) -> str:
    """Where a person finds it."""
    where = "channels.web.token in config.yaml" if config.token is not None else str(home.web_token)
    return f"{where}; `daybook web` shows it"


def _make(file: Path) -> None:
    """It appears whole, whatever happens meanwhile; where another process was faster, its token stays."""
    scratch = file.with_name(f"{file.name}.{secrets.token_hex(4)}.new")
    write_private(scratch, f"{secrets.token_urlsafe(32)}\n")
    try:
        os.link(scratch, file)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        scratch.replace(file)
    finally:
        scratch.unlink(missing_ok=True)


def _sound(token: str, where: str, cure: str) -> str:
    token = token.strip()
    if not token:
        raise ValueError(f"{where} is empty; {cure}")
    return token
