"""Rows in groups that depend on each other: how they are split, and what a permutation may exchange among them.

The rows of a group (a patient, a document, a day) stay in one fold. A permutation test exchanges only what its null
hypothesis makes exchangeable:

- Labels, where some group has rows of several classes: inside each group. Under the null hypothesis labels are
  independent of the features inside each group; what groups have in common stays as it is.
- Labels, where each group is of one class: whole groups, among groups of equally many rows. Under the null hypothesis
  the class of a group is independent of its features.
- Features: inside each group and class.

When not to use: rows that depend on each other in order, such as a time series; exchanging them is not valid.
"""

import numpy as np

from .._common.validation import IntArray, refuse


def require_whole_groups(folds: IntArray, groups: IntArray) -> None:
    """Refuse folds that split a group."""
    first = np.full(groups.max() + 1, -1)
    first[groups[::-1]] = folds[::-1]
    split = np.flatnonzero(first[groups] != folds)
    if split.size:
        row = int(split[0])
        other = int(np.flatnonzero(groups == groups[row])[0])
        wanted = f"all rows of a group in one fold; row {other} of its group is tested in fold {folds[other]}"
        raise refuse(f"cv (row {row})", int(folds[row]), wanted)


def permutations(generator: np.random.Generator, runs: list[IntArray], shape: tuple[int, int, int]) -> IntArray:
    """Rows of the numbers from 0 on, in which those of each run are exchanged; no number is in two runs.

    The generator is advanced by a call of ``permuted`` for each set, the first axis of `shape`, and run.
    """
    made = np.broadcast_to(np.arange(shape[2]), shape).copy()
    for rows in made:
        for run in runs:
            rows[:, run] = generator.permuted(np.broadcast_to(run, (shape[1], len(run))), axis=1)
    return made


class LabelExchange:
    """Draws permutations of rows against labels that keep groups.

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
            raise refuse(
                "groups",
                "groups of one class each",
                "two groups of equally many rows and different classes, or a group with rows of several classes: the "
                "labels of others cannot be exchanged",
            )

    def draw(self, generator: np.random.Generator, size: int) -> IntArray:
        """Permutations, shape (size, n): row i of X takes the label and the fold of row ``draws[b, i]``."""
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
    """The rows among which a feature is permuted: of each group and class of two or more; ValueError if none is."""
    _, strata = np.unique(np.column_stack([groups, y]), axis=0, return_inverse=True)
    rows = np.split(np.argsort(strata.ravel(), kind="stable"), np.cumsum(np.bincount(strata.ravel()))[:-1])
    found = [each for each in rows if len(each) > 1]
    if not found:
        raise refuse(
            "groups", "one row of a class in each", "a group with two rows of a class: nothing can be permuted"
        )
    return found
