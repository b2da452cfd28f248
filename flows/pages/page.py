"""A self-contained page of HTML: an answer first, templates, one style, one script, a glossary, and its tables.

Numbers in tables with coloured cells and in rows of dots remain text, so that they can be read aloud and copied.
"""

import base64
import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sigstats._common.messages import printable
from sigstats._common.numerals import significant

from . import svg
from .svg import Axes

_NONE = Markup("")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The summary at the beginning of every page, for readers with half a minute."""

    headline: str
    #: "fail", "inconclusive" or "pass"; empty where nothing is decided.
    verdict: str = ""
    #: Numbers, each with its name above and its interval below.
    numbers: Sequence[tuple[str, str, str]] = ()
    #: Findings and open questions: a few words, then the rest of the sentence.
    shown: Sequence[tuple[str, str]] = ()
    to_do: str = ""
    figure: Markup = _NONE
    caption: str = ""

    @property
    def title(self) -> str:
        """The headline with the verdict before it, as text."""
        return f"{self.verdict.upper()}: {self.headline}" if self.verdict else self.headline


def page(template: str, *, answer: Answer, title: str = "", **values: Any) -> str:
    """Return a page of a template of this package, with the style and the script that all pages share."""
    script = source("report.js")
    return (
        _environment()
        .get_template(template)
        .render(
            **values,
            answer=answer,
            title=title or answer.title,
            words_of=words_of,
            style=Markup(source("report.css")),  # noqa: S704 - a file of this package
            script=Markup(script),  # noqa: S704 - a file of this package
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _shown(value: object) -> object:
    """Return the output of a template without control characters, which HTML cannot escape."""
    if not isinstance(value, str):
        return value
    text = printable(value, keep="\n\t")
    return Markup(text) if isinstance(value, Markup) else text  # noqa: S704 - it was Markup


def source(name: str) -> str:
    """Return the text of a template, the style or the script."""
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


@cache
def glossary() -> dict[str, str]:
    """Return the terms of pages and their meanings."""
    entries = re.findall(r"^(\S.*):\n((?:    .*\n)+)", source("glossary.txt"), re.MULTILINE)
    return {term: " ".join(meaning.split()) for term, meaning in entries}


_HIDDEN = re.compile(r"<(style|script|desc|title|dl)\b.*?</\1>|<[^>]+>", re.DOTALL)


def words_of(html: str) -> Iterator[tuple[str, str]]:
    """Yield the terms in the text of a page, with their meanings."""
    text = _HIDDEN.sub(" ", html)
    folded = text.lower()
    for term, meaning in sorted(glossary().items(), key=lambda value: value[0].lower()):
        symbol = term[:2].isupper()
        if (term not in text) if symbol else (term.lower() not in folded):
            continue  # regular expressions are slow on large pages
        flags = re.NOFLAG if symbol else re.IGNORECASE
        if re.search(rf"\b{re.escape(term).replace('p-value', 'p-values?')}(s|es|ping)?\b", text, flags):
            yield term, meaning


#: Upper bounds of the classes of a p-value; the style sheet has a colour for each, and one for what is above.
P_BOUNDS = (0.001, 0.01, 0.05, 0.2)
#: Upper bounds of the classes of a necessity above 0, in thousandths, so that 0.95 is in one class for certain.
_NECESSITY_BOUNDS = (499, 799, 949)
#: Tables of at most this many columns are placed side by side in pairs.
_FEW = 5
_NECESSITY_WORDS = ("> 0", "≥ 0.5", "≥ 0.8", "≥ 0.95")


@dataclass(frozen=True)
class HeatCell:
    """A coloured cell."""

    text: str
    #: The class of its colour.
    shade: str
    #: A second, smaller line.
    below: str = ""
    #: True if it carries the mark of a rejected null hypothesis.
    marked: bool = False
    #: Tooltip.
    hint: str = ""


MISSING = HeatCell("–", "absent", hint="missing")
_DIAGONAL = HeatCell("", "diagonal")


def p_shade(p: float) -> str:
    """Return the colour of a p-value."""
    return f"p{bisect_left(P_BOUNDS, p)}"


def necessity_shade(value: float) -> str:
    """Return the colour of a necessity: above 0 for the alternative, below 0 for the null hypothesis."""
    thousandths = round(abs(value) * 1000)
    if not thousandths:
        return "n0"
    return f"{'a' if value > 0 else 'h'}{bisect_left(_NECESSITY_BOUNDS, thousandths) + 1}"


def heat_table(
    caption: str, label: str, rows: Sequence[str], columns: Sequence[str], cell: Callable[[str, str], HeatCell]
) -> Markup:
    """Return a table of coloured cells that scrolls in its own container if it is too wide."""
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(name) for name in columns)
    lines = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            name, Markup("").join(_td(cell(name, other)) for other in columns)
        )
        for name in rows
    )
    return Markup(
        '<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table class="heat">'
        "<caption>{caption}</caption>"
        '<thead><tr><td class="corner"></td>{head}</tr></thead><tbody>{lines}</tbody></table></div>'
    ).format(caption=caption, label=label, head=head, lines=lines)


def pair_table(caption: str, label: str, names: Sequence[str], cell: Callable[[str, str], HeatCell]) -> Markup:
    """Return a table of pairs, without pairs of a name with itself."""
    return heat_table(caption, label, names, names, lambda a, b: _DIAGONAL if a == b else cell(a, b))


def data_table(
    label: str, columns: Mapping[str, str], rows: Iterable[Sequence[str | Markup]], css: str = "data narrow"
) -> Markup:
    """Return a table that scrolls if it is too wide.

    `columns`: the class of the cells below each heading; of class "row" they head their rows.
    """
    head = Markup("").join(
        Markup('<th scope="col"{}>{}</th>').format(Markup(' class="number"') if kind == "number" else "", name)
        for name, kind in columns.items()
    )
    cells = {kind: Markup('<td class="{}">{{}}</td>').format(kind) for kind in columns.values()}
    cells |= {"": Markup("<td>{}</td>"), "row": Markup('<th scope="row">{}</th>')}
    lines = (
        Markup("").join(cells[kind].format(text) for kind, text in zip(columns.values(), row, strict=True))
        for row in rows
    )
    return Markup(
        '<div class="scroll" tabindex="0" role="region" aria-label="{}"><table class="{}">'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    ).format(label, css, head, Markup("").join(map(Markup("<tr>{}</tr>").format, lines)))


def side_by_side(panels: Sequence[Markup], columns: int) -> Markup:
    """Return panels of tables with this many columns, two side by side if they fit."""
    inside = Markup("").join(Markup('<div class="panel">{}</div>').format(panel) for panel in panels)
    return Markup('<div class="{}">{}</div>').format("pair" if columns <= _FEW else "pair wide", inside)


def _td(cell: HeatCell) -> Markup:
    mark = Markup('<span class="mark" title="rejected">●</span> ') if cell.marked else ""
    below = Markup("<small>{}</small>").format(cell.below) if cell.below else ""
    hint = Markup(' title="{}"').format(cell.hint) if cell.hint else ""
    return Markup('<td class="{}"{}>{}{}{}</td>').format(cell.shade, hint, mark, cell.text, below)


def p_legend() -> Markup:
    """Return the meaning of the colours of p-values."""
    bounds = [f"p ≤ {significant(bound)}" for bound in P_BOUNDS]
    return _legend([(f"p{i}", text) for i, text in enumerate([*bounds, f"p > {significant(P_BOUNDS[-1])}"])])


def necessity_legend(alternative: str, null: str) -> Markup:
    """Return the meaning of the colours of necessities."""
    from_alternative = [(f"a{i}", _NECESSITY_WORDS[i - 1]) for i in (4, 3, 2, 1)]
    from_null = [(f"h{i}", _NECESSITY_WORDS[i - 1]) for i in (1, 2, 3, 4)]
    return _legend([("", alternative), *from_alternative, ("n0", "0"), *from_null, ("", null)])


def _legend(entries: Sequence[tuple[str, str]]) -> Markup:
    swatches = Markup("").join(
        Markup('<span class="swatch {}">{}</span>').format(shade, text)
        if shade
        else Markup('<span class="end">{}</span>').format(text)
        for shade, text in entries
    )
    return Markup('<p class="legend">{}</p>').format(swatches)


#: For dots: the width of the values, the heights of a row and of the axis, and the largest width of labels.
_VALUES, _LINE, _BOTTOM, _WIDEST = 142.0, 22.0, 24.0, 168.0


@dataclass(frozen=True)
class DotRow:
    """A share, the ends of its interval, the text of both, and an optional verdict."""

    label: str
    value: float
    ends: tuple[float, float]
    shown: str
    verdict: str = ""


def dot_rows(
    name: str,
    heading: str,
    rows: Sequence[DotRow],
    *,
    lines: Mapping[str, float],
    limits: tuple[float, float],
    title: str,
    description: str,
    quiet: str = "",
) -> Markup:
    """Return a drawing under its heading and the text `quiet`; screen readers read its `title` and `description`.

    `lines`: shares with a vertical line, and the line's class in the style sheet.
    """
    room = min(max(svg.text_width(row.label) for row in rows), _WIDEST) + 12
    axes = Axes(
        width=room + _VALUES,
        height=_LINE * len(rows) + 8 + _BOTTOM,
        left=room,
        top=8,
        bottom=_BOTTOM,
        x_limits=(100 * limits[0], 100 * limits[1]),
        y_limits=(len(rows), 0),
    )
    parts = [*(axes.upwards(css, 100 * share) for css, share in lines.items()), axes.x_axis(most=3, unit="%")]
    for position, row in enumerate(rows):
        middle = position + 0.5
        marks = [
            svg.text(axes.left - 8, axes.y(middle) + 4, svg.shortened(row.label, _WIDEST), anchor="end"),
            axes.line("interval", [(100 * end, middle) for end in row.ends]),
            svg.verdict_mark(axes.x(100 * row.value), axes.y(middle), row.verdict),
        ]
        parts.append(Markup("<g><title>{}: {}</title>{}</g>").format(row.label, row.shown, Markup("").join(marks)))
    return Markup('<div class="trend"><p><b>{}</b> <span class="quiet">{}</span></p>{}</div>').format(
        heading, quiet, axes.drawing(name, title, description, *parts)
    )
