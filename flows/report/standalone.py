"""A figure of the report as one SVG that needs no page: for papers, slides and notebooks.

The figure's HTML is laid out anew: drawings, headings, coloured tables and legends. Its colours are those of the style
sheet on white.
"""

import re
import textwrap
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from ..pages import svg
from ..pages.page import source
from .section import Figure

#: What the rules of a drawing's style are for alone: a notebook shows several drawings, and things of its own.
SCOPE = "sigstats-figure"
_WIDTH, _GAP, _MARGIN = 1000.0, 14.0, 10.0
#: Sizes of a table's cells, and of a line of text, in pixels.
_CELL, _ROW, _LINE, _SWATCH = 78.0, 38.0, 20.0, 20.0
_NOTHING = Markup("")
#: Which colour a class of a cell has, beside those that have their own name.
_SAME = {"a4": "p0", "a3": "p1", "a2": "p2", "a1": "p3", "n0": "p4"}


@dataclass(frozen=True)
class _Block:
    """Something drawn, and its size."""

    width: float
    height: float
    body: Markup = _NOTHING


def standalone(figures: Sequence[Figure]) -> str:
    """The figures below each other, each under its title and above its caption, as the text of an SVG file."""
    blocks = [_captioned(each) for each in figures]
    whole = _stack(blocks, gap=3 * _GAP)
    width, height = whole.width + 2 * _MARGIN, whole.height + 2 * _MARGIN
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="{scope}" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        'role="img"><title>{title}</title><style>{style}</style>'
        '<rect width="{w}" height="{h}" fill="{page}"/>{body}</svg>'
    ).format(
        scope=SCOPE,
        w=svg.coordinate(width),
        h=svg.coordinate(height),
        title="; ".join(each.title for each in figures),
        style=Markup(_style()),  # noqa: S704 - from a file of this package
        page=_colours()["page"],
        body=_at(_MARGIN, _MARGIN, whole),
    )


def _captioned(figure: Figure) -> _Block:
    one_line = figure.body.replace("<br/>", "; ")  # a cell is one line here
    body = ET.fromstring(f"<div>{one_line}</div>")  # noqa: S314 - made by this package, which escapes what is not
    drawn = _stack([_text(figure.title, "title"), _block(body)])
    letters = int(max(drawn.width, 480.0) / svg.text_width("n"))
    return _stack([drawn, *map(_text, textwrap.wrap(figure.caption, letters))])


def _block(element: ET.Element) -> _Block:
    """An element of a figure, laid out by what it is."""
    css = (element.get("class") or "").split()
    if element.tag == "svg":
        drawing = Markup(ET.tostring(element, encoding="unicode"))  # noqa: S704 - escaped by the serializer
        return _Block(float(element.get("width", 0)), float(element.get("height", 0)), drawing)
    if element.tag == "table":
        return _table(element)
    if "legend" in css:
        return _legend(element)
    if element.tag in ("h4", "h5", "p", "figcaption", "caption"):
        return _text(_words(element), "heading" if element.tag in ("h4", "h5") else "")
    children = [_block(child) for child in element]
    return _flow(children) if {"panels", "pair"} & set(css) else _stack(children)


def _words(element: ET.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _text(content: str, css: str = "") -> _Block:
    height = 1.4 * _LINE if css else _LINE
    line = svg.text(0, height - 6, content, anchor="start", css=f"words {css}".rstrip())
    return _Block(svg.text_width(content) * (1.3 if css else 1), height, line) if content else _Block(0, 0)


def _at(x: float, y: float, block: _Block) -> Markup:
    where = f"translate({svg.coordinate(x)} {svg.coordinate(y)})"
    return Markup('<g transform="{}">{}</g>').format(where, block.body) if block.body else Markup("")


def _stack(blocks: Iterable[_Block], gap: float = 4.0) -> _Block:
    """Blocks below each other."""
    parts: list[Markup] = []
    width = height = 0.0
    for block in blocks:
        if block.height:
            height += gap if parts else 0
            parts.append(_at(0, height, block))
            width, height = max(width, block.width), height + block.height
    return _Block(width, height, Markup("").join(parts))


def _flow(blocks: Iterable[_Block]) -> _Block:
    """Blocks beside each other, in as many lines as they need."""
    lines: list[list[_Block]] = [[]]
    reached = 0.0
    for block in blocks:
        if lines[-1] and reached + block.width > _WIDTH:
            lines.append([])
            reached = 0.0
        lines[-1].append(block)
        reached += block.width + _GAP
    return _stack(map(_beside, lines), gap=_GAP)


def _beside(blocks: Sequence[_Block]) -> _Block:
    parts: list[Markup] = []
    x = 0.0
    for block in blocks:
        parts.append(_at(x, 0, block))
        x += block.width + _GAP
    return _Block(x - _GAP, max((block.height for block in blocks), default=0), Markup("").join(parts))


def _table(table: ET.Element) -> _Block:
    """A table: the cells of a column have one width; its caption above."""
    rows = [list(row) for row in table.iter("tr")]
    columns = max(map(len, rows), default=1)
    widths = [
        max([_CELL if place else 0, *(10 + _cell_width(row[place]) for row in rows if place < len(row))])
        for place in range(columns)
    ]
    starts = [sum(widths[:place]) + 2 * place for place in range(columns + 1)]
    parts = []
    for number, row in enumerate(rows):
        for place, cell in enumerate(row):
            at = _Block(0, 0, _cell(cell, widths[place]))
            parts.append(_at(starts[place], number * _ROW, at))
    body = _Block(starts[-1], len(rows) * _ROW, Markup("").join(parts))
    caption = table.find("caption")
    return _stack([_Block(0, 0) if caption is None else _text(_words(caption), "heading"), body])


def _cell_width(cell: ET.Element) -> float:
    """The width of the text of a cell; what is small stands below the rest."""
    small = cell.find("small")
    below = "" if small is None else _words(small)
    return max(svg.text_width(_words(cell).removesuffix(below)), svg.text_width(below))


def _cell(cell: ET.Element, width: float) -> Markup:
    shade = (cell.get("class") or "").split()[0] if cell.get("class") else ""
    small = cell.find("small")
    below = "" if small is None else _words(small)
    above = _words(cell).removesuffix(below).strip() if below else _words(cell)
    colour = _SAME.get(shade, shade)
    filled = f"{colour}-ink" in _colours()
    ink = f"{colour} ink" if filled else "words"
    parts = [_rectangle(colour, width, _ROW - 2)] if filled else []
    if cell.tag == "th":
        x, anchor = (width - 8, "end") if cell.get("scope") == "row" else (width / 2, "middle")
        return svg.text(x, 23, above, anchor=anchor, css="words")
    parts.append(svg.text(width / 2, 16 if below else 23, above, css=ink))
    if below:
        parts.append(svg.text(width / 2, 31, below, css=ink))
    return Markup("").join(parts)


def _legend(legend: ET.Element) -> _Block:
    blocks = []
    for entry in legend:
        shade = _SAME.get((entry.get("class") or "").split()[-1], (entry.get("class") or "").split()[-1])
        width = 12 + svg.text_width(_words(entry))
        filled = f"{shade}-ink" in _colours()
        swatch = _rectangle(shade, width, _SWATCH) if filled else Markup("")
        text = svg.text(width / 2, 14, _words(entry), css=f"{shade} ink" if filled else "words")
        blocks.append(_Block(width, _SWATCH, swatch + text))
    return _beside(blocks) if blocks else _Block(0, 0)


def _rectangle(colour: str, width: float, height: float) -> Markup:
    return Markup('<rect width="{}" height="{}" rx="3" fill="{}"/>').format(
        svg.coordinate(width), svg.coordinate(height), _colours()[colour]
    )


@cache
def _colours() -> dict[str, str]:
    """The colours of the style sheet on a light page, by name."""
    light = source("report.css")[: source("report.css").index("}")]
    return dict(re.findall(r"--([\w-]+): (#\w+)", light))


@cache
def _style() -> str:
    """The rules of drawings, with colours for their names, and those of text."""
    colours = _colours()
    rules = [f".{SCOPE} {{ font-family: system-ui, sans-serif; }}"]  # which drawings inherit
    for selector, body in re.findall(
        r"^(svg [^ {}][^{}]*)\{([^{}]*)\}", source("report.css").replace("} svg", "}\nsvg"), flags=re.MULTILINE
    ):
        scoped = re.sub(r"(^|, *)svg ", rf"\1.{SCOPE} ", selector.strip())
        if "var(--curve)" in body:
            for number in range(svg.COLOURS):
                curve = body.replace("var(--curve)", colours[f"c{number}"])
                rules.append(f"{scoped.replace('.curve', f'.curve.c{number}')} {{{curve}}}")
        elif "--curve:" not in body:
            rules.append(f"{scoped} {{{re.sub(r'var[(]--([a-z0-9-]+)[)]', lambda name: colours[name[1]], body)}}}")
    rules.append(f".{SCOPE} .words {{ fill: {colours['ink']}; font-size: 12px; }}")
    rules.append(f".{SCOPE} .heading {{ font-weight: 600; font-size: 13px; }}")
    rules.append(f".{SCOPE} .title {{ font-weight: 600; font-size: 16px; }}")
    rules += [
        f".{SCOPE} .{name[:-4]}.ink {{ fill: {value}; font-size: 12px; }}"
        for name, value in colours.items()
        if name.endswith("-ink")
    ]
    return "\n".join(rules)
