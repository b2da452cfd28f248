"""Counts of the joint outcomes of three columns of labels, batch by batch."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sigstats._common.validation import did_you_mean, one_line, shown

from ..input_files.limit import Budget
from .counts import Label, Labels, Outcome, each_label
from .label_codes import encode, joint_codes, outcomes

#: The largest table of all outcomes that the labels can make.
_TABLE = 2**19
#: What a joint outcome takes in memory, in bytes.
_OUTCOME = 600


class Tally:
    """Counts the rows of a file, part by part, in a table of all outcomes that the labels of a batch can make."""

    def __init__(
        self, names: Sequence[str], *, classes: frozenset[Label] | None = None, budget: Budget | None = None
    ) -> None:
        self._budget = budget
        self.names = names
        self.classes = classes
        #: The name of the part in messages.
        self.where = ""
        self._counts: Counter[Outcome] = Counter()
        # Of batches with the same labels: the labels of each column, and how many rows have each outcome.
        self._labels: list[Sequence[Labels]] = []
        self._table: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def begin(self, where: str) -> None:
        """Begin another part."""
        self.where = where

    def add(self, columns: Sequence[Any]) -> None:
        """Count rows.

        `columns`: all whole numbers, booleans, strings, dictionaries of these, or lists of whole numbers or strings.
        """
        if not len(columns[0]):
            return
        coded = [
            encode(f"{self.where}: column {shown(name)}", column)
            for name, column in zip(self.names, columns, strict=True)
        ]
        labels = [each.labels for each in coded]
        joint = joint_codes(coded, tuple(map(len, labels)))
        if (size := math.prod(map(len, labels))) > _TABLE:
            seen, times = np.unique(joint, return_counts=True)
            self._add(outcomes(labels, seen, times))
            return
        if labels != self._labels:
            self.end()
            self._labels, self._table = labels, np.zeros(size, dtype=np.int64)
        self._table += np.bincount(joint, minlength=size)

    def end(self) -> None:
        """End a part: refuse labels that are none of `classes`."""
        seen = np.flatnonzero(self._table)
        if len(seen):
            self._add(outcomes(self._labels, seen, self._table[seen]))
            self._table[:] = 0

    def counts(self) -> Counter[Outcome]:
        """How often each joint outcome occurs in all parts that have ended."""
        return self._counts

    def _add(self, found: dict[Outcome, int]) -> None:
        for axis, name in enumerate(self.names):
            self._require_known(name, (outcome[axis] for outcome in found))
        self._counts.update(found)
        if self._budget is not None:
            self._budget.require(_OUTCOME * len(self._counts))

    def _require_known(self, name: str, sides: Iterable[Labels]) -> None:
        if self.classes is not None:
            for label in (label for side in sides for label in each_label(side)):
                if label not in self.classes:
                    self._refuse(name, label, self.classes)

    def _refuse(self, name: str, label: Label, classes: frozenset[Label]) -> NoReturn:
        hint = did_you_mean(label, map(str, classes))
        wanted = one_line(", ".join(sorted(map(str, classes))[:8]))
        raise ValueError(
            f"{self.where}: column {shown(name)}: {shown(label)} is not valid; expected one of {wanted}{hint}"
        )
