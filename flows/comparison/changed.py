"""The rows that a candidate broke or fixed or, with several answers to an item, the items that changed or are flaky."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.messages import for_markdown, markdown_table
from sigstats._common.numerals import count_of
from sigstats._common.validation import FloatArray, IntArray
from sigstats.comparison.paired_predictions import ItemTotals, PairedPredictions
from sigstats.multiplicity import adjust_pvalues

#: The kinds of change of answers, of marks and of items with several answers; those for the worse come first.
_OF_ANSWERS, _OF_MARKS, _OF_ITEMS = (
    ("broken", "fixed", "differently wrong"),
    ("worse", "better"),
    ("broken", "fixed", "flaky"),
)
#: The most rows that a comment or a page lists.
_MOST_LISTED = 20


@dataclass(frozen=True)
class Changed:
    """The changed rows or items as text, with the kind of change in the last column, and their number in words."""

    header: tuple[str, ...]
    rows: list[list[str]]
    words: str

    @property
    def listed(self) -> list[list[str]]:
        """The first changed rows or items, for a comment or a page."""
        return self.rows[:_MOST_LISTED]

    @property
    def for_page(self) -> tuple[list[tuple[str, str]], list[list[tuple[str, str]]]]:
        """The header and the first rows for a page: with the alignment of columns, and without sort keys."""
        return [(name, "words") for name in self.header], [[(cell, "") for cell in row] for row in self.listed]

    def as_csv(self) -> str:
        """Return a table of all changes."""
        target = io.StringIO()
        csv.writer(target, lineterminator="\n").writerows([self.header, *self.rows])
        return target.getvalue()

    def as_markdown(self) -> str:
        """Return the first changes, for a comment."""
        table = markdown_table(self.header, [[name[:80] for name in row] for row in self.listed])
        return "\n".join(["", f"{for_markdown(self.words)}.", "", *table])


def changed_of(pairs: Sequence[PairedPredictions], alpha: float) -> Changed:
    """Return the changed rows of each score.

    Answers change if only one model is right, or if both are wrong and differ; marks of rows without predictions change
    if they differ. An item with several answers is flaky if a model was both right and wrong about it, and changed if
    Fisher's exact test of the answers of both, adjusted by Holm over the items, is significant at `alpha`.
    """
    first, rows = pairs[0], list[list[str]]()
    of_items = first.units.items is not None and first.predicted
    if of_items:
        rows = list(_changed_items(first, alpha))
        header = ("id", *first.units.slices, "baseline", "candidate", "p", "p_adjusted", "change")
    else:
        header = ("id", *first.units.slices, "label", "baseline", "candidate", "score", "change")
        # The answers are those of the first score.
        rows = [row for pair in pairs if not pair.compared for row in _changed_rows(pair)]
    kinds, noun = [row[-1] for row in rows], "item" if of_items else "row"
    words = [
        count_of(kinds.count(name), f"{noun} {name}", f"{noun}s {name}")
        for name in dict.fromkeys((*_OF_ITEMS, *_OF_ANSWERS, *_OF_MARKS))
        if name in kinds
    ]
    return Changed(header, rows, ", ".join(words) or f"no {noun} changed")


def _changed_rows(pair: PairedPredictions) -> Iterator[list[str]]:
    """List the rows with another answer or, without predictions, another mark; those that became worse come first."""
    predicted, scored = pair.predicted, pair.scored
    if predicted is not None:
        kinds: tuple[str, ...] = _OF_ANSWERS
        right_a, right_b = predicted.right
        alike = predicted.a == predicted.b
        masks = [right_a & ~right_b, right_b & ~right_a, ~(right_a | right_b | alike)]
    else:
        assert scored is not None
        kinds, (a, b) = _OF_MARKS, scored.scores
        masks = [a < b, a > b] if scored.lower else [a > b, a < b]
    for kind, mask in zip(kinds, masks, strict=True):
        for row in np.flatnonzero(mask).tolist():
            codes = () if predicted is None else (predicted.a[row], predicted.b[row])
            marks = scored.scores if scored else ()
            outputs = [pair.classes[code] for code in codes] or [repr(float(side[row])) for side in marks]
            label = "" if pair.graded or pair.outcomes is None else pair.classes[pair.outcomes.label[row]]
            score = scored.column if scored else ""
            yield [str(pair.ids[row].as_py()), *_slices(pair, row), label, *outputs, score, kind]


def _slices(pair: PairedPredictions, row: int) -> list[str]:
    return [values[codes[row]] for values, codes in pair.units.slices.values()]


def _changed_items(pair: PairedPredictions, alpha: float) -> Iterator[list[str]]:
    """List the items that changed, then the flaky ones, sorted by p-value."""
    first, names, totals = items_of(pair)
    (a, b), (of_a, of_b) = totals.sums, totals.counts
    p = item_pvalues(totals)
    adjusted = adjust_pvalues(p, method="holm")
    flaky = ((a > 0) & (a < of_a)) | ((b > 0) & (b < of_b))
    worse = b / of_b < a / of_a
    changed = adjusted <= alpha
    for kind, mask in zip(_OF_ITEMS, (changed & worse, changed & ~worse, flaky & ~changed), strict=True):
        where = np.flatnonzero(mask)
        for item in where[np.argsort(p[where], kind="stable")].tolist():
            row = int(first[item])
            shares = [f"{int(right[item])}/{int(n[item])}" for right, n in ((a, of_a), (b, of_b))]
            yield [
                str(names[item].as_py()),
                *_slices(pair, row),
                *shares,
                f"{p[item]:.4g}",
                f"{adjusted[item]:.4g}",
                kind,
            ]


def items_of(pair: PairedPredictions) -> tuple[IntArray, Any, ItemTotals]:
    """Return the first row of each item, the names of the items (an Arrow array), and the right answers to each."""
    assert pair.units.items is not None
    assert pair.predicted is not None
    _, first, codes = np.unique(pair.units.items, return_index=True, return_inverse=True)
    names = pc.replace_substring_regex(pair.ids.take(pa.array(first)), r"(?s)^(.*) epoch .*$", r"\1")
    if pair.predicted.totals is not None:
        return first, names, pair.predicted.totals
    a, b = (np.bincount(codes, right).astype(np.float64) for right in pair.predicted.right)
    return first, names, ItemTotals((a, b), (np.bincount(codes), np.bincount(codes)))


def item_pvalues(totals: ItemTotals) -> FloatArray:
    """Fisher's exact two-sided p-value of the right and wrong answers of both models, for each item."""
    from scipy.stats import fisher_exact  # slow to import, for pages without items too

    test = cache(lambda a, b, m, n: float(fisher_exact(np.array([[a, m - a], [b, n - b]])).pvalue))
    counts = np.column_stack([*totals.sums, *totals.counts]).astype(np.int64)
    return np.array([test(*count) for count in counts.tolist()])
