"""Web pages keep what they say by their form."""

from __future__ import annotations

import pytest

from agent.media.text import from_html


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<h2>Terms</h2>It rains\n  <b>today</b>.", "## Terms\n\nIt rains today."),
        ("<ol start=3><li>a<li>b<ul><li>c</ul><li>d</ol>e", "3. a\n4. b\n  - c\n5. d\n\ne"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (
            "<table><tr><td rowspan=2>a<p>b<td colspan=2>c<tr><td>d<td>e</table>",
            "| a / b | c |  |\n| --- | --- | --- |\n|  | d | e |",
        ),
        (
            "<table><tr><td>Hello<p>you<tr><td><table><tr><td>a<td>b</table></table>",
            "Hello\nyou\n\n| a | b |\n| --- | --- |",
        ),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("<table><tr><td>a<td>b", "| a | b |\n| --- | --- |"),
        ("</table></tr></td></ol><td>a</td>", "a"),
    ],
)
def test_a_web_page_keeps_its_form(page: str, text: str) -> None:
    assert from_html(page) == text


def test_a_table_that_claims_to_be_huge_stays_small() -> None:
    row = "<tr>" + "<td rowspan=99999 colspan=99999>x" * 1_000
    assert len(from_html("<table>" + row + "<tr><td>y" * 100)) < 100_000
