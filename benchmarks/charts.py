"""Pictures of what the benchmarks measured, as SVG, without a plotting library.

python -m benchmarks.charts [--figures FILE] [--to docs]

FILE is JSON: `quality`, a line for each ranking with its share of the evidence by characters; `latency`, a line for
each engine with milliseconds by bullets. The figures come from `retrieval.py --json` and `search_scale.py --json`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

Line = Sequence[tuple[float, float]]
_WIDTH, _HEIGHT = 760, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 250, 50, 60
_COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#8a5a9e", "#c98a1b")


@dataclass(frozen=True, slots=True)
class Axis:
    """`marks`: where a number stands."""

    title: str
    marks: Sequence[float]
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """0 at the first mark, 1 at the last."""
        first, last, at = (self._scaled(one) for one in (self.marks[0], self.marks[-1], value))
        return (at - first) / (last - first)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.logarithmic else value


def chart(title: str, x: Axis, y: Axis, lines: Mapping[str, Line]) -> str:
    """An SVG picture that says in its description what it shows."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="26" font-size="16">{escape(title)}</text>',
    ]
    parts += [_across(y, mark) for mark in y.marks]
    parts += [_text(_x(x, mark), _HEIGHT - _BOTTOM + 20, _number(mark), "middle") for mark in x.marks]
    parts += [_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 16, x.title, "middle")]
    parts += [_text(14, 42, y.title, "start")]
    labels = _apart({name: _y(y, line[-1][1]) for name, line in lines.items()})
    for (name, line), colour in zip(lines.items(), _COLOURS, strict=False):
        points = " ".join(f"{_x(x, at):.1f},{_y(y, value):.1f}" for at, value in line)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        parts += [
            f'<circle cx="{_x(x, at):.1f}" cy="{_y(y, value):.1f}" r="3.5" fill="{colour}">'
            f"<title>{escape(name)}: {_number(value)} at {_number(at)}</title></circle>"
            for at, value in line
        ]
        parts.append(_text(_x(x, line[-1][0]) + 10, labels[name] + 4, name, "start", colour))
    return "\n".join([*parts, "</svg>\n"])


def _apart(places: Mapping[str, float]) -> dict[str, float]:
    """Labels moved down where they would stand on each other."""
    moved: dict[str, float] = {}
    lowest = -math.inf
    for name, place in sorted(places.items(), key=lambda item: item[1]):
        lowest = moved[name] = max(place, lowest + 16)
    return moved


def _across(axis: Axis, mark: float) -> str:
    y = _y(axis, mark)
    line = f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
    return line + _text(_LEFT - 8, y + 4, _number(mark), "end")


def _text(x: float, y: float, text: str, anchor: str, colour: str = "#333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def _x(axis: Axis, value: float) -> float:
    return _LEFT + axis.place(value) * (_WIDTH - _LEFT - _RIGHT)


def _y(axis: Axis, value: float) -> float:
    return _HEIGHT - _BOTTOM - axis.place(value) * (_HEIGHT - _TOP - _BOTTOM)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", type=Path, default=Path(__file__).with_name("search_figures.json"))
    parser.add_argument("--to", type=Path, default=Path("docs"))
    options = parser.parse_args(arguments)
    figures = json.loads(options.figures.read_text("utf-8"))
    quality = chart(
        "Six sets of talk: how much of the evidence is found, on the mean",
        Axis("characters handed to the model", (0, 1_000, 2_000, 4_000)),
        Axis("share found", (0, 0.2, 0.4, 0.6, 0.8, 1)),
        figures["quality"],
    )
    latency = chart(
        "How long a search takes",
        Axis("bullets in memory", (1_000, 10_000, 100_000, 500_000), logarithmic=True),
        Axis("milliseconds of processor time a search", (0.01, 0.1, 1, 10, 100, 1_000), logarithmic=True),
        figures["latency"],
    )
    for name, picture in (("search-quality", quality), ("search-latency", latency)):
        (options.to / f"{name}.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    main()
