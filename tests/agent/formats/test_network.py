"""What the environment's proxies and certificates make of the connections of all clients."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import certifi
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.clock import Clock
from agent.formats import http, network
from agent.model.anthropic.model import AnthropicModel
from agent.model.base import Model, ModelError, TryLater
from agent.model.openai.model import OpenAIModel
from channels import network as channels_network
from channels.discord.client import ClientOptions, DiscordClient
from channels.discord.rate_limit import GlobalRateLimit
from channels.message import SourceFailed
from channels.telegram.api import NeverSent, connect
from tests.agent.model.asking import events_of, refused, request

_AWAY = "http://model.invalid"
_SOCKS = (
    "socks5://127.0.0.1:9",
    "socks5h://127.0.0.1:9",
    "socks4://u:secret@127.0.0.1:9",
    "socks://[::1]:9",
    "SOCKS5://a:1",
)
_ODD = ("ftp://127.0.0.1:9", "http://", "http://a:port", "http://[::1")
_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", *network._CERTIFICATES)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def _anthropic(url: str) -> Model:
    return AnthropicModel("key", url, timeout_s=5.0)


def _openai(url: str) -> Model:
    return OpenAIModel("key", url, timeout_s=5.0, clock=Clock("UTC"))


MODELS = pytest.mark.parametrize("made", [_anthropic, _openai])
Made = Callable[[str], Model]


@MODELS
@pytest.mark.parametrize("name", ["ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"])
@pytest.mark.parametrize("proxy", [*_SOCKS, *_ODD])
async def test_a_proxy_that_no_client_speaks_is_named(
    monkeypatch: pytest.MonkeyPatch, made: Made, name: str, proxy: str
) -> None:
    monkeypatch.setenv(name, proxy)
    model = made(_AWAY)
    error = await refused(model)
    await model.context_window("m")  # asked before each turn: that must not end it
    assert name in str(error) and "unset" in str(error) and "restart" in str(error)
    assert "secret" not in str(error)
    assert ("SOCKS" in str(error)) is (proxy in _SOCKS)
    await model.aclose()


@MODELS
async def test_a_socks_proxy_of_other_schemes_does_not_matter(monkeypatch: pytest.MonkeyPatch, made: Made) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "127.0.0.1:9")
    model = made(_AWAY)
    assert isinstance(await refused(model), TryLater)  # asked through the other proxy, which is not there
    await model.aclose()


@MODELS
@pytest.mark.parametrize("name", network._CERTIFICATES)
@pytest.mark.parametrize("kind", ["gone", "no certificates"])
async def test_certificates_that_are_gone_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, made: Made, name: str, kind: str
) -> None:
    file = tmp_path / "ca.pem"
    if kind != "gone":
        file.write_text("nothing")
    monkeypatch.setenv(name, str(file))
    model = made("https://model.invalid")
    error = await refused(model)
    assert name in str(error) and str(file) in str(error) and "unset" in str(error)
    await model.aclose()


@MODELS
async def test_certificates_that_are_there_are_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, made: Made
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", certifi.where())
    monkeypatch.setenv("SSL_CERT_DIR", f"{tmp_path / 'gone'}{os.pathsep}{tmp_path}")
    model = made("https://model.invalid")
    assert isinstance(await refused(model), TryLater)
    await model.aclose()


@MODELS
async def test_what_is_odd_about_a_client_is_an_error_of_the_model(made: Made) -> None:
    model = made("http://model.invalid:port")
    with pytest.raises(ModelError):
        await events_of(model, request())


@pytest.mark.parametrize("proxy", _SOCKS)
async def test_every_other_client_names_the_proxy(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    telegram = connect("1:x", f"{_AWAY}/bot", read_timeout=5.0, connections=1)
    with pytest.raises(NeverSent, match="ALL_PROXY is a SOCKS proxy"):
        await telegram.bot.send_message(11111, "hi")
    await telegram.aclose()
    options = ClientOptions("x", f"{_AWAY}/api", lambda _: None, 5.0, GlobalRateLimit())  # type: ignore[arg-type]
    with pytest.raises(SourceFailed, match="ALL_PROXY is a SOCKS proxy"):
        await DiscordClient.open(options)
    async with http.open_session("") as session:
        with pytest.raises(http.Unreachable, match="ALL_PROXY is a SOCKS proxy"):
            await http.post(session, _AWAY, 5.0, connect=5.0, json={})


async def test_every_other_client_names_the_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone"))
    async with http.open_session("") as session:
        with pytest.raises(http.Unreachable, match="SSL_CERT_FILE"):
            await http.post(session, "https://elsewhere.invalid", 5.0, connect=5.0, json={})
    assert "SSL_CERT_FILE" in channels_network.certificates_problem()


_VALUES = st.sampled_from(["", "http://127.0.0.1:9", "127.0.0.1:9", "https://p", "*", "model.invalid", *_SOCKS, *_ODD])
_NAMES = [
    spelled for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") for spelled in (name, name.upper())
]


@given(
    st.dictionaries(st.sampled_from(_NAMES), _VALUES),
    st.sampled_from([_AWAY, "https://model.invalid", "http://[::1]:9"]),
)
def test_the_channels_and_the_agent_read_the_environment_alike(variables: dict[str, str], url: str) -> None:
    def read(module: object) -> str:
        try:
            return repr(module.proxy_for(url))  # type: ignore[attr-defined]
        except (network.BadEnvironment, channels_network.WrongVariable) as problem:
            return str(problem)

    with pytest.MonkeyPatch.context() as patch:
        for name, value in itertools.chain(((name, "") for name in _NAMES), variables.items()):
            patch.setenv(name, value)
        assert read(network) == read(channels_network)
