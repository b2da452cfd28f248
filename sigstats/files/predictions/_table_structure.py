"""What the structure of rows shows: cells that a column counts, and runs, models or tasks with the same items.

The rules `counted_cells` and `repeated_runs` take the `TableRows` of a table that is being read.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.calls import Errors
from sigstats._common.column_names import COUNTS, RUN_OR_MODEL
from sigstats._common.repeats import joint_codes

from ._columns import MODELS, Columns
from ._other_columns import as_dictionaries, may_count
from ._predictions import Ints, item_codes, places

#: Labels with this much information, in bits, do not agree by chance.
_BITS = 30
#: Of tables of counts: the most and the fewest rows, the smallest mean count, and the probability of a coincidence.
_MOST_CELLS, _FEWEST_CELLS, _MEAN_COUNT, _BY_CHANCE = 10_000, 4, 5, 1e-4
#: The most factors of counts without a usual name.
_MOST_FACTORS = 10
#: Runs have at least this many rows on average.
_FEWEST_OF_RUN = 20


def counted_cells(rows: Any) -> Errors:
    """Yield an error if rows without ids seem to be cells of a table, with a column that counts their rows.

    Each combination of the other columns appears once. In sparse and wide tables, the column must have a usual name.
    """
    used, n = rows.columns.wanted, rows.table.num_rows
    columns = as_dictionaries(rows.table.other_columns(()), n) if rows.by_position and n <= _MOST_CELLS else {}
    columns = {name: column for name, column in columns.items() if not column.null_count and len(column.dictionary) > 1}
    codes = {name: np.from_dlpack(column.indices).astype(np.int64) for name, column in columns.items()}
    answer = rows.columns.prediction if rows.has_predictions else str(rows.columns.score)
    for name in (name for name in columns if name not in used or name == rows.columns.units.weights):
        factors = [other for other in columns if other != name]
        sizes = [len(columns[factor].dictionary) for factor in factors]
        if not 1 < 2 * max(sizes, default=n) <= n or not may_count(columns[name]):
            continue
        # In a few rows of a sparse table, all combinations may differ by chance.
        is_named = name.lower() in COUNTS and n <= math.prod(sizes) <= max(2 * n, min(8 * n, n * n // 6))
        numbers: Any = columns[name].dictionary.cast(pa.string()).cast(pa.float64()).take(columns[name].indices)
        are_large = answer in factors and len(factors) <= _MOST_FACTORS and pc.mean(numbers).as_py() >= _MEAN_COUNT
        if not (is_named or are_large) or len(np.unique(joint_codes([codes[factor] for factor in factors]))) < n:
            continue
        if is_named or _differ_by_design(codes[answer], [codes[factor] for factor in factors if factor != answer]):
            problem = "seems to count the rows of a cell, but a cell is read as one row; repeat it"
            yield rows.table.error(name, f" {problem}, as frame.loc[frame.index.repeat(frame[{name!r}])] does")


def _differ_by_design(answer: Ints, others: Sequence[Ints]) -> bool:
    """Return True if answers differ within all cells of the other columns, which is unlikely by chance."""
    n, k, cells = len(answer), int(answer.max()) + 1, np.bincount(joint_codes(others)) if others else np.array([1])
    # The probability that independent answers differ in all cells is largest if they are equally frequent.
    chance = sum(math.lgamma(k + 1) - math.lgamma(k + 1 - m) - m * math.log(k) for m in cells.tolist())
    return n == k * len(cells) >= _FEWEST_CELLS or chance < math.log(_BY_CHANCE)


def repeated_runs(rows: Any) -> Errors:
    """Yield an error if the labels of rows without ids repeat, as for several runs or models on the same items."""
    units, n, answers = rows.columns.units, rows.table.num_rows, {rows.columns.label, rows.columns.prediction}
    repeated = units.group or units.run or units.epoch or units.order or rows.columns.duplicates
    if not rows.by_position or rows.is_label_file or not rows.has_labels or repeated:
        return
    columns = as_dictionaries(rows.table.other_columns(answers), n)
    codes = {
        name: np.from_dlpack(column.indices).astype(np.int64)
        for name, column in columns.items()
        if not column.null_count and 1 < len(column.dictionary) <= n // _FEWEST_OF_RUN
    }
    label = item_codes(rows.label[: n * bool(codes)].cast(pa.string()))
    for name, runs in codes.items():
        is_named, sizes = RUN_OR_MODEL.fullmatch(name), np.bincount(runs)
        order = np.argsort(runs, kind="stable")
        repeat = is_named and _same_items(runs, places(runs, order), label) is not None
        if not repeat and not np.ptp(sizes):
            by_run = label[order].reshape(len(sizes), -1)
            alike = not np.ptp(by_run, axis=0).any() and (len(sizes) - 1) * _bits(by_run[0]) >= _BITS
            repeat = (alike and not _are_design(codes, n)) or _are_crossed(runs, int(sizes[0]), label, columns)
        if repeat:
            problem = "seems to name runs, models or versions of the same rows, since the labels repeat"
            column = "" if name == MODELS else f"rename it to {MODELS} and "
            of_items = f"add ids of items and --run {name} (trainings) or --group ID (answers of one model)"
            yield rows.table.error(name, f" {problem}; {column}add --model NAME to read one, or {of_items}")


def _are_crossed(runs: Ints, size: int, label: Ints, columns: Mapping[str, Any]) -> bool:
    """Return True if another column has each of its values once in each run, always with the same one of the labels.

    `size`: the number of rows of each run.
    """
    for column in columns.values() if np.ptp(label) else ():
        if column.null_count or len(column.dictionary) != size:
            continue
        items = np.from_dlpack(column.indices).astype(np.int64)
        if (
            len(np.unique(joint_codes([items, runs]))) == len(runs)
            and len(np.unique(joint_codes([items, label]))) == size
        ):
            return True
    return False


def _are_design(codes: Mapping[str, Ints], n: int) -> bool:
    """Return True for a design: no rows agree in all coarse columns. If a factor has no effect, its labels repeat."""
    coarse = [of for of in codes.values() if of.max() < math.isqrt(n)]
    return bool(coarse) and len(np.unique(joint_codes(coarse))) == n


def have_same_items(
    where: str,
    names: Sequence[str],
    tasks: Any,
    ids: Any,
    labels: Any,
    columns: Columns,
    *,
    named: bool = False,
    lacks_ids: bool = False,
) -> bool:
    """Return True if two tasks have the same items; unless rows are grouped by id, this is a ValueError.

    `tasks`, `ids`, `labels`: those of each row, tasks as positions of their names. `named`: as in `_same_items`.
    """
    item, label = item_codes(ids.cast(pa.string())), item_codes(labels.cast(pa.string()))
    same = _same_items(tasks, item, label, named=named)
    if same and columns.units.group != columns.id:
        first, other, n = same
        problem = f"{where}: {names[first]} and {names[other]} have the same {n:,} items"
        remedy = f"add {'ids and ' * lacks_ids}--group {columns.id}, since rows of an item are dependent"
        raise ValueError(f"{problem}; {remedy}, or write runs of a recipe as one table and add --run COLUMN")
    return same is not None


def _same_items(tasks: Ints, ids: Ints, labels: Ints, *, named: bool = False) -> tuple[int, int, int] | None:
    """Return the first two tasks that seem to have the same items, and the number of these items; None otherwise.

    The labels of their shared ids all agree and, unless the tasks are `named` as runs, cannot agree by chance.
    """
    shared = np.flatnonzero(np.bincount(ids)[ids] > 1)
    distinct, items = np.unique(ids[shared], return_inverse=True)
    table = np.full((int(tasks.max()) + 1, len(distinct)), -1, np.int32)  # the label of each item in each task
    table[tasks[shared], items] = labels[shared]
    for first, row in enumerate(table[:-1]):
        later = table[first + 1 :]
        both = (row >= 0) & (later >= 0)
        differs = (both & (later != row)).any(axis=1)
        for other in np.flatnonzero(both.any(axis=1) & ~differs):
            if named or _bits(row[both[other]]) >= _BITS:
                return first, first + 1 + int(other), int(both[other].sum())
    return None


def _bits(labels: Ints) -> float:
    """Return the bits of information in labels, given the previous one: 0 for blocks, 1 each if most are distinct."""
    codes = np.unique(labels, return_inverse=True)[1]
    n, k = len(codes), int(codes.max()) + 1
    if 2 * k > n:
        return float(n)
    if np.count_nonzero(np.diff(codes)) < k:
        return 0.0
    pairs, counts = np.unique(codes[:-1] * k + codes[1:], return_counts=True)
    of_previous = np.bincount(codes[:-1])[pairs // k]
    return float((counts * np.log2(of_previous / counts)).sum())  # the empirical conditional entropy, times n
