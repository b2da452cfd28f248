"""Bounds of the difference of any measure of classes that remain valid with one more row of an unseen kind.

The counts of joint events get gamma weights (a flat Dirichlet distribution of the rows), or whole groups of rows
exponential ones, and one more row (or group) is added where it hurts most: a group as large as the largest or, if it is
like those seen, a part of one that moves the difference as far as any observed group would at that size, or one row.
Each of several rare classes may have a part of it. Quantiles of the measure are computed by random weights from a fixed
stream.

When not to use: means and areas, whose law needs no random weights (`sigstats.unseen_row.means`, ``.areas``).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import islice, product
from typing import Any

import numpy as np

from .._common.extreme import difference
from .._common.random_streams import RNG, as_generator
from .._common.validation import FloatArray, IntArray
from ..joint.events import JointCounts, JointEvents
from ..measures.formulas import Confusion
from ..measures.measure import Kind, MeanOfClasses, Measure, OfClass
from ..measures.score_formulas import OfAreas, OfPairs
from .drawn_law import MANY_CLASSES, Law, widened, with_few_changed
from .law import MOST_ATOMS, SharedDraws, pooled_weights
from .means import UnseenGroup, row_of_groups

#: The most numbers in a block of weights.
_BLOCK = 2**21
#: At most this many weights are drawn one by one for the rows of an event; above `MOST_ATOMS` rows they are pooled.
_WEIGHTS = 256
_FEW_CLASSES = 8  # from this many on, NumPy does not add them one after the other
#: Up to this many classes, every kind of row is tried; of more, those of the rarest and of the most frequent ones.
_MOST_CLASSES = 7
#: The number of kinds of rows, and the shares of several classes, that are tried with each weighting; if slow,
#: only the kind, or the shares, with the largest effect.
_KINDS, _UNSEEN_ROWS = 3, (1.0, 3.7)


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
    if isinstance(joint, JointEvents):
        of_pairs = measure if isinstance(measure, OfPairs) else None
        events = (of_pairs and of_pairs.kinds) or _kinds_of(joint, of_pairs.ends if of_pairs else ())
        kinds: Any = joint.with_events(events, (1,) * len(events))
        measure = of_pairs.on(joint, kinds) if of_pairs else measure
        true, width = np.array([event[0][0] for event in events]), len({*joint.events, *events})
    else:
        kinds, true, width = joint, np.repeat([1, 0], 4), 8
    counts = np.array(joint.counts, dtype=np.float64)
    within = None if groups is None else _within(groups, len(counts), weights)
    row = math.inf
    if within is not None:
        counts = np.asarray(within.sum(axis=0), dtype=np.float64)
        row = row_of_groups(within.shape[0], unseen_group, 1.0 if weights is None else float(weights.max()))
    largest = 1.0 if within is None else float(within.sum(axis=1).max())
    observed = sums_of(measure, joint, counts[np.newaxis])
    alone = _alone(kinds) if isinstance(measure, Measure) else sums_of(measure, kinds, np.eye(len(true)))
    if row < math.inf:
        largest = min(largest, max(row, _farthest(measure, joint, within, observed, alone)))
    places = largest * _where_it_hurts(kinds.kind, measure, observed, alone, true, largest)
    unseen = [_times(places, of_kinds) for of_kinds in alone]
    shapes = np.ones(0 if within is None else within.shape[0])
    if weights is not None and len(shapes) > MOST_ATOMS:
        shapes, within = _pooled(within)
    step = max(1, _BLOCK // (width + 8 * joint.n_categories + len(shapes)))
    parts: list[list[FloatArray]] = []
    shapes = counts if within is None else shapes
    blocks: Any = _weights(shapes, within, rng, size, step) if sums is None else sums(step)
    if isinstance(measure, OfAreas):  # larger blocks of the same weights
        several, smaller = max(1, _BLOCK // (step * width)), blocks
        blocks = iter(lambda: [np.concatenate(part) for part in zip(*islice(smaller, several), strict=True)], [])
    for drawn, shares in blocks:
        base = sums_of(measure, joint, drawn) if sums is None else drawn
        (a, place_a), (b, place_b) = (
            _values(measure, joint, of, more, shares) for of, more in zip(base, unseen, strict=True)
        )
        gains = [difference(b[at_b], a[at_a]) for at_a, at_b in zip(place_a, place_b, strict=True)]
        parts.append([reduce(extreme, value) for value in (gains, a, b) for extreme in (np.minimum, np.maximum)])
    low, high, *rest = (np.concatenate(value) for value in zip(*parts, strict=True))
    of_a, of_b = (float(measure.of(of, joint.kind)[0]) for of in observed)
    law = Law(low, high, (rest[0], rest[1]), (rest[2], rest[3]), (of_a, of_b))
    return widened(law, measure, joint, within)


def _farthest(measure: Measure | OfPairs, joint: JointCounts, within: Any, observed: Any, alone: Any) -> float:
    """Return rows of the worst kind that move the difference as far as any observed group of the largest size."""
    none = [type(value)(*(0 * of for of in value)) for value in observed]
    seen = float(_differences(joint.kind, measure, observed, none)[0])

    def moves(sums: Any) -> FloatArray:
        return _differences(joint.kind, measure, observed, sums) - seen

    if isinstance(measure, OfAreas):  # which counts pairs of rows
        moved = moves(measure.sums(joint, within.sum(axis=0), added=True))
    else:
        n, step = within.shape[1], max(1, _BLOCK // within.shape[1])
        one = (np.eye(min(step, n - first), n, first) for first in range(0, n, step))
        moved = np.concatenate([moves(sums_of(measure, joint, rows)) for rows in one])
    worst = moves(alone)
    sizes = within.sum(axis=1)
    by_row = within @ moved / sizes
    far = max(float(np.abs(value).max()) for value in (by_row, by_row + seen / within.sum()))
    return float(sizes.max()) * far / max(float(np.abs(worst).max()), 1e-300)


@lru_cache(maxsize=16)
def _alone(kinds: Any) -> Any:
    """Return the counts of A and of B of one row of each kind."""
    return kinds.confusions(np.eye(len(kinds.counts)))


def _times(weights: FloatArray, sums: Any) -> Any:
    """Return the sums over rows of these kinds, for each row of their weights."""
    return type(sums)(*(weights @ total for total in sums))


def sums_of(measure: Measure | OfPairs, joint: JointCounts, weights: FloatArray) -> Any:
    """Return the sums of A and of B from which the measure is computed."""
    return measure.sums(joint, weights) if isinstance(measure, OfPairs) else joint.confusions(weights)


def _values(
    measure: Measure | OfPairs, joint: JointCounts, base: Any, unseen: Any, shares: FloatArray
) -> tuple[list[FloatArray], list[int]]:
    """Return a model's measure with one more row in each place where it matters, and the places' numbers."""
    places = np.column_stack([value.reshape(len(value), -1) for value in unseen])
    numbers: dict[tuple[float, ...], int] = {}
    of_place = [numbers.setdefault(tuple(place), len(numbers)) for place in places.tolist()]
    first = [of_place.index(number) for number in range(len(numbers))]
    means = measure.mean_of_classes() if isinstance(measure, Measure) else None
    if means is not None and joint.kind == "classes":
        of_means = with_few_changed if joint.n_categories > MANY_CLASSES else _means_of_classes
        return of_means(means, base, places[first].reshape(-1, len(base), joint.n_categories), shares), of_place
    values = []
    order: Any = "K" if joint.n_categories < _FEW_CLASSES else "C"
    for number in first:
        more = (value[number] for value in unseen)
        added = (np.moveaxis(np.multiply.outer(m, shares), -1, 0) if np.any(m) else None for m in more)
        counts = type(base)(
            *(b if more is None else np.add(b, more, order=order) for b, more in zip(base, added, strict=True))
        )
        values.append(measure.of(counts, joint.kind))
    return values, of_place


def _means_of_classes(means: MeanOfClasses, base: Any, places: FloatArray, shares: FloatArray) -> list[FloatArray]:
    """Return a mean over classes with one more row in each place; most rows change only some of the classes."""
    known: dict[tuple[float, ...], OfClass] = {}
    added: dict[float, FloatArray] = {}
    by_class = [[value[:, number] for value in base] for number in range(base[0].shape[1])]
    values = []
    for place in places:
        classes = []
        for number, more in enumerate(place.T.tolist()):
            if not means.of_negatives:
                more[-1] = 0.0
            key = (number, *more)
            if key not in known:
                counts = list(by_class[number])
                for which, m in enumerate(more):
                    if m:
                        if m not in added:
                            added[m] = m * shares
                        counts[which] = counts[which] + added[m]
                known[key] = means.value(Confusion(*counts), occurs=any(count[0] > 0 for count in counts[:2]))
            classes.append(known[key])
        values.append(means.of(classes))
    return values


def _weights(
    shapes: FloatArray, within: Any, rng: RNG | SharedDraws, size: int, step: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield blocks of random weights of the events, and of one more row.

    `shapes`: the shapes of the gamma weights of the events, or of groups if `within` has their rows of each event.
    """
    if isinstance(rng, SharedDraws):
        if within is None and size <= rng.size and rng.covers(shapes):
            blocks = (slice(start, min(start + step, size)) for start in range(0, size, step))
            yield from ((rng.weights(shapes, block), rng.shares[block]) for block in blocks)
            return
        rng = rng.seed
    generator = as_generator(rng)
    for start in range(0, size, step):
        many = min(step, size - start)
        weights = generator.standard_gamma(shapes, (many, len(shapes)))
        yield weights if within is None else np.asarray(weights @ within), generator.standard_exponential(many)


def _within(groups: tuple[IntArray, IntArray], width: int, weights: FloatArray | None) -> Any:
    from scipy.sparse import coo_array  # slow to import

    counted = np.ones(len(groups[0])) if weights is None else weights
    return coo_array((counted, groups), shape=(int(groups[0].max()) + 1, width)).tocsr()


def _pooled(within: Any) -> tuple[FloatArray, Any]:
    """Return the shapes of gamma weights, and the rows of each event, for groups whose rows have one event."""
    from scipy.sparse import coo_array  # slow to import

    if within.nnz > within.shape[0]:
        return np.ones(within.shape[0]), within
    events = np.unique(within.indices).tolist()
    of_events = (np.unique(within.data[within.indices == event], return_counts=True) for event in events)
    parts = [pooled_weights(weights, often.astype(np.float64), _WEIGHTS) for weights, often in of_events]
    weights, shapes = (np.concatenate(part) for part in zip(*parts, strict=True))
    places = np.arange(len(shapes)), np.repeat(events, [len(part[0]) for part in parts])
    return shapes, coo_array((weights, places), shape=(len(shapes), within.shape[1])).tocsr()


def _kinds_of(joint: JointEvents, ends: Sequence[int]) -> tuple[Any, ...]:
    """Return the kinds of rows that may be added, with classes of the truth.

    `ends`: the first and the last class, where they are ordered.
    """
    classes = joint.n_categories
    labels = frozenset(event[0][0] for event, count in zip(joint.events, joint.counts, strict=True) if count)
    if classes <= _MOST_CLASSES:
        return _among(frozenset(range(classes)), labels)
    called = [np.bincount(role, joint.counts, classes) for role in np.array(joint.events)[:, :, 0].T]
    rarest = [int(value) for of in called[1:] for value in np.argsort(of, kind="stable")[:2]]
    rarest += sorted(labels, key=lambda y: (called[0][y], y))[:2]
    kinds = {*_among(frozenset({*rarest, int(np.argmax(called[0])), *ends}), labels)}
    rare, rarer_still = (int(value) for value in np.argsort(called[0], kind="stable")[[-1, -2]])
    for y in labels:
        other = rare if rare != y else rarer_still
        kinds |= {((y,), (y,), (other,)), ((y,), (other,), (y,))}
    return tuple(sorted(kinds))


@lru_cache(maxsize=16)
def _among(classes: frozenset[int], labels: frozenset[int]) -> tuple[Any, ...]:
    """Return the kinds of rows of these classes on which the models differ; `labels`: the classes of the truth."""
    return tuple(((y,), (a,), (b,)) for y, a, b in product(sorted(classes), repeat=3) if a != b and y in labels)


def _where_it_hurts(
    kind: Kind, measure: Measure | OfPairs, observed: Any, alone: Any, true: IntArray, largest: float
) -> FloatArray:
    """Return where one more row decreases or increases the difference most: kinds of rows, or several classes."""
    chosen: set[tuple[int, ...]] = set()
    several: list[list[tuple[int, ...]]] = []
    rows = [[np.concatenate([many * largest * item for many in _UNSEEN_ROWS]) for item in of] for of in alone]
    alone_hurts = _differences(kind, measure, observed, rows).reshape(len(_UNSEEN_ROWS), -1)
    classes, slow = true.tolist(), isinstance(measure, OfPairs) and measure.slow
    for sign in (1, -1):
        for order in np.argsort(sign * alone_hurts, axis=1, kind="stable").tolist():
            chosen |= {(item,) for item in order[: 1 if slow else _KINDS]}
            first: dict[int, int] = {}  # the worst row of each class, the worst class first
            for value in order:
                first.setdefault(classes[value], value)
            worst = list(first.values())
            parts = [tuple(worst[: 2**power]) for power in range(1, len(worst).bit_length() + 1)]
            several.append([part for part in dict.fromkeys(parts) if len(part) > 1])
    many = np.repeat(2 * _UNSEEN_ROWS, [len(parts) for parts in several]) * largest
    together = many[:, np.newaxis] * _placed([part for parts in several for part in parts], len(true))
    hurts = _differences(kind, measure, observed, [_times(together, of) for of in alone])
    for (sign, single), tried in zip(product((1, -1), alone_hurts), several, strict=True):
        hurt, hurts = sign * hurts[: len(tried)], hurts[len(tried) :]
        if tried and not (slow and hurt.min() >= (sign * single).min()):
            chosen.add(tried[int(np.argmin(hurt))])
    return _placed(sorted(chosen), len(true))


def _placed(parts: Sequence[tuple[int, ...]], width: int) -> FloatArray:
    places = np.zeros((len(parts), width))
    for place, part in zip(places, parts, strict=True):
        place[list(part)] = 1 / len(part)
    return places


def _differences(kind: Kind, measure: Measure | OfPairs, observed: Any, more: Sequence[Any]) -> FloatArray:
    """B - A with more rows, whose sums are `more` of A and of B."""
    a, b = (measure.of(type(sums)(*map(np.add, sums, added)), kind) for sums, added in zip(observed, more, strict=True))
    return np.asarray(b - a)
