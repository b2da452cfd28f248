"""Bounds of a difference with random weights that depend neither on the names of classes nor on the order of models.

Random weights are assigned to events in the order of a record. So `mirrored_law` first puts the classes and the models
of the record into an order that only the counts determine.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._common.random_streams import RNG
from .._common.validation import FloatArray, IntArray
from ..joint.events import Event, JointCounts, JointEvents
from ..joint.outcomes import EXCHANGED, JointOutcomes
from ..measures.measure import Measure
from ..measures.weighted import OfPairs
from .counts import law_of_difference
from .drawn_law import Law
from .law import ModelDraws, SharedDraws

#: With more classes than this, those with equal counts keep their order.
_MOST_CLASSES = 64


class _Ordered(NamedTuple):
    """One order of the models: its record, and a key that equals that of the other order if the records do."""

    joint: JointCounts
    key: tuple[Any, ...]
    options: dict[str, Any]


def mirrored_law(
    joint: JointCounts,
    measure: Measure | OfPairs,
    *,
    size: int,
    rng: RNG | SharedDraws = 0,
    groups: tuple[IntArray, IntArray] | None = None,
    weights: FloatArray | None = None,
    **options: Any,
) -> Law:
    """Return the law of the difference. Swapping A and B negates it exactly, and class names have no effect.

    It is computed with the models in the order with the smaller record; if both orders have one record, its mirror is
    added. Names of classes only decide between classes with equal counts, if there are groups of rows or more than 64
    classes. The parameters are those of `sigstats.unseen_row.counts.law_of_difference`.
    """
    if isinstance(rng, ModelDraws) and (known := rng.of_pair(joint, size)):
        record, sums, turned = known
        law = law_of_difference(record, measure, size=size, sums=sums, **options)
        return _turned(law) if turned else law
    of_both = [
        _in_own_order(record, places, measure, groups, weights)
        for record, places in ((joint, np.arange(len(joint.counts))), exchanged(joint))
    ]
    turned = of_both[1].key < of_both[0].key
    ordered = of_both[turned]
    if groups is None and isinstance(measure, Measure) and isinstance(rng, (int, SharedDraws)):
        law = _of_counts(ordered.joint, measure, size=size, rng=rng, **options)
    else:
        law = law_of_difference(ordered.joint, measure, size=size, rng=rng, **ordered.options, **options)
    if of_both[0].key != of_both[1].key:
        return _turned(law) if turned else law
    low, high = np.concatenate([law.low, -law.high]), np.concatenate([law.high, -law.low])
    of_model = np.concatenate([law.a[0], law.b[0]]), np.concatenate([law.a[1], law.b[1]])
    return Law(low, high, of_model, of_model, (law.observed[0], law.observed[0]))


def _turned(law: Law) -> Law:
    """Return the law with A and B exchanged."""
    return Law(-law.high, -law.low, law.b, law.a, law.observed[::-1])


#: The laws of the last counts are cached, since a ranking tests both orders of two models.
_of_counts = lru_cache(maxsize=16)(law_of_difference)


def _in_own_order(
    joint: JointCounts,
    places: IntArray,
    measure: Measure | OfPairs,
    groups: tuple[IntArray, IntArray] | None,
    weights: FloatArray | None,
) -> _Ordered:
    """Return classes, and weighted rows, in an order of their own; `places`: the number of each event in `joint`."""
    named = isinstance(measure, Measure) and measure.function is None
    if named and isinstance(joint, JointEvents) and joint.kind == "classes":
        joint, ranks = by_counts(joint)
        places = ranks[places]
    key: list[Any] = [getattr(joint, "events", ()), joint.counts]
    if groups is not None:
        units, events = groups[0], places[groups[1]]
        if weights is not None and int(units.max()) + 1 == len(units):  # rows, none of which is first
            order = np.lexsort((weights, events))
            units, events, weights = np.arange(len(units)), events[order], weights[order]
        key += [array.tobytes() for array in (units, events, weights) if array is not None]
        groups = units, events
    return _Ordered(joint, tuple(key), {"groups": groups, "weights": weights})


def exchanged(joint: JointCounts) -> tuple[JointCounts, IntArray]:
    """Return the record with A and B exchanged, and the number of each event in it."""
    if isinstance(joint, JointEvents):
        return _sorted(joint, [(y, b, a) for y, a, b in joint.events])
    assert isinstance(joint, JointOutcomes)
    return joint.swapped(), EXCHANGED


@lru_cache(maxsize=4)  # a ranking asks for both orders of two models
def by_counts(joint: JointEvents) -> tuple[JointEvents, IntArray]:
    """Return the record with its classes in the order of their counts, and the number of each event in it.

    Classes are distinguished by the counts of their events, then by the classes of these events. If classes are still
    alike, the first gets its own place, and the others are distinguished by it.
    """
    k = joint.n_categories
    ranks = [0] * k
    while True:
        event_keys: list[list[tuple[int, ...]]] = [[] for _ in range(k)]
        for ((y,), (a,), (b,)), count in zip(joint.events, joint.counts, strict=True):
            event_key = (count, ranks[y], ranks[a], ranks[b], y == a, y == b, a == b)
            for role, code in enumerate((y, a, b)):
                event_keys[code].append((role, *event_key))
        keys = [(rank, sorted(of_class)) for rank, of_class in zip(ranks, event_keys, strict=True)]
        order = sorted(range(k), key=keys.__getitem__)
        refined = [0] * k
        for before, after in pairwise(order):
            refined[after] = refined[before] + (keys[before] != keys[after])
        if max(refined) == k - 1 or k > _MOST_CLASSES:
            places = dict(zip(order, range(k), strict=True))
            return _sorted(joint, [((places[y],), (places[a],), (places[b],)) for (y,), (a,), (b,) in joint.events])
        if refined == ranks:
            alike = min(rank for rank in refined if refined.count(rank) > 1)
            first = refined.index(alike)
            refined = [rank + (rank >= alike and code != first) for code, rank in enumerate(refined)]
        ranks = refined


def _sorted(joint: JointEvents, events: Sequence[Event]) -> tuple[JointEvents, IntArray]:
    order = sorted(range(len(events)), key=events.__getitem__)
    places = np.argsort(order)
    return joint.with_events([events[i] for i in order], [joint.counts[i] for i in order]), places
