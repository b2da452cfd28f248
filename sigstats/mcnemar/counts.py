"""Counts of observations that exactly one of two classifiers got right, and McNemar's test in Bayesian form.

`right_first` reads a user's table of right and wrong answers, whose axes may have names and labels.
"""

import re
from itertools import product
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from scipy.special import betainc

from .._common.calls import takes_counts
from .._common.class_names import as_predictions
from .._common.class_spelling import VERDICTS, is_finite_number
from .._common.column_names import ERRORS, IN_USE, REPLACEMENT, are_exchanged
from .._common.data_frames import labelled, opened
from .._common.validation import Labels, as_count, as_real, refuse

#: Patterns of axis names that suggest right answers, or classes or errors, and the labels whose meaning they decide.
_OF_RIGHT_ANSWERS = re.compile(
    r"(?i)(?:^|(?<!not)(?<!non)[^a-z])(?:right|correct|pass(?:ed)?|hits?|success|ok|solved|resolved)(?:[^a-z]|$)"
)
_CLASSES_OR_ERRORS = re.compile(
    rf"(?i)(?:^|[^a-z])(?:y|pred\w*|true|truth|labels?|target|actual|class|gold|{ERRORS})(?:[^a-z]|$)"
)
_TRUTH_VALUES = frozenset({"0", "1", "0.0", "1.0", "true", "false", "yes", "no"})
#: Names of A and of B where only one axis of a table has a name.
_IS_A, _IS_B = (re.compile(rf"(?:^|[\W_]){last}$|{role.pattern}") for last, role in (("a", IN_USE), ("b", REPLACEMENT)))


class DiscordantCounts(NamedTuple):
    """The numbers of observations that exactly one of two classifiers got right."""

    only_a: int
    only_b: int


def discordant_counts(y: Labels, a: Labels, b: Labels) -> DiscordantCounts:
    """Count the observations that exactly one of two classifiers got right.

    When not to use: for items with several answers (`sigstats.sign_flip_test`), or for marks (`sigstats.compare`).

    Parameters
    ----------
    y, a, b : array_like, shape (n,)
        The true labels and the labels that the classifiers A and B assigned: all numbers or all strings.

    Returns
    -------
    DiscordantCounts
        ``only_a`` and ``only_b``, in the order in which `mcnemar_test` takes them.

    Raises
    ------
    ValueError
        If a sequence is empty, of another length than `y`, has missing labels, or mixes numbers with strings.

    Examples
    --------
    >>> import sigstats
    >>> sigstats.discordant_counts(["cat", "cat", "dog"], ["cat", "cat", "cat"], ["dog", "cat", "cat"])
    DiscordantCounts(only_a=1, only_b=0)
    """
    truth, *assigned = as_predictions(y, a, b)
    right_a, right_b = (labels == truth for labels in assigned)
    return DiscordantCounts(int(np.sum(right_a & ~right_b)), int(np.sum(right_b & ~right_a)))


def _of_labels(y: Labels, a: Labels, b: Labels, *, prior: float = 1.0) -> float:
    """Return `pair_probability` for true labels `y` and the labels assigned by A and B, with its options."""
    return pair_probability(*discordant_counts(y, a, b), prior=prior)


@takes_counts(2, _of_labels)
def pair_probability(only_a: SupportsIndex, only_b: SupportsIndex, *, prior: float = 1.0) -> float:
    """Compute the posterior probability that A is more accurate than B on rows like these.

    When not to use: if you need a test, use `sigstats.mcnemar_test`.

    Parameters
    ----------
    only_a, only_b : int
        The numbers of rows that only A, and only B, got right (`sigstats.discordant_counts`).
    prior : float
        Both parameters of the beta prior of the share of discordant rows that A gets right: 1 is uniform, 1/2
        Jeffreys's.

    Returns
    -------
    float
        The posterior probability; exactly 1/2 if the counts are equal.

    Raises
    ------
    ValueError
        If a count is negative or fractional, or `prior` is not above 0.

    Notes
    -----
    The posterior of the share is beta with parameters ``only_a + prior`` and ``only_b + prior``; the probability that
    it exceeds 1/2 is the incomplete beta function ``I_{1/2}(only_b + prior, only_a + prior)``: the Bayesian McNemar
    test of Chechile, ``dfba_mcnemar`` of the R package DFBA. Rows that both or neither got right do not matter if the
    prior of all four cells is a Dirichlet distribution.

    References
    ----------
    Chechile, *Bayesian Statistics for Experimental Scientists* (2020).

    Examples
    --------
    >>> import sigstats
    >>> round(sigstats.pair_probability(7, 1), 5), round(sigstats.pair_probability(7, 1, prior=0.5), 5)
    (0.98047, 0.98663)
    """
    a, b = as_count(only_a, "only_a"), as_count(only_b, "only_b")
    weight = as_real(prior, "prior", low=0, high=1e15, open_ends=True)
    return 0.5 if a == b else float(betainc(b + weight, a + weight, 0.5))


def right_first(table: Any) -> Any:
    """Sort the rows (A right, A wrong) and columns (B) of a table into this order by the labels of a data frame.

    `pandas.crosstab` sorts them, so that False comes first. Raises ValueError if B is in the rows and A in
    the columns, if labels do not state which answers are right, or if the name of an axis with labels 0 and 1 (false
    and true, no and yes) suggests classes or errors.
    """
    table = labelled(table, "table")
    frame = table if hasattr(table, "iloc") else opened(table)
    if frame is None or np.shape(table) != (2, 2):
        return table
    axes = {"index": getattr(frame, "index", None), "columns": frame.columns}
    for names in product(*map(_names_of, axes.values())):
        if _are_swapped(*map(str.casefold, names)):
            wanted = f"{names[1] or 'A'} in rows and {names[0] or 'B'} in columns (transpose it)"
            raise refuse("table (rows, columns)", [*names], wanted)
    orders = []
    for where, axis in axes.items():
        if axis is None or (type(axis).__name__ == "RangeIndex" and axis.name is None):
            continue  # positions, not labels
        marks = [_verdict(label) for label in axis]
        doubtful = next(filter(_is_doubtful, _names_of(axis)), None)
        if doubtful and {_last_word(label) for label in axis} <= _TRUTH_VALUES:
            wanted = "a name for right answers, such as right_a, since the labels may be classes or errors"
            raise refuse(f"table ({where})", doubtful, wanted)
        if {*marks} == {0, 1}:
            orders.append([marks.index(1), marks.index(0)])
        elif axes["index"] is not None or [*axis] != ["column_0", "column_1"]:  # the default of polars
            wanted = "labels such as right and wrong, or an array with right answers first"
            raise refuse(f"table ({where})", [*axis], wanted)
    if len(orders) == 2:
        return table.iloc[orders[0], orders[1]]
    if [1, 0] in orders:
        raise refuse("table (columns)", [*frame.columns], "right answers first, since rows have no labels")
    return table


def _names_of(axis: Any) -> list[str]:
    """Return the name of an axis, and the model that its labels share: "A" of "A right" and "A wrong"."""
    models = {" ".join(re.split(r"[\s_]", str(label))[:-1]) for label in (() if axis is None else axis)}
    name = getattr(axis, "name", None)
    return [text for text in ("" if name is None else str(name), *(models if len(models) == 1 else ())) if text] or [""]


def _are_swapped(rows: str, columns: str) -> bool:
    """Return True if the names of rows and columns are those of B and A; an empty name is unknown."""
    if not rows or not columns:
        return bool(_IS_B.search(rows) or _IS_A.search(columns))
    same = next((place for place, (a, b) in enumerate(zip(rows, columns, strict=False)) if a != b), 0)
    turned = rows[same:].startswith("b") and columns == f"{rows[:same]}a{rows[same + 1 :]}"
    return turned or are_exchanged(rows, columns)


def _verdict(label: Any) -> float | None:
    """Return 1 for a label such as True, 1 or "A right", 0 for a label of wrong answers, and otherwise None."""
    text = str(label).lower()
    return float(text) if is_finite_number(text) else VERDICTS.get(_last_word(text))


def _last_word(label: Any) -> str:
    return re.split(r"[\s_]", str(label).lower())[-1]


def _is_doubtful(name: str) -> bool:
    """Return True if the name of an axis suggests classes or errors, and not right answers."""
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", name)
    return bool(_CLASSES_OR_ERRORS.search(words) and not _OF_RIGHT_ANSWERS.search(words))
