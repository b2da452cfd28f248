"""Which rows are answers to the same item, and what a file holds on each row, by which copies are known."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats.comparison.paired_predictions import Beside

from ..tables.arrow_table import in_one
from ._predictions import Predictions

Ints = NDArray[np.int64]

#: So many values are looked at; larger files would take longer to read.
MOST_VALUES = 2**20
#: Of larger files of text only what is compared is read.
SMALL_FILE = 2**23
_FRACTION, _DATE = r"^[+-]?[0-9]*[.,][0-9]*[1-9]", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ]|$)"


def taken(column: Any, rows: Any) -> Any:
    """Some rows of a column; the column itself, without a copy, if these are all rows in order.

    `column` and `rows`: rows are positions in the column, each there once or not at all.
    """
    if len(rows) == len(column) and isinstance(rows, pa.Array) and not rows.null_count:
        positions = np.from_dlpack(rows)
        if bool((positions[1:] > positions[:-1]).all()):
            return column
    return column.take(rows)


def item_codes(ids: Any) -> Ints:
    """The number of the item of each row, by first appearance."""
    codes = in_one(pc.index_in(ids, value_set=pc.unique(ids)))
    values: Ints = np.from_dlpack(codes).astype(np.int64)
    return values


def first_rows(codes: Ints) -> Ints:
    """The first row of each item."""
    counts = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    counts[codes[::-1]] = np.arange(len(codes))[::-1]
    return counts


def occurrences(ids: Any) -> Any | None:
    """For each row its number among the rows with its id, from 1, as text; None if every id appears once."""
    codes = item_codes(ids)
    if len(codes) == 0 or int(codes.max()) + 1 == len(codes):
        return None
    return pc.cast(pa.array(places(codes, np.argsort(codes, kind="stable")) + 1), pa.string())


def places(codes: Ints, order: Ints) -> Ints:
    """For each row its number among the rows of its item, from 0; `order`: all rows, by item."""
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    by_order = np.empty(len(codes), dtype=np.int64)
    by_order[order] = np.arange(len(codes)) - starts[codes[order]]
    return by_order


def dictionaries(columns: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """Arrow columns as dictionary arrays; empty if there are too many values, or lists and objects among them."""
    if (len(columns) + 1) * rows > MOST_VALUES:
        return {}
    by_name = {}
    for name, column in columns.items():
        try:
            whole = in_one(column)
            by_name[name] = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
        except (pa.ArrowException, NotImplementedError):
            return {}
    return by_name


def beside_codes(first: Predictions, other: Predictions, rows: Any = None, partners: Any = None) -> Beside:
    """The content, other than the compared columns, of the rows that both files have, as codes from 0.

    First the codes of all columns of either file together, of a log of the question; None if there are none. Then of
    those that may name groups of rows: complete, the same in both files, and no fractions; and the names of dates.
    """
    sides = []
    for side, chosen in ((first, rows), (other, partners)):
        asked = without_target(side.identity) if side.epoch is None else {}
        value = side.beside or dictionaries(asked, len(side.ids))
        sides.append({n: v if chosen is None else v.take(chosen) for n, v in value.items() if len(v) == len(side.ids)})
    codes = [{name: _codes(item) for name, item in side.items()} for side in sides]
    told = next(filter(None, codes), None)
    if not told or not len(next(iter(told.values()))):
        return Beside()
    from sigstats._common.data_frames import joint_codes

    columns = {name: [side[name] for side in sides if name in side] for name in told}
    alike = {
        name: own
        for name, own in told.items()
        if not any(part.null_count or pc.any(_matches(part, _FRACTION)).as_py() for part in columns[name])
        and all(name not in side or _same_parts(own, side[name]) for side in codes)
    }
    times = [name for name in alike if all(pc.all(_matches(part, _DATE)).as_py() for part in columns[name])]
    question = [told[name] for name in without_target(first.identity) if name in told]
    content = joint_codes(question or list(told.values()))
    return Beside(None if _meet_by_chance(content, question or list(told.values())) else content, alike, times)


def _meet_by_chance(content: Ints, columns: Sequence[Ints]) -> bool:
    """True if equal rows are no more frequent than chance explains, for several independent columns of categories."""
    n, pairs = len(content), len(content) * (len(content) - 1) / 2
    if n < 2 or len(columns) < 2 or max(int(codes.max()) + 1 for codes in columns) > n / 2:
        return False
    equal, *of_columns = ((k := np.bincount(codes)) @ (k - 1) / 2 for codes in (content, *columns))
    expected = math.prod(number / pairs for number in of_columns) * pairs
    return bool(equal <= expected + 3 * math.sqrt(expected) + 1)


def without_target(identity: Mapping[str, Any]) -> dict[str, Any]:
    """The question of a log without its answer."""
    return {name: item for name, item in identity.items() if not name.startswith("target")}


def _codes(column: Any) -> Ints:
    texts = column.dictionary.cast(pa.string())
    places = pc.rank(texts) if pc.all(_matches(column, _DATE)).as_py() else range(len(texts))
    indices = pc.fill_null(column.indices.cast(pa.int64()), -1)
    return np.unique(np.append(places, -1)[np.from_dlpack(indices)], return_inverse=True)[1].astype(np.int64)


def _matches(column: Any, pattern: str) -> Any:
    return pc.match_substring_regex(column.dictionary.cast(pa.string()), pattern)


def _same_parts(one: Ints, other: Ints) -> bool:
    pairs = np.unique(one * (int(other.max()) + 1) + other)
    return len(pairs) == len(np.unique(one)) == len(np.unique(other))
