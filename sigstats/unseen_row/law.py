r"""The distribution of a weighted sum of gamma variables (`tails`), and gamma variables that several laws share.

The mean of values with flat Dirichlet weights is at most t if :math:`\sum_j G_j (x_j - t) \le 0`. The :math:`G_j` are
independent exponential variables, or gamma variables of shape :math:`c_j` if value j occurs that often. With
:math:`a_j = x_j - t` and the saddle point at :math:`-\theta` the probability is

.. math:: P = \frac{1}{2 \pi i} \int_{-\theta - i\infty}^{-\theta + i\infty} \prod_j (1 - s a_j)^{-c_j} \frac{ds}{-s}

by the trapezoid rule on a hyperbola through the saddle point, in equal steps of its parameter. `SharedDraws` and
`ModelDraws` are the random gamma variables of laws that have no such formula.
"""

import math
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.random_streams import as_generator
from .._common.validation import FloatArray, IntArray
from ..measures.formulas import Confusion

#: The most values; more are split between this many equidistant ones, with equal mean and no smaller variance.
MOST_ATOMS = 2**13
#: Accuracies: the distance of the nodes, and the size of terms that are left out; for eleven digits, and for five.
FINE, COARSE = (0.04, 1e-14), (0.16, 1e-8)
#: The length of the path that is added at a time.
_LENGTH = 1.28
_MOST_BLOCKS, _MOST_STEPS = 150, 100
#: Complex numbers that are multiplied before a logarithm is taken, which takes as long as about forty products.
_FACTORS = 32
#: The most numbers that are shared, since more would fill the memory.
_MOST_NUMBERS = 2**25
#: The most powers of two in a count.
_MOST_POWERS = 20
#: The most distinct rows for each pair of models, which has about as many joint events.
_MOST_ROWS = 400
#: The number of weightings that are drawn together.
_TOGETHER = 64


def tails(factors: FloatArray, counts: FloatArray, accuracy: tuple[float, float] = FINE) -> FloatArray:
    """Return, for each row, P(sum <= 0) for gamma variables of shapes `counts`, weighted by `factors`.

    Some counts may be 0. With three factors of 1 and two of -1 it is P(Bin(4, 1/2) >= 3).

    >>> tails(np.array([[1.0, -1.0]]), np.array([[3.0, 2.0]])).round(12)
    array([0.3125])
    """
    # Sums and products over the first axis are quick.
    a, times = np.ascontiguousarray(np.where(counts > 0, factors, 0.0).T), np.ascontiguousarray(counts.T)
    least, most = a.min(axis=0), a.max(axis=0)
    tails: FloatArray = np.where(most <= 0, 1.0, 0.0)
    both_signs, once = (least < 0) & (most > 0), ((times == 0) | (times == 1)).all(axis=0)
    for rows in (np.flatnonzero(both_signs & once), np.flatnonzero(both_signs & ~once)):
        if len(rows):
            scaled, times_of_rows = a[:, rows], times[:, rows]
            turned = (scaled * times_of_rows).sum(axis=0) < 0
            scaled *= np.where(turned, -1.0, 1.0)
            small = _small_tails(scaled / -scaled.min(axis=0), times_of_rows, accuracy)
            tails[rows] = np.where(turned, 1 - small, small)
    return tails


def _small_tails(a: FloatArray, times: FloatArray, accuracy: tuple[float, float]) -> FloatArray:
    """Return the tails of sums with a mean of at least 0 and a smallest factor of -1."""
    theta, curvature = _saddles(a, times)
    room = 1 + theta * a
    ratios = a / room
    width = 1 / np.sqrt(curvature)
    # The path of steepest descent, up to its curvature: on a straight one a skewed law oscillates long.
    third = (ratios**3 * times).sum(axis=0) + theta**-3
    bend = np.clip(2 / 3 * third * width**3, -1.0, 1.0)
    log_scale = -(np.log(room) * times).sum(axis=0) - np.log(theta)
    total, left = np.zeros(a.shape[1]), np.arange(a.shape[1])
    (step, negligible), nodes = accuracy, round(_LENGTH / accuracy[0])
    for block in range(_MOST_BLOCKS):
        u = step * np.arange(block * nodes, (block + 1) * nodes)
        cosh, sinh = np.cosh(u), np.sinh(u)
        bend_left = bend[left, np.newaxis]
        path = width[left, np.newaxis] * (bend_left * (cosh - 1) + 1j * sinh)
        log_product = _log_products(ratios[:, left, np.newaxis], times[:, left, np.newaxis], path)
        terms = np.exp(-log_product) * (cosh - 1j * bend_left * sinh) / (1 - path / theta[left, np.newaxis])
        total[left] += terms.real.sum(axis=1) - (0.5 if block == 0 else 0.0)
        left = left[np.abs(terms[:, -1]) >= negligible * total[left]]
        if not len(left):
            break
    return np.asarray(np.minimum(1.0, np.exp(log_scale) * total * step * width / math.pi))


def _log_products(ratios: FloatArray, times: FloatArray, path: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return the logarithms of the products of ``(1 - path * ratios) ** times``, up to multiples of 2 pi i."""
    if (times > 1).any() or (times % 1).any():  # whole turns would count
        real, imaginary = 1 - path.real * ratios, path.imag * ratios
        logs = np.log(real * real + imaginary * imaginary)
        return np.asarray(0.5 * (logs * times).sum(axis=0) - 1j * (np.arctan2(imaginary, real) * times).sum(axis=0))
    log_product = np.zeros(path.shape, dtype=np.complex128)
    for start in range(0, len(ratios), _FACTORS):
        log_product += np.log(np.multiply.reduce(1 - path * ratios[start : start + _FACTORS], axis=0))
    return log_product


def _saddles(a: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the minima of the integrands on the interval (0, 1), to a hundredth, and the curvatures there."""
    mean, square = (a * times).sum(axis=0), (a * a * times).sum(axis=0)
    theta = np.clip((mean + np.sqrt(mean * mean + 4 * square)) / (2 * square), 1e-9, 0.9)
    low, high, curvature, left = np.zeros(len(theta)), np.ones(len(theta)), np.ones(len(theta)), np.arange(len(theta))
    for _ in range(_MOST_STEPS):
        at = theta[left]
        ratios = a[:, left] / (1 + at * a[:, left])
        slope = -(ratios * times[:, left]).sum(axis=0) - 1 / at
        curvature[left] = bent = (ratios * ratios * times[:, left]).sum(axis=0) + 1 / at**2
        step = slope / bent  # Newton's
        far = np.abs(step) * np.sqrt(bent) >= 1e-2
        low[left], high[left] = np.where(slope > 0, low[left], at), np.where(slope > 0, at, high[left])
        left, after = left[far], (at - step)[far]
        if not len(left):
            break
        bottom, top = low[left], high[left]
        theta[left] = np.where((bottom < after) & (after < top), after, (bottom + top) / 2)
    return theta, curvature


def atoms_of(values: FloatArray, counts: FloatArray, most: int = MOST_ATOMS) -> tuple[FloatArray, FloatArray]:
    """Split each value between its two neighbours among at most `most` equidistant ones; return these and counts."""
    least, span = float(values.min()), float(np.ptp(values))
    if span == 0:
        return values[:1], counts.sum(keepdims=True)
    places: FloatArray = (values - least) * ((most - 1) / span)
    below = np.minimum(places.astype(np.int64), most - 2)
    grid_counts: FloatArray = np.bincount(below, counts, most).astype(np.float64)
    shifted = np.bincount(below, counts * (places - below), most)
    grid_counts -= shifted
    grid_counts[1:] += shifted[:-1]
    occurs = grid_counts > 0
    grid: FloatArray = least + span / (most - 1) * np.arange(most, dtype=np.float64)
    return grid[occurs], grid_counts[occurs]


def pooled_weights(weights: FloatArray, counts: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Split each weight between its two neighbours among at most `most` in equal ratios; return these and counts.

    The sum of all weights is unchanged. With neighbours that differ by the factor 1 + h, the sum of squares grows
    by the share h^2 / 4 at most. Weights of 0 or less stay as they are.
    """
    least, largest = float(weights.min()), float(weights.max())
    if len(weights) <= most or least <= 0:
        return weights, counts
    atoms: FloatArray = np.geomspace(least, largest, most)
    below = np.clip(np.searchsorted(atoms, weights, side="right") - 1, 0, most - 2)
    share = (weights - atoms[below]) / np.diff(atoms)[below]
    atom_counts: FloatArray = np.bincount(below, counts * (1 - share), most).astype(np.float64)
    atom_counts += np.bincount(below + 1, counts * share, most)
    return atoms[atom_counts > 0], atom_counts[atom_counts > 0]


class SharedDraws:
    """Gamma variables shared by many slices or pairs of models, which then need sums but no draws of their own.

    A shape is a sum of powers of two, and a gamma variable the sum of independent ones of these shapes. So the events
    of a slice take one column each for every power in their counts, and another slice uses the same columns, each from
    its own stream of the seed. Within a slice all are independent, as its p-values and intervals require; those of two
    slices depend on each other, which adjustments that are valid under any dependence (Holm, Bonferroni) allow.
    """

    def __init__(self, seed: int, size: int) -> None:
        self.size, self.seed = size, seed
        self._columns: list[list[FloatArray]] = [[] for _ in range(_MOST_POWERS)]

    def covers(self, counts: FloatArray) -> bool:
        """Return True if there are columns for events with such counts."""
        columns = sum(int(count).bit_count() for count in counts)
        return int(counts.max()) < 2**_MOST_POWERS and columns * self.size <= _MOST_NUMBERS

    def weights(self, counts: FloatArray, block: slice = slice(None)) -> FloatArray:
        """Return gamma variables of these shapes in a block of weightings, shape (weightings, len(counts))."""
        drawn = np.zeros((len(counts), len(self.shares[block])))
        order = np.argsort(-counts, kind="stable")
        for power, columns in enumerate(self._columns):
            places = order[counts[order].astype(np.int64) >> power & 1 == 1]
            for number in range(len(columns), len(places)):
                columns.append(self._generator(number, power).standard_gamma(2.0**power, self.size))
            for place, column in zip(places.tolist(), columns, strict=False):
                np.add(drawn[place], column[block], out=drawn[place])
        return drawn.T

    @cached_property
    def shares(self) -> FloatArray:
        """Exponential variables, the weights of the unseen row; array of float, shape (size,)."""
        return self._generator().standard_exponential(self.size)

    def clear(self) -> None:
        """Free the memory of the columns."""
        for columns in self._columns:
            columns.clear()

    def _generator(self, *key: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=key)))


class ModelDraws(SharedDraws):
    """Shared draws, and the sums of the weights of all rows by which many models are measured.

    One weight for each distinct row (its label and all answers) serves all models. Neither the order of rows or models
    nor the names of classes decide which weight a row gets; there are no sums if they would, or if there were too many.
    `columns`: codes of the labels and of the answers of each model. `most`: the number of weightings of all rows.
    """

    def __init__(self, columns: IntArray, seed: int, size: int, most: int) -> None:
        super().__init__(seed, size)
        self.clear()
        self.pair = 0, 1  # the models that are compared
        self._codes, label, answers = columns, columns[0], columns[1:]
        k, n_models = int(columns.max()) + 1, len(answers)
        if len(np.unique(label)) < k or (1 + 2 * n_models) * k * most > 2 * _MOST_NUMBERS:
            return
        # Classes are numbered by their counts, and models by their tables of labels and answers.
        class_counts = [
            np.bincount(codes, minlength=k) for codes in (label, answers.ravel(), answers[answers == label])
        ]
        self._classes = np.unique(class_counts, axis=1, return_inverse=True)[1].ravel()
        numbered = self._classes[columns]
        tables = [np.bincount(numbered[0] * k + answer, minlength=k * k) for answer in numbered[1:]]
        self._models = np.unique(tables, axis=0, return_inverse=True)[1].ravel()
        rows, counts = np.unique(numbered[[0, *1 + np.argsort(self._models)]], axis=1, return_counts=True)
        few = len(counts) <= n_models * (n_models - 1) // 2 * min(_MOST_ROWS, k**3)
        if few and np.ptp(self._classes) == k - 1 and np.ptp(self._models) == n_models - 1:
            self._draw(rows, counts, most)

    def clear(self) -> None:
        """Free the memory of the columns and of the sums."""
        super().clear()
        self._sums = np.empty((1, 0, 0))

    def _draw(self, rows: IntArray, counts: IntArray, size: int) -> None:
        """Add the weights of labels, and of wrong answers by their labels and by themselves."""
        from scipy.sparse import csc_array  # slow to import

        label, answers, k = rows[:1], rows[1:], len(self._classes)
        classes = np.concatenate([label, np.repeat(label, len(answers), axis=0), answers])
        sums, at = np.nonzero(np.concatenate([label == label, answers != label, answers != label]))
        shape = len(classes) * k, len(counts)
        members: Any = csc_array((np.ones(len(sums)), (sums * k + classes[sums, at], at)), shape=shape)
        several, generator = np.flatnonzero(counts > 1), as_generator(self.seed)
        self._one_more, self._sums = generator.standard_exponential(size), np.empty((len(classes), k, size))
        for start in range(0, size, _TOGETHER):
            weights = generator.standard_exponential((len(counts), _TOGETHER))
            weights[several] = generator.standard_gamma(counts[several, np.newaxis], (len(several), _TOGETHER))
            added = (members @ weights).reshape(-1, k, _TOGETHER)
            self._sums[..., start : start + _TOGETHER] = added[..., : size - start]

    def of_pair(self, joint: Any, size: int) -> tuple[Any, Any, bool] | None:
        """Return a pair's record in a canonical order, its blocks, and whether models are swapped; None if unknown."""
        pair, classes = np.array(self.pair), range(self._sums.shape[1])
        codes = self._codes[[0, *1 + pair]]
        if not classes or joint != joint.from_codes(classes, *codes)[0]:
            return None
        order = np.argsort(self._models[pair])
        own, _ = joint.from_codes(classes, *self._classes[codes[[0, *1 + order]]])
        return own, partial(self._blocks, self._models[pair[order]], size), bool(order[0])

    def _blocks(self, models: IntArray, size: int, step: int) -> Iterator[tuple[list[Confusion], FloatArray]]:
        """Yield blocks of the counts of these models, and of the weights of one more row."""
        for block in (slice(start, min(start + step, size)) for start in range(0, size, step)):
            true, *wrong = self._sums[..., block].swapaxes(1, 2)
            n, half = true.sum(axis=1, keepdims=True), len(wrong) // 2
            errors = [(wrong[model], wrong[half + model]) for model in models]
            yield [Confusion(true - fn, fn, fp, n - true - fp) for fn, fp in errors], self._one_more[block]
