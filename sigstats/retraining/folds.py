"""Cross-validation folds as one array, the number of the test fold of each row; and permutations of rows in groups.

An array, unlike a splitter, can be stored, permuted and shared between classifiers, so that all of them are judged on
the same folds. Do not use it for schemes in which a row is tested more than once or never (repeated folds, shuffled
splits): their errors are not counts of wrong rows. `as_folds` takes the forms of ``cv=``.

The rows of a group (a patient, a document, a day) stay in one fold. A permutation test exchanges only what its null
hypothesis makes exchangeable (`LabelExchange`, `rows_to_permute`):

- Labels, if some group has rows of several classes: inside each group. Under the null hypothesis labels are independent
  of the features inside each group; differences between groups remain.
- Labels, if each group has one class: whole groups, among groups of equally many rows. Under the null hypothesis
  the class of a group is independent of its features.
- Features: inside each group and class.

When not to use: rows that depend on each other in order, such as a time series; exchanging them is not valid.
"""

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from scipy.special import gammaln

from .._common.random_streams import as_generator
from .._common.validation import IntArray, as_array, as_choice, as_count, as_labels, one_line, refuse

_PARTITION = "splits that test every row exactly once and train on all others"


def stratified_folds(
    y: Any, n_splits: int = 10, rng: Any = None, *, groups: IntArray | None = None, rare_classes: str = "refuse"
) -> IntArray:
    """Return folds in which each class is spread as evenly as its rows allow: the test fold of each row, from 0.

    They are the folds of scikit-learn's ``StratifiedKFold(n_splits, shuffle=True)``, for which one integer is drawn,
    or, with `groups` (codes from 0), of its ``StratifiedGroupKFold``. `rare_classes`: by default a class with fewer
    rows, or groups, than folds is a ValueError. If ``"allow"``, some folds test no row of it, and a class of a single
    row is tested by a classifier that never saw it. A fold that is left empty is always a ValueError.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    classes, codes = as_classes(y)
    n_splits = as_count(n_splits, "n_splits", minimum=2)
    if groups is not None and n_splits > groups.max() + 1:
        raise refuse("n_splits", n_splits, f"at most {groups.max() + 1}, the number of groups")
    allowed = as_choice(rare_classes, "rare_classes", ("refuse", "allow")) == "allow"
    units = np.arange(len(codes)) if groups is None else groups
    class_sizes = np.bincount(np.unique(np.column_stack([codes, units]), axis=0)[:, 0])
    limiting = int(class_sizes.argmax() if allowed else class_sizes.argmin())
    if class_sizes[limiting] < n_splits and not (allowed and groups is not None):
        unit = "the number of rows of" if groups is None else "the groups with rows of"
        most = f"at most {class_sizes[limiting]}, {unit} class {classes[limiting].item()!r}"
        raise refuse("n_splits", n_splits, most)
    seed = int(as_generator(rng).integers(2**32))
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        folds = folds_of(splitter(n_splits, shuffle=True, random_state=seed), np.zeros((len(codes), 1)), codes, groups)
    if len(np.unique(folds)) < n_splits:
        raise refuse("n_splits", n_splits, "fewer folds: the sizes of groups are so unequal that one fold is empty")
    return folds


def leave_one_out_folds(y: Any, groups: Any = None, *, rare_classes: str = "refuse") -> IntArray:
    """Return folds of a single row each, or of a group (codes from 0); `rare_classes` as in `stratified_folds`."""
    folds = np.arange(len(y), dtype=np.int64) if groups is None else groups
    require_trained(y, folds, rare_classes)
    return np.asarray(folds, dtype=np.int64)


def require_trained(y: Any, folds: IntArray, rare_classes: str, groups: IntArray | None = None) -> None:
    """Refuse folds that split a group, and a fold with all rows of a class, unless rare classes are allowed."""
    classes, codes = as_classes(y)
    n_folds_of_class = np.bincount(np.unique(np.column_stack([codes, folds]), axis=0)[:, 0])
    if as_choice(rare_classes, "rare_classes", ("refuse", "allow")) == "refuse" and n_folds_of_class.min() < 2:
        name = classes[n_folds_of_class.argmin()].item()
        raise refuse("rare_classes", "refuse", f"'allow', since all rows of class {name!r} are in one fold")
    if groups is None:
        return
    first = np.full(groups.max() + 1, -1)
    first[groups[::-1]] = folds[::-1]
    split = np.flatnonzero(first[groups] != folds)
    if split.size:
        row = int(split[0])
        other = int(np.flatnonzero(groups == groups[row])[0])
        wanted = f"all rows of a group in one fold; row {other} of its group is tested in fold {folds[other]}"
        raise refuse(f"cv (row {row})", int(folds[row]), wanted)


def folds_of(cv: Any, X: Any, y: Any, groups: Any = None) -> IntArray:
    """Return the fold array of a scikit-learn splitter, called with `X`, `y` and `groups`.

    Raises ValueError if it fails, does not test each row exactly once, or trains on anything but the other rows.
    """
    return folds_of_splits(_listed(cv, lambda: [(train, test) for train, test in cv.split(X, y, groups)]), len(y))


def _listed(cv: Any, splits: Callable[[], list[Any]]) -> list[Any]:
    try:
        return splits()
    except Exception as error:
        raise ValueError(f"cv: {type(cv).__name__} failed to split: {one_line(error)}") from error


def folds_of_splits(splits: Iterable[Any], n: int) -> IntArray:
    """Return the fold array of pairs of training and test rows: their numbers, or masks of all `n` rows.

    Raises ValueError if they do not test each row exactly once and train on all others: the errors of repeated or
    partial test sets have no distribution that permutations preserve.
    """
    folds = np.full(n, -1, dtype=np.int64)
    number = -1
    for number, split in enumerate(itertools.islice(splits, n + 1)):
        train, test = _rows_of(split, number, n)
        used = np.bincount(train, minlength=n) + np.bincount(test, minlength=n)
        repeated = test[folds[test] >= 0]
        if repeated.size:
            row = int(repeated[0])
            raise refuse(f"cv (split {number})", f"row {row} as a test row, as in split {folds[row]}", _PARTITION)
        if (used != 1).any():
            row = int(np.flatnonzero(used != 1)[0])
            times = "in neither set" if used[row] == 0 else "twice"
            raise refuse(f"cv (split {number})", f"row {row} {times}", _PARTITION)
        folds[test] = number
    if (folds < 0).any():
        row = int(np.flatnonzero(folds < 0)[0])
        raise refuse("cv", f"row {row} in none of {number + 1} test sets", _PARTITION)
    if number < 1:
        raise refuse("cv", f"{number + 1} split", "two folds or more")
    return folds


def _rows_of(split: Any, number: int, n: int) -> tuple[IntArray, IntArray]:
    """Return the training and the test rows of a split."""
    name, wanted = f"cv (split {number})", f"a pair of training and test rows, numbers from 0 to {n - 1} or masks"
    if isinstance(split, (str, bytes)) or not hasattr(split, "__len__") or len(split) != 2:
        raise refuse(name, split, wanted)
    arrays = []
    for values in split:
        rows = as_array(values, name, wanted)
        if rows.dtype.kind == "b" and rows.shape == (n,):
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            raise refuse(name, values, wanted)
        if rows.size and (rows.min() < 0 or rows.max() >= n):
            raise refuse(name, int(rows.min() if rows.min() < 0 else rows.max()), wanted)
        arrays.append(rows.astype(np.int64))
    return arrays[0], arrays[1]


def as_folds(cv: Any, X: Any, y: Any, rng: Any = None, *, groups: IntArray | None = None) -> IntArray:
    """Return the folds of ``cv=``: a number of stratified ones, a splitter, its splits, or the fold of each row itself.

    The numbers of an array may be any integers, and are renumbered from 0 in their order. ValueError if `cv` is none of
    these, or leaves fewer than two folds. `groups`: codes from 0, for a number and for a splitter.
    """
    if hasattr(cv, "split") and not isinstance(cv, (str, bytes, bytearray)):
        return folds_of(cv, X, y, groups)
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, (bool, np.timedelta64)):
        return stratified_folds(y, int(cv), rng, groups=groups)
    if isinstance(cv, Iterator):
        cv = _listed(cv, lambda: list(itertools.islice(cv, len(y) + 1)))
    if isinstance(cv, (list, tuple)) and any(isinstance(item, (list, tuple)) for item in cv):  # pairs, not numbers
        return folds_of_splits(cv, len(y))
    wanted = f"a number of folds, a splitter, pairs (train, test), or the fold of each of the {len(y)} rows"
    folds = as_array(cv, "cv", wanted)
    if folds.shape != (len(y),) or folds.dtype.kind not in "iu":
        raise refuse("cv", cv, wanted)
    numbers, renumbered = np.unique(folds, return_inverse=True)
    if numbers[0] == -1:
        raise refuse("cv", -1, "folds from 0: PredefinedSplit never tests rows of fold -1, but each must be tested")
    if len(numbers) < 2:
        raise refuse("cv", cv, "two folds or more")
    return renumbered.astype(np.int64)


def as_classes(y: Any) -> tuple[np.ndarray[Any, Any], IntArray]:
    """Return the sorted distinct classes of `y` and the code of each row's class, or raise ValueError."""
    wanted = "one class label for each row, two classes or more"
    labels = as_array(y, "y", wanted)
    if labels.ndim == 2:
        as_labels(y, "y")  # tells what to do with one-hot columns
    try:
        if labels.ndim != 1 or labels.dtype.kind not in "iubfUSO":
            raise refuse("y", y, wanted)
        if labels.dtype.kind == "f" and (not np.isfinite(labels).all() or (labels != np.floor(labels)).any()):
            raise refuse("y", y, "whole numbers or names as class labels, none missing")
        if labels.dtype.kind == "O" and any(label is None or label != label for label in labels):
            raise refuse("y", y, "no missing class label")
        classes, codes = np.unique(labels, return_inverse=True)
    except (TypeError, OverflowError):  # ragged, or labels that cannot be put in order
        raise refuse("y", y, wanted) from None
    if len(classes) < 2:
        raise refuse("y", len(classes), "two or more", quantity="number of classes")
    return classes, codes.astype(np.int64)


def permutations(generator: np.random.Generator, runs: list[IntArray], shape: tuple[int, int, int]) -> IntArray:
    """Return permutations of the numbers from 0 that stay within each run; runs do not overlap.

    The generator is advanced by a call of ``permuted`` for each set, the first axis of `shape`, and run.
    """
    permuted = np.broadcast_to(np.arange(shape[2]), shape).copy()
    for rows in permuted:
        for run in runs:
            rows[:, run] = generator.permuted(np.broadcast_to(run, (shape[1], len(run))), axis=1)
    return permuted


class LabelExchange:
    """Draws permutations of the labels that keep groups intact.

    `y` and `groups` (ndarray of int, shape (n,)): codes from 0. Raises ValueError if no exchange changes a label.
    """

    def __init__(self, y: IntArray, groups: IntArray) -> None:
        self._n = len(y)
        pairs = np.unique(np.column_stack([groups, y]), axis=0)
        self._groups = groups
        self.inside = len(pairs) > groups.max() + 1
        self._order = np.argsort(groups, kind="stable")
        self._blocks: list[IntArray] = []
        if self.inside:
            return
        sizes = np.bincount(groups)
        rows = np.split(self._order, np.cumsum(sizes)[:-1])
        for size in np.unique(sizes):
            block = np.array([rows[group] for group in np.flatnonzero(sizes == size)])
            if len(np.unique(y[block[:, 0]])) > 1:
                self._blocks.append(block)
        if not self._blocks:
            wanted = "two groups of equally many rows and different classes, or a group with rows of several classes"
            raise ValueError(f"groups: no labels can be exchanged between these groups; add {wanted}")

    @property
    def strata(self) -> list[IntArray]:
        """The sets of rows that exchange labels; a group that moves as a whole is its first row."""
        if self.inside:
            return np.split(self._order, np.cumsum(np.bincount(self._groups))[:-1])
        return [block[:, 0] for block in self._blocks]

    def draw(self, generator: np.random.Generator, size: int) -> IntArray:
        """Return permutations, shape (size, n): row i of X takes the label and the fold of row ``draws[b, i]``."""
        draws = np.broadcast_to(np.arange(self._n), (size, self._n)).copy()
        if self.inside:
            shuffled = np.argsort(self._groups + generator.random((size, self._n)), axis=1, kind="stable")
            draws[:, self._order] = shuffled
            return draws
        for block in self._blocks:
            places = permutations(generator, [np.arange(len(block))], (1, size, len(block)))[0]
            draws[:, block.ravel()] = block[places].reshape(size, -1)
        return draws


def rows_to_permute(y: IntArray, groups: IntArray) -> list[IntArray]:
    """Return rows among which a feature is permuted: each group and class of two or more, or raise ValueError."""
    _, strata = np.unique(np.column_stack([groups, y]), axis=0, return_inverse=True)
    rows = np.split(np.argsort(strata.ravel(), kind="stable"), np.cumsum(np.bincount(strata.ravel()))[:-1])
    arrays = [row for row in rows if len(row) > 1]
    if not arrays:
        raise ValueError("groups: no group has two rows of one class, so nothing can be permuted")
    return arrays


def note_on_few_arrangements(
    y: IntArray, groups: IntArray | None, folds: IntArray, null: str, *, features: int, needed: int
) -> str:
    """State the smallest possible p-value if fewer than `needed` arrangements of the data differ; otherwise empty.

    Permutations that leave the labels in each fold, or the feature values of each class in it, unchanged repeat the
    observed result. Their share of all permutations is the smallest possible p-value for any classifier.
    """
    groups = np.zeros_like(y) if groups is None else groups
    if null == "labels":
        strata, codes, n_permuted = LabelExchange(y, groups).strata, y * (folds.max() + 1) + folds, 1
    else:
        strata, codes, n_permuted = rows_to_permute(y, groups), folds, features
    logs = (n_permuted * gammaln(len(rows) + 1) - gammaln(np.bincount(codes[rows]) + 1).sum() for rows in strata)
    log_count = float(sum(logs))
    if log_count >= np.log(needed - 0.5):
        return ""
    count = round(np.exp(log_count))
    what = f"{count} arrangement{'' if count == 1 else 's'} of the {null}"
    return f"permutations within groups give only {what}, so p is not below {1 / count:.2g}"
