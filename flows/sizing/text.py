"""A sample-size plan in the terminal."""

from collections.abc import Iterable, Iterator, Sequence

from sigstats._common.printable import printable
from sigstats.comparison.size import SizePlan

from .power_plot import power_text
from .words import DROPS_HEADER, PARTS_HEADER, answers_cells, answers_header, basis, drop_cells, headline, part_cells


def show(found: SizePlan) -> None:
    """Print the headline, its basis, the tables and the curves."""
    lines = [f"{headline(found)}.", *(f"{line}." for line in basis(found)), ""]
    lines += _table(DROPS_HEADER, [drop_cells(found, each) for each in found.drops])
    if found.answers:
        lines += ["", *_table(answers_header(found), map(answers_cells, found.answers))]
    if len(found.parts) > 1:
        lines += ["", *_table(PARTS_HEADER, map(part_cells, found.parts))]
    for line in [*lines, "", *power_text(found)]:
        print(printable(line))  # noqa: T201


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    cells = [tuple(header), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
