"""Columns that no option uses, although they mark rows that should not count like the others.

Another note names texts declared as missing values that no file contains.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.column_names import WEIGHTS
from sigstats._common.data_frames import joint_codes
from sigstats._common.messages import Note, shown, some_of

from ..tables.spelling import is_number, same_spelling
from ..tables.table import Table, in_one
from ._predictions import Ints, dictionaries, item_codes, places

_PARTS = frozenset({"split", "subset", "partition", "set", "dataset_split", "phase"})
_TRAINING = frozenset({"train", "training", "train_set", "fit"})
_ERRORS = frozenset({"error", "error_message", "error_type", "exception", "traceback", "failure"})
_NO_ERROR = frozenset({"", "false", "no", "none", "null", "nan", "n/a", "ok", "success"})
_STATES = frozenset({"status", "state", "run_status"})
_NOT_FINISHED = frozenset({"error", "errored", "timeout", "timed_out", "crashed", "aborted", "cancelled", "canceled"})
_CORRECT, _TRUTH_VALUES = frozenset({"correct", "is_correct"}), ("0", "1", "false", "true")
_COUNTS = frozenset({"count", "counts", "n", "n_rows", "num_rows", "freq", "frequency", "cases", "n_votes"})
#: Labels with this much information, in bits, do not agree by chance.
_BITS = 40
#: Names of columns of runs or models; columns of features may repeat labels by design.
_RUNS = re.compile(
    r"(?i)(random_|train_|training_)?(seed|run|fold|epoch|trial|model|checkpoint|system)(_?(name|id|nr))?"
)


#: Name of notes on a text that no file contains.
UNUSED = "unused-missing"


def notes_of_all(*files: Iterable[Note]) -> list[Note]:
    """The notes of all files, without those on texts that mean a missing value in another one of the files."""
    given = [[*notes] for notes in files]
    return [note for notes in given for note in notes if note.name != UNUSED or all(note in of for of in given)]


def is_training(name: str) -> bool:
    """True for the usual name of a training set."""
    return name.lower() in _TRAINING


def is_telling(name: str) -> bool:
    """True for a column that is read only for a note."""
    return name.lower() in _PARTS | _ERRORS | _STATES | _CORRECT | WEIGHTS


def unused_notes(table: Table, used: Collection[str], said: Sequence[Any]) -> Iterator[Note]:
    """Notes on training rows and rows with an error, which count like all others, and on other verdicts.

    `said`: the labels and predictions; empty if another column may have a verdict on them.
    """
    for name, column in table.other_columns(used).items():
        if not is_telling(name):
            continue
        if name.lower() in _CORRECT and said:
            words = pc.utf8_lower(table.texts_or_missing(name))
            yes, either = (pc.is_in(words, value_set=pa.array(known)) for known in (["1", "true"], [*_TRUTH_VALUES]))
            right = pc.equal(*same_spelling([part.cast(pa.string()) for part in said]))
            if odd := pc.sum(pc.and_(either, pc.xor(yes, right))).as_py():
                told = f"column {shown(name)}, which is not used, contradicts label and prediction"
                yield Note("unused-column", f"{told} in {odd:,} of {table.num_rows:,} rows (--score {name})")
        if name.lower() in WEIGHTS and pc.count_distinct(column).as_py() > 1:
            yield Note("unused-column", f"column {shown(name)} is not used: rows count equally (compare --weights)")
        key, counts = name.lower(), _counts(column)
        apart = {
            text: count
            for text, count in counts.items()
            if (key in _PARTS and is_training(text))
            or (key in _ERRORS and not (text.lower() in _NO_ERROR or is_number(text)))
            or (key in _STATES and text.lower().replace(" ", "_") in _NOT_FINISHED)
        }
        rows = sum(apart.values())
        if 0 < rows < table.num_rows:
            stated = f"rows have {some_of([*map(shown, apart)], 3)} in column {shown(name)}, which is not used"
            yield Note("unused-column", f"{rows:,} of {table.num_rows:,} {stated}; they count like the other rows")


def _counts(column: Any) -> Counter[str]:
    """Number of rows with each text; empty if the column has no texts."""
    values = in_one(column)
    values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return Counter()
    return Counter({one["values"]: one["counts"] for one in pc.value_counts(values.drop_null()).to_pylist()})


def refuse_other_units(table: Table, label: Any, used: Collection[str], *, once: bool) -> None:
    """Refuse rows that are cells, distinct in all columns but a count; if `once`, also items of several runs.

    A column that is not `used` counts, under any name, if most combinations of the other columns occur, once each.
    """
    columns = dictionaries(table.other_columns(()), table.num_rows)
    whole = {name: column for name, column in columns.items() if not column.null_count}
    known = {name: np.from_dlpack(column.indices).astype(np.int64) for name, column in whole.items()}
    n = table.num_rows
    answers = [codes for name, codes in known.items() if name in used]
    complete = len(known) == len(columns) and all(codes.any() for codes in answers)  # all right is not a factor
    for counts in known:
        others = {name: codes for name, codes in known.items() if name != counts}
        sizes = [int(codes.max()) + 1 for codes in others.values()]
        most = 8 * n if counts.lower() in _COUNTS else 2 * n - 1 if complete and counts not in used else 0
        if sizes and 2 * max(sizes) <= n and math.prod(sizes) <= most:
            texts = whole[counts].dictionary.cast(pa.string())
            is_count = pc.all(pc.match_substring_regex(texts, r"^[0-9]+(\.0)?$")).as_py()
            if is_count and len(np.unique(joint_codes([*others.values()]))) == n:
                told = "seems to count the rows of a cell, but a cell is read as one row; repeat it"
                raise table.error(counts, f" {told}, as frame.loc[frame.index.repeat(frame[{counts!r}])] does")
    for name, own in known.items() if once else ():
        few = 20 * int(own.max() + 1) <= n and _RUNS.fullmatch(name)
        if few and same_items(own, places(own, np.argsort(own, kind="stable")), item_codes(label.cast(pa.string()))):
            told = "seems to name runs or models on the same rows, since the labels repeat"
            cure = f"--model-column {name} and --model NAME to read one, or ids of items and --run {name}"
            raise table.error(name, f" {told}; add {cure}")


def same_items(part: Ints, ids: Ints, labels: Ints, *, named: bool = False) -> tuple[int, int, int] | None:
    """Two parts and the number of their common ids, if `named` as runs or if labels agree beyond chance; else None."""
    shared = np.flatnonzero(np.bincount(ids)[ids] > 1)
    distinct, ids = np.unique(ids[shared], return_inverse=True)
    table = np.full((int(part.max()) + 1, len(distinct)), -1, np.int32)
    table[part[shared], ids] = labels[shared]
    for place, own in enumerate(table[:-1]):
        both = (own >= 0) & (table[place + 1 :] >= 0)
        odd = (both & (table[place + 1 :] != own)).any(axis=1)
        for other in np.flatnonzero(both.any(axis=1) & ~odd):
            if named or _bits(own[both[other]]) >= _BITS:
                return place, place + 1 + int(other), int(both[other].sum())
    return None


def _bits(labels: Ints) -> float:
    """The information of labels, given the previous label, in bits: 0 for blocks, all bits if most are distinct."""
    codes = np.unique(labels, return_inverse=True)[1]
    n, k = len(codes), int(codes.max()) + 1
    if 2 * k > n:
        return float(n)
    if np.count_nonzero(np.diff(codes)) < k:
        return 0.0
    pairs = np.unique(codes[:-1] * k + codes[1:], return_counts=True)
    return float((pairs[1] * np.log2(np.bincount(codes[:-1])[pairs[0] // k] / pairs[1])).sum())
