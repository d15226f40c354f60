"""Colours of code and formulas: what comes in is text of others, what goes out is spans and MathML only."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.maths import Tex, pieces, protected, restored
from channels.web.format import rendered
from channels.web.markup import answer, coloured, mathml
from channels.web.markup_process import MOST_CODE, MarkupProcess
from tests.channels.web.browser import Browser
from tests.strength import examples

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>"
SPANS = re.compile(r'<span class="c-[a-z0-9]+">|</span>')


@pytest.fixture
async def process() -> AsyncIterator[MarkupProcess]:
    one = MarkupProcess()
    yield one
    await one.aclose()


async def test_code_of_a_known_language_gets_colours_and_stays_the_same_code(process: MarkupProcess) -> None:
    html = await process.html("code", f'def f():\n    return "{EVIL}"\n', "python")
    assert '<span class="c-k">def</span>' in html and "<script" not in html and "<img" not in html
    assert await process.html("code", "  x = 1\n\n", "py") != ""
    for language in ("", "nothing", "python; rm", "../python", "x" * 50):
        assert await process.html("code", "x = 1", language) == ""
    assert await process.html("code", "x" * (MOST_CODE + 1), "python") == ""


async def test_a_process_that_hangs_or_dies_is_replaced(process: MarkupProcess) -> None:
    assert await process.html("code", "x = 1", "python")
    assert process.pid
    os.kill(process.pid, signal.SIGSTOP)  # it answers no more, as one whose regular expression takes for ever
    assert await process.html("code", "y = 1", "python") == ""
    assert await process.html("code", "z = 1", "python") != ""
    os.kill(process.pid, signal.SIGKILL)
    answers = [await process.html("code", f"a = {number}", "python") for number in range(2)]
    assert answers[-1] != ""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
async def test_no_key_of_ours_is_in_its_environment(process: MarkupProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    assert await process.html("code", "x = 1", "python")
    assert b"canary" not in await asyncio.to_thread(Path(f"/proc/{process.pid}/environ").read_bytes)


async def test_many_at_once_get_each_their_own(process: MarkupProcess) -> None:
    cut = asyncio.create_task(process.html("code", "cut = 1", "python"))
    await asyncio.sleep(0)
    cut.cancel()
    answers = await asyncio.gather(*(process.html("code", f"name{number} = 1", "python") for number in range(20)))
    assert [re.findall(r"name\d+", one) for one in answers] == [[f"name{number}"] for number in range(20)]


def test_formulas_are_mathml_and_nothing_else() -> None:
    assert mathml(r"\frac{a}{b_1}", block=True).startswith('<math display="block"><mrow><mfrac>')
    for latex in (r"\href{javascript:alert(1)}{x}", r"\style{color:red}{x}", r"\class{y}{x}", r"\color{red}{x}"):
        html = answer({"kind": "inline", "language": "", "text": latex})
        assert not re.search("href|javascript|style=|class|red", html)
    for latex in (rf"\text{{{EVIL}}}", r"\frac{", "{" * 1_000, r"\begin{matrix} a", r"\text{<a href='x'>y</a>}"):
        assert answer({"kind": "inline", "language": "", "text": latex}) == ""


@settings(max_examples=examples(150), deadline=None)
@given(st.text(st.sampled_from("\\{}^_ab1<>&\"'$()[] ntexthrf/"), max_size=40))
def test_no_formula_makes_other_elements(latex: str) -> None:
    html = answer({"kind": "block", "language": "", "text": latex})
    assert not re.search(r"<(?!/?m[a-z]+[ >/]|none)", html) and not re.search(r"\son|href|style=", html)


@settings(max_examples=examples(100), deadline=None)
@given(st.text(max_size=60), st.sampled_from(("python", "html", "js", "diff", "bash", "json")))
def test_colours_leave_the_text_alone(code: str, language: str) -> None:
    assert "<" not in SPANS.sub("", coloured(language, code))


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        (r"Let \(a_1 * b_1 * c\) be.", '<p>Let <span class="maths" data-kind="inline">a_1 * b_1 * c</span> be.</p>'),
        ("$$\n\\frac{a}{b}\n$$", '<p><span class="maths" data-kind="block">\\frac{a}{b}</span></p>'),
        (r"\[x^2\]", '<p><span class="maths" data-kind="block">x^2</span></p>'),
        (r"\(<b>\)", '<p><span class="maths" data-kind="inline">&lt;b&gt;</span></p>'),
        ("`\\(x\\)` and `$$x^2$$`", "<p><code>\\(x\\)</code> and <code>$$x^2$$</code></p>"),
        ("```\n$$x^2$$\n```", "<pre><code>$$x^2$$</code></pre>"),
        ("It costs $$ or $$ here", "<p>It costs $$ or $$ here</p>"),
        (r"not closed \(x", "<p>not closed (x</p>"),
        (r"a \\(b\\) c", r"<p>a \(b\) c</p>"),
    ],
)
def test_formulas_in_a_text(markdown: str, html: str) -> None:
    assert rendered(markdown) == html


def test_a_formula_in_an_address_makes_no_attribute() -> None:
    html = rendered('[a](https://example.org/\\(x\\)) and https://example.org/\\(y_1\\) and [$$x"y=1$$](https://b.org)')
    assert 'href="https://b.org"' in html
    assert not re.search(r'href="[^"]*<', html) and "\U000f0020" not in html


@settings(max_examples=examples(200), deadline=None)
@given(st.text(st.sampled_from("$\\()[]`~ab_1^ \n\U000f0041"), max_size=60))
def test_protecting_formulas_loses_nothing(markdown: str) -> None:
    assert restored(protected(markdown)) == markdown or "\U000f0041" in markdown
    written = (piece.written if isinstance(piece, Tex) else piece for piece in pieces(protected(markdown)))
    assert "".join(written) == markdown
    assert not re.search("[\U000f0020-\U000ffffd]", rendered(markdown)) or "\U000f0041" in markdown


def test_protecting_takes_no_longer_than_the_text_is_long() -> None:
    steps = 200_000
    for part in ("\\(", "$$a", "`", "\\[x", "``` ", "\\\\", "$$ \\( "):
        assert isinstance(protected(part * (steps // len(part))), str)


async def test_the_page_asks_for_it(owner: Browser, guest: Browser) -> None:
    async with owner.post("/markup", json={"kind": "inline", "text": "x^2"}) as answered:
        assert "<msup>" in (await answered.json())["html"]
    async with owner.post("/markup", json={"kind": "what", "text": "x"}) as answered:
        assert answered.status == 400
    async with guest.post("/markup", json={"kind": "inline", "text": "x^2"}) as answered:
        assert answered.status == 401
