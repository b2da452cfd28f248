"""The rows that a candidate broke or fixed, one a line of a table."""

import csv
import io
from collections.abc import Iterator, Sequence

import numpy as np

from sigstats.comparison.paired_predictions import PairedPredictions

from ..pages.wording import count_of

#: Changes for the worse come first.
_OF_ANSWERS, _OF_MARKS = ("broken", "fixed"), ("worse", "better")


def changed_as_csv(pairs: Sequence[PairedPredictions]) -> tuple[str, str]:
    """The table of the changed rows by each score, and how many there are in words.

    Answers change where one model alone is right; marks, of rows without predictions, where they differ.
    """
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["id", *pairs[0].slices, "label", "baseline", "candidate", "score", "change"])
    counts: dict[str, int] = {}
    for pair in pairs:
        if pair.compared:  # the answers are those of the first score
            continue
        for row in _changed(pair):
            counts[row[-1]] = counts.get(row[-1], 0) + 1
            writer.writerow(row)
    words = [
        count_of(counts[each], f"row {each}", f"rows {each}") for each in (*_OF_ANSWERS, *_OF_MARKS) if each in counts
    ]
    return target.getvalue(), ", ".join(words) or "no row changed"


def _changed(pair: PairedPredictions) -> Iterator[list[str]]:
    if pair.predicted:
        loss = (pair.a == pair.label) * 1 - (pair.b == pair.label)
        names = _OF_ANSWERS
    else:
        assert pair.scores is not None
        loss = np.sign(pair.scores[0] - pair.scores[1]) * (-1 if pair.lower else 1)
        names = _OF_MARKS
    for worse, change in zip((1, -1), names, strict=True):
        for row in np.flatnonzero(loss == worse).tolist():
            slices = [values[codes[row]] for values, codes in pair.slices.values()]
            if pair.predicted:
                said = [pair.classes[codes[row]] for codes in (pair.a, pair.b)]
            else:
                assert pair.scores is not None
                said = [repr(float(marks[row])) for marks in pair.scores]
            label = "" if pair.graded else pair.classes[pair.label[row]]
            yield [str(pair.ids[row].as_py()), *slices, label, *said, pair.score_column, change]
