"""Pages of servers that mean well, and of servers that do not."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.media.reader import Reader
from gateway.features.web_tools.fetch import MOST_BYTES, Fetcher
from gateway.features.web_tools.page import Page, PageUnavailable
from tests.files import pdf
from tests.gateway.features.web_tools.pages import PRIVATE, PUBLIC, Names, Web, page, redirect, web

ARTICLE = (
    "<html><head><title>Green tea</title><meta property='article:published_time' content='2026-03-04T10:00:00Z'>"
    "<style>p {color: red}</style></head><body><nav><a href='/'>Home</a> <a href='/imprint'>Imprint</a></nav><article>"
    + "".join(
        f"<p>Paragraph {n} says that green tea is drunk with <a href='/water/{n}#top'>water {n}</a>, for many like "
        "it so, and have done for a very long time in several countries.</p>"
        for n in range(8)
    )
    + "</article><script>alert('hidden')</script><footer>All rights reserved</footer></body></html>"
)


def fetcher(one: Web, names: Names | None = None, seconds: float = 60.0) -> Fetcher:
    return Fetcher(Reader(100_000, 20), one.rules, names or Names({"tea.example": [[PUBLIC]]}), seconds=seconds)


async def read(answer: bytes) -> Page:
    async with web({"/": answer}) as one:
        return await fetcher(one).page(one.at("/"))


async def refused(answer: bytes) -> str:
    with pytest.raises(PageUnavailable) as problem:
        await read(answer)
    return str(problem.value)


async def test_a_page_is_read_as_its_reader_sees_it_with_title_day_and_numbered_links() -> None:
    async with web({"/": page(ARTICLE)}) as one:
        found = await fetcher(one).page(one.at("/"))
    assert found.text.startswith("# Green tea\n\nPublished 2026-03-04\n\nParagraph 0 says")
    assert "water 3 [4], for many" in found.text
    assert found.links[3] == f"[4] {one.at('/water/3')}"
    assert not any(word in found.text for word in ("alert", "color", "Imprint", "All rights"))
    assert found.address == one.at("/")
    assert "Cookie" not in one.paths[0] and "Authorization" not in one.paths[0]


async def test_a_page_that_is_a_list_is_shown_whole() -> None:
    rows = "".join(f"<li><a href='/{n}'>News {n}</a></li>" for n in range(30))
    found = await read(page(f"<html><body><h1>News</h1><ul>{rows}</ul></body></html>"))
    assert "News 0 [1]" in found.text and "News 29 [30]" in found.text


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (page("Just text. Grüße", "text/plain; charset=utf-8"), "Just text. Grüße"),
        (page(json.dumps({"tea": ["green", 1]}), "application/json"), '{"tea": ["green", 1]}'),
        (page(pdf(["Green tea in a PDF"]), "application/pdf"), "Green tea in a PDF"),
        (page(pdf(["A PDF of lies"]), "text/html"), "A PDF of lies"),
        (page("<html><body><p>绿茶</p></body></html>".encode("gb18030"), "text/html; charset=gb18030"), "绿茶"),
        (page("<html><head><meta charset='shift_jis'></head><p>緑茶</p>".encode("shift_jis"), "text/html"), "緑茶"),
        (page("<html><p>caf\u00e9</p>".encode("cp1252"), "text/html; charset=iso-8859-1"), "café"),
        (page("<html><p>tea</p>", "text/html; charset=punycode"), "tea"),
        (page(gzip.compress(b"<html><p>packed</p>"), "text/html", more="Content-Encoding: gzip\r\n"), "packed"),
        (page(zlib.compress(b"<html><p>packed</p>"), "text/html", more="Content-Encoding: deflate\r\n"), "packed"),
    ],
    ids=[
        "text",
        "json",
        "pdf",
        "pdf as html",
        "gb18030",
        "shift_jis",
        "latin-1",
        "no text encoding",
        "gzip",
        "deflate",
    ],
)
async def test_kinds_and_encodings(answer: bytes, text: str) -> None:
    assert text in (await read(answer)).text


def raw_deflate(data: bytes) -> bytes:
    made = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return made.compress(data) + made.flush()


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, raw_deflate])
async def test_a_packed_page_is_read_however_it_is_packed(pack: Callable[[bytes], bytes], packing: str) -> None:
    found = await read(page(pack(b"green tea " * 100), "text/plain", more=f"Content-Encoding: {packing}\r\n"))
    assert found.text.count("green tea") == 100 and not found.remark


async def test_a_page_in_several_packed_parts_is_read_whole() -> None:
    parts = b"".join(gzip.compress(f"part {number}. ".encode()) for number in range(20))
    found = await read(page(parts, "text/plain", more="Content-Encoding: gzip\r\n"))
    assert "part 0." in found.text and "part 19." in found.text and not found.remark


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, raw_deflate])
async def test_a_packed_page_without_its_end_says_so(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(b" ".join(b"%d" % (number * number) for number in range(9_000)))[:-2_000]
    found = await read(page(packed, "text/plain", more="Content-Encoding: gzip\r\n"))
    assert "144" in found.text and "cut" in found.remark


# redirects and names --------------------------------------------------------------------------------------------------


async def test_redirects_are_followed_and_each_is_checked() -> None:
    pages = {"/": redirect("/b"), "/c": page("<p>There</p>")}
    async with web(pages) as one:
        names = Names({"tea.example": [[PUBLIC]], "other.example": [[PUBLIC]]})
        pages["/b"] = redirect(one.at("/c", "other.example"))
        found = await fetcher(one, names).page(one.at("/"))
    assert found.text == "There" and found.address == one.at("/c", "other.example")


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.2:{port}/secret",
        "http://localhost:{port}/secret",
        "http://2130706434:{port}/secret",
        "http://tea.example:22/secret",
        "file:///etc/passwd",
        "http://user@tea.example:{port}/secret",
        "http://inside.example:{port}/secret",
        "",
    ],
)
async def test_a_redirect_into_a_private_network_is_not_followed(target: str) -> None:
    pages = {"/secret": page("<p>The key</p>")}
    async with web(pages) as one:
        pages["/"] = redirect(target.format(port=one.port))
        names = Names({"tea.example": [[PUBLIC]], "inside.example": [[PRIVATE]]})
        with pytest.raises(PageUnavailable):
            await fetcher(one, names).page(one.at("/"))
    assert not any("/secret" in path for path in one.paths)


async def test_redirects_have_an_end() -> None:
    async with web({"/": redirect("/")}) as one:
        with pytest.raises(PageUnavailable, match="more than 5 times"):
            await fetcher(one).page(one.at("/"))
    assert len(one.paths) == 6


@pytest.mark.parametrize("found", [[PRIVATE], [PUBLIC, PRIVATE], [PRIVATE, PUBLIC], ["10.0.0.1"], ["169.254.169.254"]])
async def test_a_name_that_leads_into_a_private_network_is_refused(found: list[str]) -> None:
    async with web({"/": page("<p>The key</p>")}) as one:
        with pytest.raises(PageUnavailable, match="private network"):
            await fetcher(one, Names({"tea.example": [found]})).page(one.at("/"))
    assert one.paths == []


async def test_a_name_is_looked_up_once_so_that_it_cannot_change_in_between() -> None:
    names = Names({"tea.example": [[PUBLIC], [PRIVATE]]})
    async with web({"/": page("<p>Tea</p>")}) as one:
        assert (await fetcher(one, names).page(one.at("/"))).text == "Tea"
        assert names.asked == ["tea.example"]
        with pytest.raises(PageUnavailable, match="private network"):
            await fetcher(one, names).page(one.at("/"))


async def test_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with web({"/": page("<p>Tea</p>")}) as one:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        assert (await fetcher(one).page(one.at("/"))).text == "Tea"


@pytest.mark.parametrize(
    ("host", "why"), [("nowhere.example", "no server of that name"), ("127.0.0.2", "private network")]
)
async def test_a_name_that_is_none(host: str, why: str) -> None:
    async with web({}) as one:
        with pytest.raises(PageUnavailable, match=why):
            await fetcher(one).page(one.at("/", host))


# servers that do not mean well ----------------------------------------------------------------------------------------


async def test_a_page_without_end_is_read_to_the_limit() -> None:
    async def flood(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            writer.write(b"tea " * 20_000)
            await writer.drain()

    async with web({"/": flood}) as one:
        found = await fetcher(one).page(one.at("/"))
    assert len(found.text) <= 100_000 and found.remark


async def test_a_slow_page_is_given_up() -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            writer.write(b"t")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with web({"/": drip}) as one:
        with pytest.raises(PageUnavailable, match="did not answer within"):
            await fetcher(one, seconds=0.5).page(one.at("/"))


async def test_a_bomb_is_not_unpacked() -> None:
    assert "kind that I don't know" in await refused(_packed(b"\0" * 500_000_000))
    found = await read(_packed(b"tea " * 20_000_000))
    assert len(found.text) <= MOST_BYTES and found.remark


async def test_what_comes_after_a_packed_page_is_not_read() -> None:
    """It would grow in the unpacker, copied with each piece."""

    async def tail(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n")
        writer.write(gzip.compress(b"tea"))
        while True:
            writer.write(b"\0" * 65_536)
            await writer.drain()

    async with web({"/": tail}) as one:
        assert (await fetcher(one).page(one.at("/"))).text == "tea"


async def test_a_packed_page_that_unpacks_to_nothing_is_given_up() -> None:
    written = 0

    async def nothing(writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: deflate\r\n\r\n\x78\x9c")
        while True:
            writer.write(b"\0\0\0\xff\xff" * 10_000)
            await writer.drain()
            written += 50_000

    async with web({"/": nothing}) as one:
        with pytest.raises(PageUnavailable, match="empty"):
            await fetcher(one).page(one.at("/"))
    assert written < 4 * MOST_BYTES


def _packed(content: bytes) -> bytes:
    return page(gzip.compress(content, compresslevel=1), "text/plain", more="Content-Encoding: gzip\r\n")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (page("gone", status="404 Not Found"), "404 Not Found"),
        (page("no", status="999 Strange"), "999"),
        (page("", status="200 OK"), "empty"),
        (page(b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "text/html"), "picture"),
        (page(b"\0\1\2\3" * 100, "application/octet-stream"), "kind that I don't know"),
        (page("x", more="Content-Encoding: br\r\n"), "packs it as 'br'"),
        (page(b"not gzip", more="Content-Encoding: gzip\r\n"), "cannot be read"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nshort", "cannot be read"),
        (b"nonsense\r\n\r\n", "cannot be read"),
        (b"", "cannot be read"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000 + b"\r\n", "cannot be read"),
        (page(b"%PDF-1.7 broken", "application/pdf"), "damaged"),
        (page(pdf(["tea"]) + b"\0" * (MOST_BYTES + 1), "application/pdf"), "more than 5 MB"),
        (page("<html><body></body></html>"), "no text"),
        (page("<html><body><script>1</script></body></html>"), "no text"),
    ],
)
async def test_an_answer_that_is_no_page(answer: bytes, why: str) -> None:
    assert why in await refused(answer)


async def test_a_page_that_breaks_parsers_is_read_or_refused() -> None:
    for hostile in (
        "<div>" * 200_000,
        "<a href='" + "x" * 1_000_000,
        "<!--" * 100_000,
        "<table>" * 50_000,
        "&#x;" * 99_999,
    ):
        async with web({"/": page(f"<html><p>tea</p>{hostile}")}) as one:
            try:
                found = await fetcher(one).page(one.at("/"))
            except PageUnavailable:
                continue
            assert len(found.text) <= 100_000


async def test_certificates_that_are_gone_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone"))
    with pytest.raises(PageUnavailable, match="SSL_CERT_FILE"):
        await Fetcher(Reader(1000, 10)).page("https://elsewhere.example")
