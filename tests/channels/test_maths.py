"""Formulas and HTML as models write them, on each platform."""

from __future__ import annotations

import subprocess
import sys
from html import unescape

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from channels.discord.format import rendered as discord
from channels.formula import readable
from channels.maths import Tex, pieces, protected, restored
from channels.spoken import speakable
from channels.telegram.format import formatted, plain
from channels.web.format import rendered as page
from tests.channels.discord.reader import read


def telegram(markdown: str) -> str:
    return formatted(markdown).text


def on_discord(markdown: str) -> str:
    """What a person reads there."""
    return "\n".join(read(discord(markdown)).split("\n"))


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        (r"\[ x = \frac{1}{2} \]", "x = 1/2"),
        (r"The set \(\{1,2\}\) is", "The set {1,2} is"),
        (r"$$E = mc^2$$", "E = mc²"),
        ("$$\na_1 * b_1 * c_1\n$$", "a₁ * b₁ * c₁"),
        (r"Let \(x\) be \(\alpha_{12}\,\beta\).", "Let x be α₁₂ β."),
        (r"Then $x^2 + y_1$ and $n$ and $\frac{a}{b}$.", "Then x² + y₁ and n and a/b."),
        (r"**So** \(a*b*c = d\)", "So a*b*c = d"),
        (r"\(\hat{x}_i\)", r"\(\hat{x}_i\)"),
        (r"\[ \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \]", r"\[ \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \]"),
        (
            "\\begin{align*}\na &= b \\\\\nc_1 &= d_1\n\\end{align*}",
            "\\begin{align*}\na &= b \\\\\nc_1 &= d_1\n\\end{align*}",
        ),
        ("\\[\n\\begin{aligned}\nx &= 1 \\\\\n- y &= 2\n\\end{aligned}\n\\]", None),
        ("It is $5 and $10, or $20_000 and $30_000", "It is $5 and $10, or $20_000 and $30_000"),
        ("Set $HOME=$USER and US$ 5 = CA$ 7", "Set $HOME=$USER and US$ 5 = CA$ 7"),
        (r"\[1\] A source \[draft\] \(see above\)", "[1] A source [draft] (see above)"),
        (r"`\(x_1\)` stays", r"\(x_1\) stays"),
        ("```\n\\[x_1\\]\n```", "\\[x_1\\]"),
    ],
)
def test_a_formula_says_what_was_written(markdown: str, shown: str | None) -> None:
    whole = markdown if shown is None else shown
    assert telegram(markdown) == whole
    assert plain(markdown) == whole
    assert "".join(on_discord(markdown).split()).removeprefix("```").removesuffix("```") == "".join(whole.split())


def test_formulas_in_lists_quotes_and_tables() -> None:
    assert telegram("1. Then\n   \\[\n   a_1 = b\n   \\]\n2. So") == "1. Then\n   a₁ = b\n2. So"
    assert telegram("> \\[\n> \\hat a\n> \\]") == "\\[\n\\hat a\n\\]"
    assert telegram("| a | b |\n|---|---|\n| \\(|x|\\) | $y_1$ |") == "a   | b\n----+---\n|x| | y₁"
    assert telegram("[the \\(x_1\\) page](https://a.org/\\(x_1\\))") == "the x₁ page"
    assert speakable(r"So \(x = \frac{1}{2}\).") == "So x = 1/2."


@pytest.mark.parametrize("address", [r"https://a.org/wiki/Foo_\(a_b\)", r"https://a.org/\(a_1\)/x"])
def test_escaped_brackets_of_an_address_are_no_formula(address: str) -> None:
    (link,) = formatted(f"[there]({address})").entities
    assert link.url == address.replace("\\", "")
    assert telegram(f"See {address} now") == f"See {address} now".replace("\\", "")


def test_the_page_gets_the_source_to_draw() -> None:
    assert page(r"So $x_1$ and \begin{cases} a \\ b \end{cases}") == (
        '<p>So <span class="maths" data-kind="inline">x_1</span> and '
        '<span class="maths" data-kind="block">\\begin{cases} a \\\\ b \\end{cases}</span></p>'
    )


@pytest.mark.parametrize(
    ("formula", "signs"),
    [
        (r"\frac{a+b}{2c}x^2", "((a+b)/(2c))x²"),
        (r"\sum_{i=1}^{n} x_i", "∑ᵢ₌₁ⁿ xᵢ"),
        (r"\int_0^\infty e^{-x^2} dx", "∫₀^∞ e^(-x²) dx"),
        (r"\lim_{x\to 0} \sin\theta", "lim_(x → 0) sin θ"),
        (r"\sqrt{2}x + \sqrt[3]{x+1}", "√(2)x + ∛(x+1)"),
        (r"a\cdot b \leq \infty", "a · b ≤ ∞"),
        (r"\left(\frac12\right)^2", "(1/2)²"),
        (r"\frac12 m v^2", "(1/2) m v²"),
        (r"x \in \mathbb{R}, x^{a/b}, x^q", "x ∈ ℝ, x^(a/b), x^(q)"),
        (r"\text{if } x > 0", "if x > 0"),
        (r"90^\circ", "90°"),
        (r"2\frac{1}{2}", ""),
        (r"\mathbf{x}", ""),
        (r"\hat{x}", ""),
        (r"a & b \\ c", ""),
        (r"\frac{1}", ""),
        ("^2", ""),
        ("{" * 100, ""),
        (r"\left. x \right|", ""),
        (r"\unknown{x}", ""),
    ],
)
def test_readable_signs_only_where_they_say_the_same(formula: str, signs: str) -> None:
    assert readable(formula) == signs


tex = st.text(st.sampled_from("\\{}^_ab12+-=()[]$|&,. ntexfrcsqd"), max_size=40)


@settings(max_examples=300, deadline=None)
@given(tex)
def test_no_letter_or_digit_of_a_formula_is_lost(formula: str) -> None:
    signs = readable(formula)
    assert not signs or sum(map(str.isdecimal, formula)) == sum(
        one.isdecimal() or one in "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉" for one in signs
    )
    assert "\\" not in signs and "{" not in signs.replace("{", "", formula.count("\\{"))


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("$\\()[]`>~ab_1^ \n{}"), max_size=60) | tex.map("$${0}$$ \\({0}\\)".format))
@example("$$a$$\\(b_1\\)")
def test_protecting_formulas_loses_nothing(markdown: str) -> None:
    written = "".join(one.written if isinstance(one, Tex) else one for one in pieces(protected(markdown)))
    assert written == restored(protected(markdown))
    assert written == markdown or ">" in markdown
    for shown in (telegram(markdown), discord(markdown), page(markdown)):
        assert not any("\U000f0000" <= one <= "\U000fffff" for one in shown)


@pytest.mark.parametrize("platform", [telegram, on_discord, page, plain])
@pytest.mark.parametrize("tag", ["<br>", "<br/>", "<br />", "<BR>", "<Br  />"])
def test_a_line_in_a_cell(platform: object, tag: str) -> None:
    assert callable(platform)
    shown = platform(f"| k | v |\n|---|---|\n| a | x{tag}y{tag} |")
    assert "<br>y" in shown if platform is page else "x / y" in shown
    assert tag.casefold() not in shown.casefold() or platform is page


@pytest.mark.parametrize(
    "html",
    [
        "H<sub>2</sub>O and x<sup>10</sup>",
        "a <b>bold</b> <i>word</i> & <q>more</q>",
        "<del>old</del> H<b>2</b>O",
        "press <kbd>Ctrl</kbd>",
        "one<br>two",
        '<p align="center">hi</p>',
        "List<String> x",
        "<script>x</script>",
        "<details>\n<summary>More</summary>\nall of it\n</details>",
        '<a href="/here">there</a>',
        "| a |\n|---|\n| <ul><li>x</li></ul> |",
        "| a |\n|---|\n| `<br>` |",
    ],
)
def test_other_html_stays_text(html: str) -> None:
    as_text = html.splitlines()[-1].strip("| `")
    assert as_text in telegram(html) and as_text in plain(html) and as_text in on_discord(html)
    assert as_text in unescape(page(html).replace("<br>", "\n"))


def test_the_table_of_symbols_is_read_with_the_first_symbol() -> None:
    """Whatever handles text imports this module, and few texts have formulas."""
    code = (
        "import sys; from channels.formula import readable; print(readable('x^2'), 'latex2mathml' in sys.modules);"
        r"print(readable(r'\alpha'), 'latex2mathml' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-X", "utf8", "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert told.stdout.splitlines() == ["x² False", "α True"]
