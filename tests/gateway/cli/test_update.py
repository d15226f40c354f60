"""Whether there is a newer Daybook: asked where this one came from, answered in words."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import click
import pytest

from gateway.cli.update import _in_checkout, _in_index


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    git(origin, "commit", "-q", "--allow-empty", "-m", "first")
    git(tmp_path, "clone", "-q", str(origin), str(clone))
    return clone


def test_a_checkout_is_compared_with_where_it_came_from(checkout: Path) -> None:
    assert not _in_checkout(checkout).is_newer
    git(checkout.parent / "origin", "commit", "-q", "--allow-empty", "-m", "second")
    found = _in_checkout(checkout)
    assert found.is_newer and "git pull" in found.commands
    git(checkout, "pull", "-q")
    git(checkout, "commit", "-q", "--allow-empty", "-m", "my own")
    assert not _in_checkout(checkout).is_newer, "what is here has more"


def test_a_checkout_that_reaches_nobody_says_so(checkout: Path) -> None:
    (checkout.parent / "origin").rename(checkout.parent / "gone")
    with pytest.raises(click.ClickException, match="Are you connected"):
        _in_checkout(checkout)


@contextmanager
def index(*versions: str) -> Iterator[str]:
    """A package index on loopback."""
    names = [f"daybook_assistant-{version}-py3-none-any.whl" for version in versions]

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if names else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write("".join(f'<a href="{name}">{name}</a>' for name in names).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(("versions", "is_newer"), [(("0.0.1", "99.2.0"), True), (("0.0.1",), False)])
def test_an_installed_one_asks_the_index_of_pip(
    monkeypatch: pytest.MonkeyPatch, versions: tuple[str, ...], is_newer: bool
) -> None:
    with index(*versions) as url:
        for name, value in (
            ("INDEX_URL", url),
            ("EXTRA_INDEX_URL", ""),
            ("FIND_LINKS", ""),
            ("CONFIG_FILE", os.devnull),
        ):
            monkeypatch.setenv(f"PIP_{name}", value)
        found = _in_index()
    assert (found.is_newer, found.newest) == (is_newer, versions[-1])


def test_an_index_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("INDEX_URL", "http://127.0.0.1:9/"), ("RETRIES", "0"), ("CONFIG_FILE", os.devnull)):
        monkeypatch.setenv(f"PIP_{name}", value)
    with pytest.raises(click.ClickException, match="Are you connected"):
        _in_index()
