"""The joint outcomes of two classifiers with several classes, or several categories an observation.

What one observation tells of two classifiers is a triple: the true classes, those that A assigned, those that B
assigned. Observations with equal triples are one joint event, and the counts of the distinct events hold all that any
measure of labels needs. Records of parts of a test set add up to the record of the whole.

When not to use: two classes are faster and clearer as `sigstats.joint.outcomes.JointOutcomes`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .._common.class_names import as_predictions
from .._common.tabular import with_known
from .._common.validation import (
    MAX_TOTAL,
    FloatArray,
    IntArray,
    as_choice,
    as_count,
    as_labels,
    refuse,
    same_kind_of_labels,
)
from ..measures.formulas import Confusion
from ..measures.measure import Kind
from ._indicators import LabelSet, count_rows, memberships, same_indicators
from .outcomes import JointOutcomes

Event: TypeAlias = tuple[LabelSet, LabelSet, LabelSet]
#: The most classes: three class numbers fit into one int64.
MOST_CLASSES = 2**20


@dataclass(frozen=True)
class JointEvents:
    """Counts of the distinct joint events of two classifiers; without events, all zero.

    Usually made by `from_predictions` or `from_indicators`. Events are sorted, counts of equal events are added, and
    events that never occurred are left out, so that records with equal content are equal.

    Parameters
    ----------
    categories : tuple of labels
        The names of the classes or categories, all numbers or all strings.
    kind : {"classes", "categories"}
        Whether an observation has exactly one class or any number of categories.
    events : tuple of (tuple of int, tuple of int, tuple of int)
        For each event the positions in `categories` of the true ones, of those that A assigned, and of those of B.
    counts : tuple of int
        The number of times that each event occurred.

    Raises
    ------
    ValueError
        If there are fewer than two classes (one category), they are not distinct, or an event or a count is not valid.

    Examples
    --------
    >>> import sigstats
    >>> left = sigstats.JointEvents.from_predictions(["x", "y", "z"], ["x", "z", "z"], ["x", "y", "y"])
    >>> left.categories, left.counts
    (('x', 'y', 'z'), (1, 1, 1))
    >>> (left + left).counts
    (2, 2, 2)
    """

    categories: tuple[Any, ...]
    kind: Kind = "classes"
    events: tuple[Event, ...] = ()
    counts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        as_choice(self.kind, "kind", ("classes", "categories"))
        labels = as_labels(self.categories, "categories", minimum_size=2 if self.kind == "classes" else 1)
        categories = tuple(labels.tolist())
        if len(set(categories)) < len(categories):
            raise refuse("categories", self.categories, "distinct labels")
        events, counts = _as_list(self.events, "events"), _as_list(self.counts, "counts")
        if len(events) != len(counts):
            raise refuse("counts", len(counts), f"{len(events)}, one for each event", quantity="length")
        merged: Counter[Event] = Counter()
        for event, count in zip(events, counts, strict=True):
            merged[self._as_event(event, len(categories))] += as_count(count, "counts")
        items = sorted((event, count) for event, count in merged.items() if count)
        if sum(count for _, count in items) > MAX_TOTAL:
            raise refuse("counts", sum(self.counts), f"at most {MAX_TOTAL}", quantity="total")
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "events", tuple(event for event, _ in items))
        object.__setattr__(self, "counts", tuple(count for _, count in items))

    def _as_event(self, event: Any, n_categories: int) -> Event:
        sets = []
        try:
            for positions in event:
                sets.append(tuple(sorted(as_count(place, "events", maximum=n_categories - 1) for place in positions)))
        except ValueError:
            raise
        except Exception:  # a user's object may raise anything
            raise refuse("events", event, "three tuples of positions in categories") from None
        single = self.kind == "classes"
        if len(sets) != 3 or any(len(set(value)) < len(value) or (single and len(value) != 1) for value in sets):
            wanted = "three tuples of one position each" if single else "three tuples of distinct positions"
            raise refuse("events", event, wanted)
        return sets[0], sets[1], sets[2]

    @classmethod
    def from_predictions(cls, y: Any, a: Any, b: Any, *, classes: Any = None) -> "JointEvents":
        """Count the joint events of observations that have one class each.

        Parameters
        ----------
        y, a, b : array_like, shape (n,)
            The true labels and the labels that A and B assigned: all numbers or all strings.
        classes : array_like, optional
            The names of the classes, if some may not occur; else all labels that occur, sorted.

        Returns
        -------
        JointEvents

        Raises
        ------
        ValueError
            If a sequence is empty, of another length than `y`, has missing labels, labels that are not in `classes`,
            or mixes numbers with strings, or if there is only one class.

        Examples
        --------
        >>> import sigstats
        >>> sigstats.JointEvents.from_predictions([0, 1, 1], [0, 1, 1], [0, 0, 0]).events
        (((0,), (0,), (0,)), ((1,), (1,), (0,)))
        """
        categories = None if classes is None else as_labels(classes, "classes", minimum_size=2)
        sequences = as_predictions(y, a, b, None if categories is None else [*map(str, categories.tolist())])
        truth = sequences[0]
        occurring, codes = np.unique(np.concatenate(sequences), return_inverse=True)
        if categories is None:
            categories = occurring
        else:
            same_kind_of_labels(occurring, categories, "classes", aligned=False)
            strange = ~np.isin(occurring, categories)
            if strange.any():
                raise refuse("classes", classes, f"classes that include {occurring[strange][0].item()!r}, which occurs")
            order = np.argsort(categories, kind="stable")
            codes = order[np.searchsorted(categories, occurring, sorter=order)][codes]
        k, n = len(categories), truth.size
        if k > MOST_CLASSES:
            raise refuse("y, a, b", k, f"at most {MOST_CLASSES}; are they class labels?", quantity="number of classes")
        events, _ = cls.from_codes(categories.tolist(), codes[:n], codes[n : 2 * n], codes[2 * n :])
        return cls(events.categories, "classes", events.events, events.counts)

    @classmethod
    def from_codes(
        cls, categories: Sequence[Any], true: IntArray, a: IntArray, b: IntArray
    ) -> tuple["JointEvents", IntArray]:
        """Count the joint events of observations, from the codes of their classes.

        Nothing is checked. The second result is the number of each observation's event.
        """
        k = len(categories)
        distinct, codes, counts = np.unique((true * k + a) * k + b, return_inverse=True, return_counts=True)
        triples = zip((distinct // k**2).tolist(), (distinct // k % k).tolist(), (distinct % k).tolist(), strict=True)
        events = with_known(object.__new__(cls), categories=tuple(categories), kind="classes")
        return events.with_events([((i,), (j,), (m,)) for i, j, m in triples], counts.tolist()), codes

    def with_events(self, events: Sequence[Event], counts: Sequence[int]) -> "JointEvents":
        """Return the same classes with other events, which are known to be sorted, distinct and valid."""
        return with_known(self, events=tuple(events), counts=tuple(counts))

    @classmethod
    def from_indicators(cls, y: Any, a: Any, b: Any, *, categories: Any = None) -> "JointEvents":
        """Count the joint events of observations that have any number of categories.

        Parameters
        ----------
        y, a, b : array_like or SciPy sparse array, shape (n, C)
            1 where the observation has the category, is given it by A, by B; else 0.
        categories : array_like, shape (C,), optional
            The names of the categories; else 0 to C - 1.

        Returns
        -------
        JointEvents

        Raises
        ------
        ValueError
            If the shapes differ, a value is neither 0 nor 1, or there is not one name for each category.

        Examples
        --------
        >>> import sigstats
        >>> y, a, b = [[1, 0, 1], [1, 0, 1]], [[1, 0, 0], [1, 0, 0]], [[1, 1, 1], [1, 1, 1]]
        >>> sigstats.JointEvents.from_indicators(y, a, b, categories=["oil", "ships", "wheat"]).events
        (((0, 2), (0,), (0, 1, 2)),)
        """
        arrays = same_indicators(y=y, a=a, b=b)
        width = arrays[0].shape[1]
        names = np.arange(width) if categories is None else as_labels(categories, "categories")
        if names.size != width:
            raise refuse("categories", names.size, f"{width}, one name for each column", quantity="length")
        rows = count_rows(arrays)
        events = tuple((true, by_a, by_b) for true, by_a, by_b in rows)
        return cls(tuple(names.tolist()), "categories", events, tuple(rows.values()))

    def swapped(self) -> "JointEvents":
        """Return the same observations with the two classifiers exchanged."""
        events = tuple((true, b, a) for true, a, b in self.events)
        return JointEvents(self.categories, self.kind, events, self.counts)

    def __add__(self, other: "JointEvents") -> "JointEvents":
        if not isinstance(other, JointEvents):
            return NotImplemented
        if (self.categories, self.kind) != (other.categories, other.kind):
            raise refuse(
                "categories of the second summand", other.categories, f"the {self.kind} of the first, {self.categories}"
            )
        return JointEvents(self.categories, self.kind, self.events + other.events, self.counts + other.counts)

    @property
    def n(self) -> int:
        """The number of observations."""
        return sum(self.counts)

    @property
    def n_categories(self) -> int:
        """The number of classes or categories."""
        return len(self.categories)

    @property
    def disagreements(self) -> int:
        """The number of observations with different answers."""
        return sum(count for (_, a, b), count in zip(self.events, self.counts, strict=True) if a != b)

    def outcomes(self, positive: Any) -> JointOutcomes:
        """Return the eight joint counts of one category against all others.

        Raises
        ------
        ValueError
            If `positive` is not one of the categories.
        """
        if not isinstance(positive, (str, int, float, np.generic)) or positive not in self.categories:
            raise refuse("positive", positive, f"one of {', '.join(map(str, self.categories))}")
        position = self.categories.index(positive)
        counts = [0] * 8
        for (true, a, b), count in zip(self.events, self.counts, strict=True):
            counts[4 * (position not in true) + (position not in a) + 2 * (position not in b)] += count
        return JointOutcomes(*counts)

    def confusions(self, weights: FloatArray) -> tuple[Confusion, Confusion]:
        """Return the counts of A and of B, arrays of shape (m, categories), from event counts, shape (m, events)."""
        by_event = np.ascontiguousarray(weights.T)
        sums = (memberships(self.events, self.n_categories) @ by_event).reshape(5, self.n_categories, -1)
        true, *assigned = (total.T for total in sums)
        n = weights.sum(axis=-1, keepdims=True)
        both = []
        for called, tp in zip(assigned[:2], assigned[2:], strict=True):
            both.append(Confusion(tp, true - tp, called - tp, n - true - called + tp))
        return both[0], both[1]


def _as_list(value: Any, name: str) -> list[Any]:
    try:
        items = list(value)
    except Exception:  # a user's object may raise anything
        raise refuse(name, value, "a sequence") from None
    if isinstance(value, (bytes, bytearray)):
        raise refuse(name, value, "a sequence")
    return items


#: Counts that the bootstrap and the laws of measures accept.
JointCounts: TypeAlias = JointOutcomes | JointEvents


def as_joint_counts(outcomes: Any) -> JointCounts:
    """Return `outcomes`, which must be joint counts of at least one observation."""
    if isinstance(outcomes, JointOutcomes | JointEvents) and outcomes.n:
        return outcomes
    if getattr(outcomes, "n", 1) == 0:
        raise refuse("outcomes", 0, "at least one", quantity="number of observations")
    raise refuse("outcomes", outcomes, "JointOutcomes or JointEvents of at least one observation")
