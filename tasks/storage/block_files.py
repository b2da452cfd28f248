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
    match = _NAME.search(name)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2])
    return (first, last) if first < last <= cell.replicates and first % cell.lane_size == 0 else None


def usable_range(cell: Cell, first: int, last: int) -> tuple[int, int]:
    """Return the part of a file's range that a cell can use: the whole lanes, since the last lane may be cut short."""
    return first, last if last == cell.replicates else last - last % cell.lane_size


def require_range(tables: Iterable[pa.Table], first: int, last: int, file: str = "") -> None:
    """Raise Damaged (ValueError without a `file`) unless tables contain exactly the replicates of this range."""
    problem = f"replicates are not valid; expected {first} to {last - 1} in order"
    error = Damaged(f"{file}: {problem}") if file else ValueError(problem)
    begin = end = first  # of the row before
    for table in tables:
        numbers, ends = _bounds(table)
        # A row has the same replicate as the row before, or the next one.
        fits = (numbers == np.append(begin, numbers[:-1])) | (numbers == np.append(end, ends[:-1]))
        if not len(numbers) or not fits.all():
            raise error
        begin, end = int(numbers[-1]), int(ends[-1])
    if end != last:
        raise error


def _bounds(table: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first replicate of each row, and its last replicate plus one."""
    numbers = to_numpy(table.column(REPLICATE.name))
    span = to_numpy(table.column(SPAN.name)) if SPAN.name in table.column_names else 1
    return numbers, numbers + span


def replicates_of(table: pa.Table) -> int:
    """Return the number of replicates up to the end of a table."""
    return int(_bounds(table.slice(len(table) - 1))[1][0])


def first_replicates(table: pa.Table, replicates: int) -> pa.Table:
    """Return the rows of a table that begin with one of the first `replicates` replicates."""
    return table.slice(0, int(np.searchsorted(table.column(REPLICATE.name).to_numpy(), replicates)))


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
        reached, replicates, minus_files, chain = best[bisect_right(ends, first, hi=number)]
        reached = last if reached == first else reached
        with_file = (reached, replicates + last - first, minus_files - 1, ((first, last), chain))
        best.append(max(best[-1], with_file, key=lambda choice: choice[:3]))
    chosen, chain = [], best[-1][3]
    while chain is not None:
        file, chain = chain
        chosen.append(file)
    return chosen[::-1]
