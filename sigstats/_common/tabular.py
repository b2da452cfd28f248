"""The base of results: a table, as text, HTML, Markdown, LaTeX and data frame."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .extras import need
from .messages import for_markdown, for_markdown_cell, printable
from .numerals import number, significant

#: Sequences and arrays of more elements are shown by their first and last ones.
_MOST_SHOWN = 100
_ENDS = 3

Record = TypeVar("Record")


@dataclass(frozen=True)
class Table:
    """The content of a table: cells below each heading, lines below the table, and how many columns are words."""

    title: str
    columns: Mapping[str, Sequence[str]]
    notes: Sequence[str] = ()
    words: int = 1
    #: The cells in bold, as pairs of row and column.
    strong: Collection[tuple[int, int]] = ()

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells, row by row."""
        return list(zip(*self.columns.values(), strict=True))

    def marked(self, write: Callable[[str], str], bold: str) -> list[list[str]]:
        """Return the cells in the notation of a format. `bold` surrounds the cells in bold."""
        rows = [list(map(write, row)) for row in self.rows]
        for row, place in self.strong:
            rows[row][place] = bold.format(rows[row][place])
        return rows


class Tabular:
    """Base class of results that print as a table. A subclass may define its columns, head and foot."""

    #: The field whose records are the rows. A result without such a field is its own only row.
    _records = ""

    def _columns(self) -> dict[str, list[Any]]:
        rows: Any = getattr(self, self._records) if self._records else (self,)
        return columns_of(rows, type(rows[0]))

    def _in_words(self) -> dict[str, list[str]]:
        return {name.replace("_", " "): list(map(in_words, cells)) for name, cells in self._columns().items()}

    def _table(self) -> Table:
        return Table(type(self).__name__, self._in_words())

    def to_pandas(self) -> Any:
        """Return the table as a `pandas.DataFrame`, in which an interval is two columns."""
        import narwhals as nw

        need("pandas")
        columns: dict[str, list[Any]] = {}
        for name, cells in self._columns().items():
            if "interval" in name.split("_"):
                for end, place in enumerate(("low", "high")):
                    ends = [math.nan if cell is None else cell[end] for cell in cells]
                    columns[name.replace("interval", place).removeprefix("confidence_")] = ends
            else:
                columns[name] = cells if any(cell is not None for cell in cells) else [math.nan] * len(cells)
        return nw.from_dict(columns, backend="pandas").to_native()

    def to_markdown(self) -> str:
        """Return the table in GitHub's Markdown, below its title."""
        table = self._table()
        rule = ["---" if place < table.words else "--:" for place in range(len(table.columns))]
        rows = table.marked(for_markdown_cell, "**{}**")
        lines = [f"| {' | '.join(row)} |" for row in (map(for_markdown_cell, table.columns), rule, *rows)]
        return "\n\n".join([for_markdown(table.title), "\n".join(lines), *map(for_markdown, table.notes)])

    def to_latex(self) -> str:
        """Return the table as LaTeX's ``tabular``, with the title as a comment."""
        table = self._table()
        places = "l" * table.words + "r" * (len(table.columns) - table.words)
        cells = [list(map(_latex, table.columns)), *table.marked(_latex, r"\textbf{{{}}}")]
        head, *rows = (f"{' & '.join(row)} \\\\" for row in cells)
        body = "\n".join([head, r"\hline", *rows])
        return f"% {_one_line(table.title)}\n\\begin{{tabular}}{{{places}}}\n\\hline\n{body}\n\\hline\n\\end{{tabular}}"

    def __str__(self) -> str:
        table = self._table()
        cells = [list(map(_one_line, row)) for row in (table.columns, *table.rows)]
        lines = in_columns(cells, left=table.words)
        return "\n".join([_one_line(table.title), *lines, *map(_one_line, table.notes)])

    def _repr_html_(self) -> str:
        from html import escape

        table = self._table()

        def shown(text: str) -> str:
            return escape(_one_line(text))

        def cells(row: Iterable[str], tag: str) -> str:
            return "".join(f"<{tag}>{cell}</{tag}>" for cell in row)

        body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in table.marked(shown, "<b>{}</b>"))
        head, notes = cells(map(shown, table.columns), "th"), cells(map(shown, table.notes), "p")
        return (
            f"<div><p><strong>{escape(_one_line(table.title))}</strong></p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{notes}</div>"
        )


def columns_of(records: Iterable[Any], kind: type) -> dict[str, list[Any]]:
    """Return the fields of records of a kind that are shown as columns."""
    rows = list(records)
    return {field.name: [getattr(row, field.name) for row in rows] for field in fields(kind) if field.repr}


def with_known(record: Record, **values: Any) -> Record:
    """Return the frozen record with other values of some fields, which must be valid."""
    made = object.__new__(type(record))
    made.__dict__.update(vars(record), **values)
    return made


def in_columns(rows: Sequence[Sequence[str]], *, left: int) -> list[str]:
    """Return the lines of a table. The first columns are aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = (
        "  ".join(
            cell.ljust(width) if position < left else cell.rjust(width)
            for position, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return [line.rstrip() for line in aligned]


def shown_record(record: Any) -> str:
    """Return the call that creates a record, with long sequences cut to their first and last elements."""
    shown = (f"{field.name}={_shown(getattr(record, field.name))}" for field in fields(record) if field.repr)
    return f"{type(record).__name__}({', '.join(shown)})"


class ArrayRecord:
    """Base class of dataclasses made with ``eq=False, repr=False``.

    Two records are equal if their fields have equal shapes, kinds of numbers and values; missing values equal each
    other. Records have no hash. Their `repr` rounds no number, and shows only the first and last of more than a hundred
    elements.
    """

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    __repr__ = shown_record

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return all(_equal(getattr(self, name), getattr(other, name)) for name in names)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        floats = one.dtype.kind == "f"
        return one.dtype.kind == other.dtype.kind and bool(np.array_equal(one, other, equal_nan=floats))
    return bool(one == other)


def in_words(value: Any) -> str:
    """Return the text of a cell: numbers with four significant digits, intervals as "low to high"."""
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return number(int(value), 0)
    if isinstance(value, (float, np.floating)):
        return significant(float(value), 4) if math.isfinite(value) else str(value).replace("-", "−")
    if hasattr(value, "confidence_level"):
        return f"{in_words(value.low)} to {in_words(value.high)}"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        kept = _ends(value) if value.size > _MOST_SHOWN else value
        return f"array({kept.tolist()})".replace("Ellipsis", "...")
    if isinstance(value, (tuple, list)) and len(value) > _MOST_SHOWN:
        return repr((*value[:_ENDS], ..., *value[-_ENDS:])).replace("Ellipsis", "...")
    return repr(value)


def _ends(array: NDArray[Any]) -> NDArray[Any]:
    """Return the first and last elements along each axis, with dots between them."""
    kept: NDArray[Any] = array.astype(object)
    for axis, length in enumerate(array.shape):
        if length > 2 * _ENDS:
            first, last = (np.take(kept, places, axis) for places in (range(_ENDS), range(length - _ENDS, length)))
            between = np.full_like(np.take(kept, [0], axis), ...)
            kept = np.concatenate([first, between, last], axis)
    return kept


_LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",  # as it is, LaTeX's usual fonts have other signs in its place
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "×": r"$\times$",
    "–": "--",
}


def _latex(text: str) -> str:
    written = "".join(_LATEX.get(character, character) for character in _one_line(text))
    for digit, power in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹"):
        written = written.replace(power, f"\\textsuperscript{{{digit}}}")
    return written.replace("⁻", r"\textsuperscript{$-$}").replace("}\\textsuperscript{", "")
