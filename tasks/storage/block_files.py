"""The files of a cell's replicates: their names, and the choice among overlapping files.

Each file contains a range of replicates, ``first <= replicate < last``, in order. The name gives the range.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..plan import Cell
from ..schema import REPLICATE, SPAN, to_numpy
from .seal import Damaged

#: The folders of finished cells, and of the blocks of unfinished cells.
REPLICATES, BLOCKS = "replicates", "blocks"
#: The folder of parts of cells, which are stored for later plans with more parts.
PARTS = "counts"
_NAME = re.compile(r"/(\d+)-(\d+)\.parquet$")


def folders(cell: Cell) -> tuple[str, str]:
    """Return the folder of a finished cell, and the folder of its blocks."""
    return f"{REPLICATES}/{cell.name}", f"{BLOCKS}/{cell.name}"


def finished_name(cell: Cell, first: int, last: int) -> str:
    """Return the name of the file of a finished cell."""
    return f"{folders(cell)[0]}/{first:09d}-{last:09d}.parquet"


def block_name(cell: Cell, first: int, last: int) -> str:
    """Return the name of the file of a block."""
    if (first, last) == (0, cell.replicates) and cell.stopping is None:
        return finished_name(cell, first, last)  # one block is the whole cell
    return f"{folders(cell)[1]}/{first:09d}-{last:09d}.parquet"


def range_of(cell: Cell, name: str) -> tuple[int, int] | None:
    """Return the range in the name of a file, or None if the cell has no such block.

    The last lane of a file may be incomplete if it was written for a plan with fewer replicates.
    """
    bounds = range_in(name)
    if bounds is None:
        return None
    first, last = bounds
    return bounds if first < last <= cell.replicates and first % cell.lane_size == 0 else None


def range_in(name: str) -> tuple[int, int] | None:
    """Return the range in the name of a file, or None if the name contains no range."""
    match = _NAME.search(name)
    return None if match is None else (int(match[1]), int(match[2]))


def usable_range(cell: Cell, first: int, last: int) -> tuple[int, int]:
    """Return the part of a file's range that a cell can use: the whole lanes, since the last lane may be cut short."""
    return first, last if last == cell.replicates else last - last % cell.lane_size


def require_range(tables: Iterable[pa.Table], first: int, last: int, file: str = "") -> None:
    """Raise Damaged (ValueError without a `file`) unless tables contain exactly the replicates of this range."""
    begin = end = first
    for table in tables:
        numbers, ends = _bounds(table)
        fits = (numbers == np.append(begin, numbers[:-1])) | (numbers == np.append(end, ends[:-1]))
        if not len(numbers) or not fits.all():
            break
        begin, end = int(numbers[-1]), int(ends[-1])
    else:
        if end == last:
            return
    problem = f"replicates are not valid; expected {first} to {last - 1} in order"
    raise Damaged(f"{file}: {problem}") if file else ValueError(problem)


def _bounds(table: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first replicate of each row, and its last replicate plus one."""
    numbers = to_numpy(table.column(REPLICATE.name))
    several = SPAN.name in table.column_names
    return numbers, numbers + (to_numpy(table.column(SPAN.name)) if several else 1)


def replicates_of(table: pa.Table) -> int:
    """Return the number of replicates up to the end of a table."""
    return int(_bounds(table.slice(len(table) - 1))[1][0])


def first_replicates(table: pa.Table, replicates: int) -> pa.Table:
    """Return the rows of a table that begin with one of the first `replicates` replicates."""
    return table.slice(0, int(np.searchsorted(table.column("replicate").to_numpy(), replicates)))


def disjoint(files: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Choose ranges of files that do not overlap; return them in order.

    The choice covers the longest range without a gap from the first replicate on; among such choices, it has the most
    replicates in the fewest files. Two runs that share the root cut a cell in different ways, and the cell is complete
    as soon as one run has completed it. If a stopping rule ended a cell, a block that overlaps the file of the finished
    cell cannot displace it.
    """
    files = sorted(files, key=lambda file: file[::-1])
    ends = [last for _, last in files]
    # The best choice among the first k files, for each k: the end of its gapless range, the number of replicates, minus
    # the number of files, and the chain of chosen files.
    best: list[tuple[int, int, int, Any]] = [(0, 0, 0, None)]
    for number, (first, last) in enumerate(files):
        reached, replicates, fewer, before = best[bisect_right(ends, first, hi=number)]
        reached = last if reached == first else reached
        choice = (reached, replicates + last - first, fewer - 1, (number, before))
        best.append(max(best[-1], choice, key=lambda one: one[:3]))
    numbers, chain = [], best[-1][3]
    while chain is not None:
        number, chain = chain
        numbers.append(number)
    return [files[number] for number in reversed(numbers)]
