"""The joint outcomes of two classifiers on a two-class problem: eight counts that contain all that can be compared.

Each observation is one of eight joint events (Keller, Mariethoz and Bengio, Table 1):

    ==============  ===========  ===========  ==============  ===========  ===========
    truly positive  A positive   A negative   truly negative  A positive   A negative
    ==============  ===========  ===========  ==============  ===========  ===========
    B positive      ``e1``       ``e2``       B positive      ``e5``       ``e6``
    B negative      ``e3``       ``e4``       B negative      ``e7``       ``e8``
    ==============  ===========  ===========  ==============  ===========  ===========

Records of parts of a test set add up to the record of the whole.

When not to use: for more than two classes, or several categories an observation, which need `sigstats.joint.events`;
for measures of scores and ranks; for observations that are not independent, whose dependence the counts forget.
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from .._common.class_columns import positive_place
from .._common.class_names import as_predictions
from .._common.validation import MAX_TOTAL, FloatArray, Labels, as_count, refuse
from ..mcnemar.counts import DiscordantCounts
from ..measures.formulas import Confusion
from ..measures.measure import Kind

#: The place that each of the eight counts has when A and B are exchanged.
EXCHANGED = np.array([0, 2, 1, 3, 4, 6, 5, 7])


@dataclass(frozen=True)
class JointOutcomes:
    """Counts of the eight joint events of two classifiers; without arguments, all zero.

    Parameters
    ----------
    e1, e2, e3, e4 : int
        Truly positive observations: both right, only B right, only A right, both wrong.
    e5, e6, e7, e8 : int
        Truly negative observations: both wrong, only A right, only B right, both right.

    Raises
    ------
    ValueError
        If a count is negative or fractional, or the total exceeds 2**53.

    Examples
    --------
    >>> import sigstats
    >>> outcomes = sigstats.JointOutcomes(e1=40, e2=12, e3=5, e4=3, e5=2, e6=6, e7=9, e8=123)
    >>> outcomes.confusion_a
    Confusion(tp=45, fn=15, fp=11, tn=129)
    >>> outcomes.discordant
    DiscordantCounts(only_a=11, only_b=21)
    >>> sum([outcomes, outcomes], sigstats.JointOutcomes()).n
    400
    """

    e1: int = 0
    e2: int = 0
    e3: int = 0
    e4: int = 0
    e5: int = 0
    e6: int = 0
    e7: int = 0
    e8: int = 0

    kind: ClassVar[Kind] = "binary"
    n_categories: ClassVar[int] = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, as_count(getattr(self, field.name), field.name))
        if self.n > MAX_TOTAL:
            raise refuse("e1 + ... + e8", self.n, f"at most {MAX_TOTAL}")

    @classmethod
    def from_predictions(cls, y: Labels, a: Labels, b: Labels, *, positive: Any = None) -> "JointOutcomes":
        """Count the joint events of the predictions of two classifiers.

        Parameters
        ----------
        y, a, b : array_like, shape (n,)
            The true labels and the labels that A and B assigned: all numbers or all strings.
        positive : label, optional
            The positive class; all other labels together are the negative one (one against the others). By default the
            second of 0 and 1, -1 and 1, false and true, or no and yes.

        Returns
        -------
        JointOutcomes

        Raises
        ------
        ValueError
            If a sequence is empty, of another length than `y`, has missing labels, or mixes numbers with strings, or
            if no label at all is `positive`, which is nearly always a misspelling.

        Examples
        --------
        >>> import sigstats
        >>> sigstats.JointOutcomes.from_predictions([1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 0, 0], positive=1)
        JointOutcomes(e1=1, e2=1, e3=0, e4=0, e5=0, e6=0, e7=1, e8=1)
        """
        truth, *assigned = as_predictions(y, a, b)
        classes = np.unique(np.concatenate([truth, *assigned]))
        chosen = classes[positive_place(classes.tolist(), positive)]
        negative = [np.asarray(labels != chosen, dtype=np.uint8) for labels in (truth, *assigned)]
        event = 4 * negative[0] + negative[1] + 2 * negative[2]  # e1 is event 0
        return cls(*np.bincount(event, minlength=8).tolist())

    def __add__(self, other: "JointOutcomes") -> "JointOutcomes":
        if not isinstance(other, JointOutcomes):
            return NotImplemented
        return JointOutcomes(*(x + y for x, y in zip(self.counts, other.counts, strict=True)))

    @property
    def counts(self) -> tuple[int, ...]:
        """The eight counts, e1 first."""
        return (self.e1, self.e2, self.e3, self.e4, self.e5, self.e6, self.e7, self.e8)

    @property
    def n(self) -> int:
        """The number of observations."""
        return sum(self.counts)

    @property
    def positives(self) -> int:
        """The number of truly positive observations, N_p of eq. (8)."""
        return self.e1 + self.e2 + self.e3 + self.e4

    @property
    def negatives(self) -> int:
        """The number of truly negative observations, N_n of eq. (8)."""
        return self.e5 + self.e6 + self.e7 + self.e8

    @property
    def confusion_a(self) -> Confusion:
        """The four counts of A."""
        return _project_a(*self.counts)

    @property
    def confusion_b(self) -> Confusion:
        """The four counts of B."""
        return _project_b(*self.counts)

    @property
    def discordant(self) -> DiscordantCounts:
        """Observations that exactly one of the two got right, for `sigstats.mcnemar_test`."""
        return DiscordantCounts(self.e3 + self.e6, self.e2 + self.e7)

    @property
    def disagreements(self) -> int:
        """The number of observations with different answers, N_AB of eq. (6)."""
        return sum(self.discordant)

    def swapped(self) -> "JointOutcomes":
        """Return the same observations with A and B exchanged."""
        return JointOutcomes(*np.array(self.counts)[EXCHANGED].tolist())

    def confusions(self, weights: FloatArray) -> tuple[Confusion, Confusion]:
        """Return the counts of A and of B, arrays of shape (...), from counts of e1 to e8, shape (..., 8)."""
        events = np.moveaxis(weights, -1, 0)
        return _project_a(*events), _project_b(*events)


def _project_a(e1: Any, e2: Any, e3: Any, e4: Any, e5: Any, e6: Any, e7: Any, e8: Any) -> Confusion:
    return Confusion(tp=e1 + e3, fn=e2 + e4, fp=e5 + e7, tn=e6 + e8)  # Table 1, the columns


def _project_b(e1: Any, e2: Any, e3: Any, e4: Any, e5: Any, e6: Any, e7: Any, e8: Any) -> Confusion:
    return Confusion(tp=e1 + e2, fn=e3 + e4, fp=e5 + e6, tn=e7 + e8)  # Table 1, the rows
