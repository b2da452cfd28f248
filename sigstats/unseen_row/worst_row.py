"""The added row that harms a difference most: the kinds that it may have, and those with the worst effect.

A kind of row is a joint event: a true class with the predictions of A and of B. The effect of a row is computed from
sums, those from which a measure is computed. `sigstats.unseen_row.counts` adds the row to random weights of the data.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .._common.validation import FloatArray, IntArray
from ..joint.events import JointCounts, JointEvents
from ..measures.measure import Kind, Measure
from ..measures.weighted import OfAreas, OfPairs

#: The most numbers in a block of weights.
BLOCK = 2**21
#: Up to this many classes, every kind of row is tried; of more, those of the rarest and of the most frequent ones.
_MOST_CLASSES = 7
#: The number of kinds of rows that are tried with each weighting; only the worst one if the measure is slow.
_KINDS = 3
#: The weights of the unseen row for which the worst kinds of rows are determined.
_UNSEEN_ROWS = (1.0, 3.7)


class Kinds(NamedTuple):
    """The kinds that an added row may have."""

    #: A record with one row of each kind.
    joint: Any
    #: The true class of each kind; array of int, shape (kinds,).
    labels: IntArray
    #: The number of distinct events of the data and of these kinds.
    n_events: int


def kinds_of(joint: JointCounts, measure: Measure | OfPairs) -> Kinds:
    """Return the kinds of rows that may be added."""
    if not isinstance(joint, JointEvents):
        return Kinds(joint, np.repeat([1, 0], 4), 8)
    if isinstance(measure, OfPairs):
        events = measure.kinds or _events_of_kinds(joint, measure.ends)
    else:
        events = _events_of_kinds(joint, ())
    labels = np.array([event[0][0] for event in events])
    return Kinds(joint.with_events(events, (1,) * len(events)), labels, len({*joint.events, *events}))


def _events_of_kinds(joint: JointEvents, ends: Sequence[int]) -> tuple[Any, ...]:
    """Return the joint events of the kinds, with classes that occur as labels.

    `ends`: the first and the last class, where they are ordered.
    """
    n_classes = joint.n_categories
    labels = frozenset(event[0][0] for event, count in zip(joint.events, joint.counts, strict=True) if count)
    if n_classes <= _MOST_CLASSES:
        return _among(frozenset(range(n_classes)), labels)
    label, *predictions = (np.bincount(role, joint.counts, n_classes) for role in np.array(joint.events)[:, :, 0].T)
    rarest = [int(code) for predicted in predictions for code in np.argsort(predicted, kind="stable")[:2]]
    rarest += sorted(labels, key=lambda y: (label[y], y))[:2]
    events = {*_among(frozenset({*rarest, int(np.argmax(label)), *ends}), labels)}
    *_, second, first = np.argsort(label, kind="stable").tolist()  # the most frequent labels
    for y in labels:
        other = first if first != y else second
        events |= {((y,), (y,), (other,)), ((y,), (other,), (y,))}
    return tuple(sorted(events))


@lru_cache(maxsize=16)
def _among(classes: frozenset[int], labels: frozenset[int]) -> tuple[Any, ...]:
    """Return the joint events of these classes in which the models differ; `labels`: the classes of the truth."""
    return tuple(((y,), (a,), (b,)) for y, a, b in product(sorted(classes), repeat=3) if a != b and y in labels)


def worst_places(
    kinds: Kinds, measure: Measure | OfPairs, observed: Any, by_kind: Any, largest_group: float
) -> FloatArray:
    """Return the places where an added row changes the difference most: their shares of kinds, shape (places, kinds).

    A place is one kind, or the worst kinds of several classes in equal shares.
    """
    kind, n_kinds = kinds.joint.kind, len(kinds.labels)
    chosen: set[tuple[int, ...]] = set()
    several: list[list[tuple[int, ...]]] = []
    rows = [
        [np.concatenate([weight * largest_group * total for weight in _UNSEEN_ROWS]) for total in of_model]
        for of_model in by_kind
    ]
    singles = _differences(kind, measure, observed, rows).reshape(len(_UNSEEN_ROWS), -1)
    labels, slow = kinds.labels.tolist(), isinstance(measure, OfPairs) and measure.slow
    for sign in (1, -1):
        for order in np.argsort(sign * singles, axis=1, kind="stable").tolist():
            chosen |= {(item,) for item in order[: 1 if slow else _KINDS]}
            worst_of_class: dict[int, int] = {}  # the worst class first
            for item in order:
                worst_of_class.setdefault(labels[item], item)
            worst = list(worst_of_class.values())
            sets = [tuple(worst[: 2**power]) for power in range(1, len(worst).bit_length() + 1)]
            several.append([items for items in dict.fromkeys(sets) if len(items) > 1])
    row_weights = np.repeat(2 * _UNSEEN_ROWS, [len(sets) for sets in several]) * largest_group
    together = row_weights[:, np.newaxis] * _equal_shares([items for sets in several for items in sets], n_kinds)
    differences = _differences(kind, measure, observed, [weighted_sums(together, of_model) for of_model in by_kind])
    for (sign, single), sets in zip(product((1, -1), singles), several, strict=True):
        of_sets, differences = sign * differences[: len(sets)], differences[len(sets) :]
        if sets and not (slow and of_sets.min() >= (sign * single).min()):
            chosen.add(sets[int(np.argmin(of_sets))])
    return _equal_shares(sorted(chosen), n_kinds)


def _equal_shares(sets: Sequence[tuple[int, ...]], n_kinds: int) -> FloatArray:
    """Return rows divided equally among the kinds of each set, shape (sets, kinds)."""
    shares = np.zeros((len(sets), n_kinds))
    for row, items in zip(shares, sets, strict=True):
        row[list(items)] = 1 / len(items)
    return shares


def _differences(kind: Kind, measure: Measure | OfPairs, observed: Any, more: Sequence[Any]) -> FloatArray:
    """Return B - A with more rows; `more` are the sums of A and of B that these add."""
    a, b = (measure.of(type(sums)(*map(np.add, sums, added)), kind) for sums, added in zip(observed, more, strict=True))
    return np.asarray(b - a)


def weight_like_seen(
    measure: Measure | OfPairs, joint: JointCounts, by_group: Any, observed: Any, by_kind: Any
) -> float:
    """Return the weight of a row of the worst kind that moves the difference as far as a group of the largest size."""
    nothing = [type(of_model)(*(0 * total for total in of_model)) for of_model in observed]
    difference_seen = float(_differences(joint.kind, measure, observed, nothing)[0])

    def moves(sums: Any) -> FloatArray:
        return _differences(joint.kind, measure, observed, sums) - difference_seen

    if isinstance(measure, OfAreas):  # which counts pairs of rows
        by_event = moves(measure.sums(joint, by_group.sum(axis=0), added=True))
    else:
        n_events = by_group.shape[1]
        step = max(1, BLOCK // n_events)
        single_rows = (np.eye(min(step, n_events - first), n_events, first) for first in range(0, n_events, step))
        by_event = np.concatenate([moves(sums_of(measure, joint, rows)) for rows in single_rows])
    worst_kind = float(np.abs(moves(by_kind)).max())
    sizes = by_group.sum(axis=1)
    per_row = by_group @ by_event / sizes
    farthest = max(float(np.abs(move).max()) for move in (per_row, per_row + difference_seen / by_group.sum()))
    return float(sizes.max()) * farthest / max(worst_kind, 1e-300)


@lru_cache(maxsize=16)
def of_one_row(kinds: Any) -> Any:
    """Return the counts of A and of B of one row of each kind."""
    return kinds.confusions(np.eye(len(kinds.counts)))


def sums_of(measure: Measure | OfPairs, joint: JointCounts, weights: FloatArray) -> Any:
    """Return the sums of A and of B from which the measure is computed."""
    return measure.sums(joint, weights) if isinstance(measure, OfPairs) else joint.confusions(weights)


def weighted_sums(weights: FloatArray, sums: Any) -> Any:
    """Return the sums over rows of these kinds, for each row of their weights."""
    return type(sums)(*(weights @ total for total in sums))
