"""An address at which something answers is not yet a model's: what is there must be an API of the kind that is set."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gateway.setup.model import check_model
from gateway.setup.probe import Outcome

Answer = Callable[[str, str], tuple[int, str]]
"""Of method and path: status and body."""
_PAGE = "<!doctype html><title>Welcome</title>"
_OPENAI = {"id": "model-7", "object": "model"}
_ANTHROPIC = {"id": "model-7", "type": "model"}


@contextmanager
def served(answer: Answer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def _reply(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            status, body = answer(self.command, self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST = _reply

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def _models(entry: dict[str, str], path: str) -> str:
    return json.dumps(entry if path.endswith("/model-7") else {"data": [entry]})


WRONG: dict[str, Answer] = {
    "404 to everything": lambda _, path: (404, f"Cannot find {path}"),
    "404 in JSON": lambda *_: (404, json.dumps({"message": "Not Found"})),
    "405 to questions": lambda method, _: (405 if method == "POST" else 404, ""),
    "a page": lambda *_: (200, _PAGE),
    "a page for everything but questions": lambda method, _: (200, _PAGE) if method == "GET" else (405, _PAGE),
    "another API": lambda *_: (200, json.dumps({"ok": True})),
    "an empty answer": lambda *_: (200, ""),
}


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_api_is_not_well(provider: str, asks: bool, what: str) -> None:
    with served(WRONG[what]) as url:
        found = check_model(provider, "key", url, "model-7", asks=asks)
    assert found.outcome is Outcome.NO_API and found.refused
    assert "model.base_url" in found.fix and "model.provider" in found.fix


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_an_api_of_the_other_kind_is_not_well(provider: str) -> None:
    entry = _OPENAI if provider == "anthropic" else _ANTHROPIC

    def answer(method: str, path: str) -> tuple[int, str]:
        return (200, _models(entry, path)) if method == "GET" else (404, json.dumps({"error": "no such path"}))

    with served(answer) as url:
        assert check_model(provider, "key", url, "model-7").outcome is Outcome.NO_API


@pytest.mark.parametrize("lists", ["its own kind", "the other kind", "nothing"])
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_an_api_that_answers_is_well(provider: str, lists: str) -> None:
    own, other = (_ANTHROPIC, _OPENAI) if provider == "anthropic" else (_OPENAI, _ANTHROPIC)
    said: dict[str, object] = {"content": [{"type": "text", "text": "Hello."}]}
    if provider == "openai":
        said = {"choices": [{"message": {"content": "Hello."}}]}

    def answer(method: str, path: str) -> tuple[int, str]:
        if method == "POST":
            return 200, json.dumps(said)
        return (404, "") if lists == "nothing" else (200, _models(own if lists == "its own kind" else other, path))

    with served(answer) as url:
        assert check_model(provider, "key", url, "model-7").ok


def test_a_proxy_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    found = check_model("openai", "key", "http://model.invalid/v1", "model-7")
    assert found.outcome is Outcome.UNREACHABLE and "ALL_PROXY is a SOCKS proxy" in found.text
