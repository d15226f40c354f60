"""Markdown as HTML: what it looks like, and that nothing gets through it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.web.format import file_name, is_linkable, rendered
from tests.channels.writing import WRITTEN, Written, normal_form

LINK = 'target="_blank" rel="noopener noreferrer nofollow"'
BLOCK_TAGS = "p h1 h2 h3 h4 h5 h6 ul ol li div table thead tbody tr th td pre blockquote hr"
TAGS = frozenset(f"{BLOCK_TAGS} strong em s br code a span".split())
ATTRIBUTES = {"role", "href", "target", "rel", "class", "start", "data-language", "tabindex"}


class Reader(HTMLParser):
    """What a browser makes of it: its tags, in pairs, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.links: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS and {name for name, _ in attrs} <= ATTRIBUTES
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag not in ("br", "hr"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("one\ntwo\n\nthree", "<p>one<br>two</p><p>three</p>"),
        ("# A *b*", "<h1>A <em>b</em></h1>"),
        ("**a** ~~b~~ `c<d`", "<p><strong>a</strong> <s>b</s> <code>c&lt;d</code></p>"),
        ("||hidden||", '<p><span class="spoiler" role="button" tabindex="0">hidden</span></p>'),
        ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
        ("- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"),
        ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
        ("3. a", '<ol start="3"><li>a</li></ol>'),
        ("> a", "<blockquote><p>a</p></blockquote>"),
        ("```py\nx < 1\n```", '<pre data-language="py"><code>x &lt; 1</code></pre>'),
        ('```"><script>\nx\n```', "<pre><code>x</code></pre>"),
        ("---", "<hr>"),
        ("#", "<p>#</p>"),
        ("<img>raw</img>", "<p>&lt;img&gt;raw&lt;/img&gt;</p>"),
        ("<b onclick=x>bold</b>", "<p><strong>bold</strong></p>"),
        ("[a](https://x.org/?a=1&b=2)", f'<p><a href="https://x.org/?a=1&amp;b=2" {LINK}>a</a></p>'),
        ("![a cat](https://x.org/cat.png)", f'<p><a href="https://x.org/cat.png" {LINK}>a cat</a></p>'),
        ("[press](javascript:alert(1))", "<p>[press](javascript:alert(1))</p>"),
        ("[press](data:text/html,x)", "<p>[press](data:text/html,x)</p>"),
        ("[press](/logout)", "<p>press (/logout)</p>"),
        ("[press](ftp://x.org/a)", "<p>press (ftp://x.org/a)</p>"),
        ("see https://x.org/a_(b).", f'<p>see <a href="https://x.org/a_(b)" {LINK}>https://x.org/a_(b)</a>.</p>'),
        ("(https://x.org)", f'<p>(<a href="https://x.org" {LINK}>https://x.org</a>)</p>'),
        ("`https://x.org`", "<p><code>https://x.org</code></p>"),
    ],
)
def test_each_kind_of_text(markdown: str, html: str) -> None:
    assert rendered(markdown) == html


def test_a_table_keeps_its_alignment() -> None:
    html = rendered("| a | b |\n|---|--:|\n| 1 | 2 |")
    assert '<th class="right">b</th>' in html and '<td class="left">1</td>' in html
    Reader(html)


def test_an_address_that_wears_another_as_its_label_is_spelled_out() -> None:
    assert Reader(rendered("[https://bank.com](https://evil.org)")).text == "https://bank.com (https://evil.org)"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:x",
        "JAVASCRIPT:x",
        "vbscript:x",
        "data:x",
        "file:///etc",
        "//x.org",
        "http://",
        "https://a b",
        "http://[::1",
    ],
)
def test_what_may_not_be_pressed(url: str) -> None:
    assert not is_linkable(url)


@given(st.text(alphabet=st.sampled_from("ab<>&\"'`*_[]()!|#-:/.\n\\ jhttps="), max_size=80))
def test_whatever_is_written_only_our_own_tags_come_out(markdown: str) -> None:
    read = Reader(rendered(markdown))
    assert all(re.match(r"(https?|mailto|tel):", link, re.IGNORECASE) for link in read.links)


@given(
    st.sampled_from(
        ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<a href='javascript:x'>", "<!--", "</p>"]
    ),
    WRITTEN,
)
def test_no_raw_html_passes(raw: str, around: Written) -> None:
    for markdown in (
        raw,
        f"{around.markdown}\n\n{raw}\n\n{around.markdown}",
        f"**{raw}**",
        f"> {raw}",
        f"[{raw}](https://x.org)",
    ):
        Reader(rendered(markdown))


@given(WRITTEN)
def test_every_word_that_was_meant_is_seen_in_its_place(written: Written) -> None:
    """But for numbers: those of a list are the browser's to draw."""
    read = iter(normal_form([Reader(rendered(written.markdown)).text]))
    meant = [character for character in normal_form([written.words]) if not character.isdigit()]
    assert all(any(character == other for other in read) for character in meant)


def test_no_text_turns_its_reader_around() -> None:
    assert rendered("pay \u202emoc.live") == "<p>pay moc.live</p>"
    assert rendered("`a\u2066b\u202e`") == "<p><code>a[U+2066]b[U+202E]</code></p>"
    assert "a[U+202E]b" in rendered("```\na\u202eb\n```")
    assert Reader(rendered("[https:\u200b//bank.com](https://evil.org)")).text.endswith("(https://evil.org)")
    assert Reader(rendered("https://x.org/\u202emoc.knab")).links == ["https://x.org/moc.knab"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a cat.png", "a cat.png"),
        ("x\u202egpj.exe", "xgpj.exe"),
        ("a\n\tb", "a b"),
        ("\u202e", "file"),
        ("猫.png", "猫.png"),
    ],
)
def test_a_file_is_called_what_it_is(name: str, shown: str) -> None:
    assert file_name(name) == shown
