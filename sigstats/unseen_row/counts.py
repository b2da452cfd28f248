"""Bounds of the difference of any measure of classes that remain valid with one more row of an unseen kind.

Public entry: `law_of_difference`. The counts of joint events (a label with the predictions of A and of B) get gamma
weights, a flat Dirichlet distribution of the rows. If rows come in groups, whole groups get exponential weights. Then
one more row (or group) is added where it hurts most. This group is as large as the largest one. If it is like those
seen, it is the part of such a group that moves the difference as far as any observed group would at that size, or one
row. Each of several rare classes may have a part of it. Quantiles of the measure are computed by random weights from a
fixed stream.

When not to use: means and areas, whose law needs no random weights (`sigstats.unseen_row.means`, ``.areas``).
"""

import math
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np

from .._common.extreme import difference
from .._common.random_streams import RNG, as_generator
from .._common.validation import FloatArray, IntArray
from ..joint.events import JointCounts
from ..measures.formulas import Confusion
from ..measures.measure import MeanOfClasses, Measure, OfClass
from ..measures.weighted import OfAreas, OfPairs
from .drawn_law import MANY_CLASSES, Law, widened, with_few_changed
from .law import MOST_ATOMS, SharedDraws, pooled_weights
from .means import UnseenGroup, row_of_groups
from .worst_row import BLOCK, kinds_of, of_one_row, sums_of, weight_like_seen, weighted_sums, worst_places

#: At most this many weights are drawn one by one for the rows of an event; above `MOST_ATOMS` rows they are pooled.
_WEIGHTS = 256
_FEW_CLASSES = 8  # from this many on, NumPy does not add them one after the other


def law_of_difference(
    joint: JointCounts,
    measure: Measure | OfPairs,
    *,
    size: int,
    rng: RNG | SharedDraws = 0,
    sums: Callable[[int], Iterator[Any]] | None = None,
    groups: tuple[IntArray, IntArray] | None = None,
    weights: FloatArray | None = None,
    unseen_group: UnseenGroup = "auto",
) -> Law:
    """Return the distribution of the difference of a measure of which more is better, by `size` random weightings.

    `rng`: the seed, or draws that many slices or pairs share, if its size and the counts of the events allow it.
    `sums`: in place of draws, a function that yields, in blocks of a given number of weightings, the sums of both
    models and the weights of one more row. `groups`: the group of each row, from 0, and the number of its event in
    `joint`. `weights`: the weight of each row, if rows are in groups (of one row each, if they are not).
    `unseen_group`: as in `ComparisonRule`.
    """
    kinds = kinds_of(joint, measure)
    if isinstance(measure, OfPairs):
        measure = measure.on(joint, kinds.joint)
    counts = np.array(joint.counts, dtype=np.float64)
    by_group = None if groups is None else _events_by_group(groups, len(counts), weights)
    heaviest_row, largest_group = math.inf, 1.0
    if by_group is not None:
        counts = np.asarray(by_group.sum(axis=0), dtype=np.float64)
        heaviest_row = row_of_groups(by_group.shape[0], unseen_group, 1.0 if weights is None else float(weights.max()))
        largest_group = float(by_group.sum(axis=1).max())
    observed = sums_of(measure, joint, counts[np.newaxis])
    unit_weights = np.eye(len(kinds.labels))
    by_kind = sums_of(measure, kinds.joint, unit_weights) if isinstance(measure, OfPairs) else of_one_row(kinds.joint)
    if heaviest_row < math.inf:
        farthest = weight_like_seen(measure, joint, by_group, observed, by_kind)
        largest_group = min(largest_group, max(heaviest_row, farthest))
    places = largest_group * worst_places(kinds, measure, observed, by_kind, largest_group)
    unseen = [weighted_sums(places, of_model) for of_model in by_kind]
    shapes = np.ones(0 if by_group is None else by_group.shape[0])
    if weights is not None and len(shapes) > MOST_ATOMS:
        shapes, by_group = _pooled(by_group)
    step = max(1, BLOCK // (kinds.n_events + 8 * joint.n_categories + len(shapes)))
    if sums is None:
        drawn: Iterator[Any] = _weights(counts if by_group is None else shapes, by_group, rng, size, step)
        if isinstance(measure, OfAreas):
            drawn = _joined(drawn, max(1, BLOCK // (step * kinds.n_events)))
        blocks: Any = ((sums_of(measure, joint, rows), one_more) for rows, one_more in drawn)
    else:
        blocks = sums(step)
    parts = [_extremes(measure, joint, of_models, unseen, one_more) for of_models, one_more in blocks]
    low, high, low_a, high_a, low_b, high_b = (np.concatenate(values) for values in zip(*parts, strict=True))
    value_a, value_b = (float(measure.of(of_model, joint.kind)[0]) for of_model in observed)
    return widened(Law(low, high, (low_a, high_a), (low_b, high_b), (value_a, value_b)), measure, joint, by_group)


def _extremes(
    measure: Measure | OfPairs, joint: JointCounts, of_models: Any, unseen: Any, one_more: FloatArray
) -> list[FloatArray]:
    """Return the least and the greatest B - A, A and B of each weighting, over the places of one more row."""
    (a, number_a), (b, number_b) = (
        _values(measure, joint, of_model, rows, one_more) for of_model, rows in zip(of_models, unseen, strict=True)
    )
    gains = [difference(b[at_b], a[at_a]) for at_a, at_b in zip(number_a, number_b, strict=True)]
    return [reduce(extreme, values) for values in (gains, a, b) for extreme in (np.minimum, np.maximum)]


def _values(
    measure: Measure | OfPairs, joint: JointCounts, base: Any, unseen: Any, one_more: FloatArray
) -> tuple[list[FloatArray], list[int]]:
    """Return a model's measure for the distinct places of one more row, and the number of each place among these.

    `base`: the sums of the model; `unseen`: the sums that the row adds in each place; `one_more`: its random weights.
    """
    places = np.column_stack([total.reshape(len(total), -1) for total in unseen])
    numbers: dict[tuple[float, ...], int] = {}
    of_place = [numbers.setdefault(tuple(place), len(numbers)) for place in places.tolist()]
    distinct = [of_place.index(number) for number in range(len(numbers))]
    means = measure.mean_of_classes() if isinstance(measure, Measure) else None
    if means is not None and joint.kind == "classes":
        of_means = with_few_changed if joint.n_categories > MANY_CLASSES else _means_of_classes
        return of_means(means, base, places[distinct].reshape(-1, len(base), joint.n_categories), one_more), of_place
    order: Any = "K" if joint.n_categories < _FEW_CLASSES else "C"

    def with_row(total: FloatArray, added: FloatArray) -> FloatArray:
        if not np.any(added):
            return total
        return np.add(total, np.moveaxis(np.multiply.outer(added, one_more), -1, 0), order=order)

    values = []
    for place in distinct:
        sums = type(base)(*(with_row(total, added[place]) for total, added in zip(base, unseen, strict=True)))
        values.append(measure.of(sums, joint.kind))
    return values, of_place


def _means_of_classes(means: MeanOfClasses, base: Any, places: FloatArray, one_more: FloatArray) -> list[FloatArray]:
    """Return a mean over classes with one more row in each place; most rows change only some of the classes."""
    known: dict[tuple[float, ...], OfClass] = {}
    products: dict[float, FloatArray] = {}
    by_class = [[count[:, number] for count in base] for number in range(base[0].shape[1])]
    values = []
    for place in places:
        classes = []
        for number, added in enumerate(place.T.tolist()):
            if not means.of_negatives:
                added[-1] = 0.0
            key = (number, *added)
            if key not in known:
                counts = list(by_class[number])
                for cell, weight in enumerate(added):
                    if weight:
                        if weight not in products:
                            products[weight] = weight * one_more
                        counts[cell] = counts[cell] + products[weight]
                known[key] = means.value(Confusion(*counts), occurs=any(count[0] > 0 for count in counts[:2]))
            classes.append(known[key])
        values.append(means.of(classes))
    return values


def _weights(
    shapes: FloatArray, by_group: Any, rng: RNG | SharedDraws, size: int, step: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield blocks of random weights of the events, and of one more row.

    `shapes`: the shapes of the gamma weights of the events, or of groups if `by_group` has their rows of each event.
    """
    if isinstance(rng, SharedDraws):
        if by_group is None and size <= rng.size and rng.covers(shapes):
            blocks = (slice(start, min(start + step, size)) for start in range(0, size, step))
            yield from ((rng.weights(shapes, block), rng.shares[block]) for block in blocks)
            return
        rng = rng.seed
    generator = as_generator(rng)
    for start in range(0, size, step):
        n_weightings = min(step, size - start)
        weights = generator.standard_gamma(shapes, (n_weightings, len(shapes)))
        if by_group is not None:
            weights = np.asarray(weights @ by_group)
        yield weights, generator.standard_exponential(n_weightings)


def _joined(blocks: Iterator[tuple[FloatArray, ...]], number: int) -> Iterator[tuple[FloatArray, ...]]:
    """Yield larger blocks, each of this `number` of blocks."""
    while several := list(islice(blocks, number)):
        yield tuple(np.concatenate(part) for part in zip(*several, strict=True))


def _events_by_group(groups: tuple[IntArray, IntArray], n_events: int, weights: FloatArray | None) -> Any:
    """Return the weight of the rows of each group and event, a sparse array of shape (groups, events)."""
    from scipy.sparse import coo_array  # slow to import

    row_weights = np.ones(len(groups[0])) if weights is None else weights
    return coo_array((row_weights, groups), shape=(int(groups[0].max()) + 1, n_events)).tocsr()


def _pooled(by_group: Any) -> tuple[FloatArray, Any]:
    """Pool groups whose rows all have one event. Return shapes of gamma weights, and the rows of each event."""
    from scipy.sparse import coo_array  # slow to import

    n_groups, n_events = by_group.shape
    if by_group.nnz > n_groups:
        return np.ones(n_groups), by_group
    events = np.unique(by_group.indices).tolist()
    pooled = []
    for event in events:
        weights, counts = np.unique(by_group.data[by_group.indices == event], return_counts=True)
        pooled.append(pooled_weights(weights, counts.astype(np.float64), _WEIGHTS))
    weights, shapes = (np.concatenate(part) for part in zip(*pooled, strict=True))
    places = np.arange(len(shapes)), np.repeat(events, [len(of_event) for of_event, _ in pooled])
    return shapes, coo_array((weights, places), shape=(len(shapes), n_events)).tocsr()
