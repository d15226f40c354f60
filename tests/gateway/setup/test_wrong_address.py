"""An address at which something answers is not yet a model's: what is there must be an API of the kind that is set."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from channels.checks import CheckResult, Outcome
from channels.discord.checks import check_discord
from channels.telegram.checks import check_telegram
from gateway.setup.model import check_model

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
            if status == 302:
                self.send_header("location", body)
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


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_an_address_that_leads_elsewhere_gets_no_key_there_as_in_turns(provider: str) -> None:
    asked = []

    def answer(method: str, path: str) -> tuple[int, str]:
        asked.append(path)
        return (200, _models(_ANTHROPIC, path)) if "elsewhere" in path else (302, "/elsewhere/v1/models/model-7")

    with served(answer) as url:
        assert check_model(provider, "key", url, "model-7").outcome is Outcome.NO_API
    assert asked and not any("elsewhere" in path for path in asked)


CHECKS: dict[str, Callable[[str], CheckResult]] = {
    "anthropic": lambda url: check_model("anthropic", "key", url, "model-7"),
    "openai": lambda url: check_model("openai", "key", url, "model-7"),
    "telegram": lambda url: check_telegram("12345678:" + "a" * 35, f"{url}/bot"),
    "discord": lambda url: check_discord("token", url),
}
each = pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)


@each
@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "SOCKS4://u:p@a:1", "socks5h://[::1]:9"])
def test_a_proxy_that_is_none_is_named(
    monkeypatch: pytest.MonkeyPatch, check: Callable[[str], CheckResult], proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    found = check("http://model.invalid")
    assert found.outcome is Outcome.UNREACHABLE and "ALL_PROXY is a SOCKS proxy" in found.text


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_certificate_file_that_is_gone_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, provider: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone"))
    found = check_model(provider, "key", "https://model.invalid", "model-7")
    assert found.outcome is Outcome.UNREACHABLE and "SSL_CERT_FILE names certificates that are not there" in found.text


@each
def test_the_system_says_why_there_is_no_connection(check: Callable[[str], CheckResult]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        found = check(f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert found.outcome is Outcome.UNREACHABLE and found.text.endswith(": Connection refused")


@each
def test_what_breaks_off_or_is_no_http_is_no_traceback(check: Callable[[str], CheckResult]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with suppress(OSError):
                while True:
                    with server.accept()[0] as caller:
                        caller.recv(100)
                        caller.sendall(b"220 mail.example ESMTP\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        found = check(f"http://127.0.0.1:{server.getsockname()[1]}")
        assert found.outcome is Outcome.UNREACHABLE
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
