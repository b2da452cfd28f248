"""Kernel machines: one kernel matrix a fold for all pairs of classes, or one a pair, and libsvm's own steps on it.

What is permuted moves rows between folds, so that scales, ``gamma="scale"`` and with them every kernel differ from fold
to fold of each replicate; no kernel matrix outlives a fold. libsvm makes kernels one by one and anew for each pair of
classes. Here they are matrix products with the same floats of 32 bits, on which the same steps lead to the same
coefficients. A decision that is nearer to 0 than
rounding may move it is left to scikit-learn. Where the matrix of a fold would take too much memory each pair has one
of its own, and where that would, all is left to scikit-learn.
"""

import functools
import itertools
from typing import Any, ClassVar

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC

from sigstats._common.validation import FloatArray, IntArray

from ..base import UNDECIDED, Null, Problem, blocks, is_default, steps_of
from ..design import FoldTransform, design_of
from ..door import compiled, noise_of_two_classes

_FREE = ("C", "kernel", "degree", "gamma", "coef0", "shrinking", "tol", "cache_size", "decision_function_shape")

_SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)

#: A larger matrix is not made: libsvm keeps the part of it that is asked for.
_MOST_BYTES = 2**28

#: Rounding of a sum of kernels times coefficients, relative to the sum of their sizes.
_ROUNDING = 1e-12


class BatchedKernelSVM:
    """`sklearn.svm.SVC` with a Gaussian or polynomial kernel, bare or behind scalers and encoders."""

    nulls: ClassVar[tuple[Null, ...]] = ("labels", "features")
    one_size: ClassVar[bool] = True

    def __init__(self, problem: Problem, transforms: list[Any], machine: Any) -> None:
        self._problem, self._transformed, self._machine = problem, FoldTransform(transforms, problem.X), machine
        self._entries = _entries(problem)
        self.replicate_bytes = 8 * problem.X.size

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedKernelSVM | None":  # noqa: ARG003
        """Look at parameters and transforms; None for other kernels, weights or transforms, or without Numba."""
        *transforms, machine = steps_of(estimator)
        if not is_default(machine, SVC, free=(*_FREE, "random_state")) or machine.kernel not in ("rbf", "poly"):
            return None
        if not _known(machine) or not np.isfinite(problem.X).all():
            return None
        if 4 * _entries(problem) > _MOST_BYTES:
            return None
        if not all(type(step) in _SCALERS for step in transforms):
            design = design_of(transforms, problem.X)
            if design is None or design.sparse:
                return None
        return cls(problem, transforms, machine) if _solver(machine.kernel) else None

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from a machine a fold, on rows with the labels and folds of their places."""
        predicted = np.empty_like(place)
        order, room = np.empty_like(place[0]), self._room()
        for draw, own in zip(place, predicted, strict=True):
            order[draw] = np.arange(len(draw))
            own[order] = self._predict(self._problem.X[order], room)
        return predicted

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from a machine a fold, on columns permuted one by one."""
        rows = (np.take_along_axis(self._problem.X, draw.T, axis=0) for draw in source)
        room = self._room()
        return np.array([self._predict(own, room) for own in rows], dtype=np.int64).reshape(len(source), -1)

    def _room(self) -> Any:
        """Memory for the kernel matrices of all folds, one after the other: new memory is cleared by the system."""
        return np.empty(self._entries, dtype=np.float32)

    def _predict(self, X: FloatArray, room: Any) -> IntArray:
        predicted = np.full(len(X), UNDECIDED)
        for fold in range(self._problem.n_folds):
            test = self._problem.folds == fold
            label = self._problem.y[~test]
            if not np.bincount(label, minlength=self._problem.n_classes).all():
                continue
            found = predictions(self._machine, *self._transformed(X[~test], X[test]), label, room)
            if found is not None:
                predicted[test] = found
        return predicted


def predictions(
    machine: Any, train: FloatArray, tested: FloatArray, label: IntArray, room: Any = None
) -> IntArray | None:
    """The class codes that a machine trained on some rows gives others, `UNDECIDED` where rounding could choose.

    None where kernels are in doubt or no numbers. `room` is memory for the kernel matrix.
    """
    Kernel = compiled("kernels").Kernel
    order = label.argsort(kind="stable")
    rows = np.ascontiguousarray(train[order], dtype=np.float64)
    gamma = _gamma(machine.gamma, train)
    kernel = Kernel(gamma, machine.degree, float(machine.coef0)) if machine.kernel == "poly" else Kernel(gamma)
    machines = _machines(machine, kernel, rows, np.bincount(label), room)
    if machines is None:
        return None
    weights, thresholds, pairs = machines
    tested, codes = np.ascontiguousarray(tested, dtype=np.float64), np.empty(len(tested), dtype=np.int64)
    for some in blocks(len(tested), 8 * len(rows), least=8):
        values, off = kernel.values(tested[some], rows)
        decisions = values @ weights.T - thresholds
        unit = (off + _ROUNDING * np.abs(values).max(axis=1))[:, None]
        margin = unit * np.abs(weights).sum(axis=1) + _ROUNDING * np.abs(thresholds)
        votes = np.zeros((len(values), len(np.bincount(label))), dtype=np.int64)
        for (first, second), decision in zip(pairs, decisions.T, strict=True):
            votes[np.arange(len(values)), np.where(decision > 0, first, second)] += 1
        sure = (np.abs(decisions) > margin).all(axis=1)
        codes[some] = np.where(sure, votes.argmax(axis=1), UNDECIDED)
    return codes


def _whole(rows: int) -> bool:
    """True if all pairs of classes share the kernel matrix of so many rows."""
    return 4 * rows**2 <= _MOST_BYTES


def _entries(problem: Problem) -> int:
    """The size of the largest kernel matrix of any fold."""
    cell = problem.folds * problem.n_classes + problem.y
    tested = np.bincount(cell, minlength=problem.n_folds * problem.n_classes).reshape(problem.n_folds, -1)
    counts = np.sort(tested.sum(axis=0) - tested, axis=1)
    return max(int(own.sum() if _whole(own.sum()) else own[-2:].sum()) ** 2 for own in counts)


def _machines(
    machine: Any, kernel: Any, rows: FloatArray, counts: IntArray, room: Any
) -> tuple[FloatArray, FloatArray, list[tuple[int, int]]] | None:
    """The coefficients of all rows in the machine of each pair of classes, their thresholds, and the pairs."""
    solve = _solver(machine.kernel)
    assert solve is not None
    ends = np.cumsum(counts).tolist()
    of_class = [slice(end - count, end) for end, count in zip(ends, counts.tolist(), strict=True)]
    pairs = list(itertools.combinations(range(len(counts)), 2))
    weights, thresholds = np.zeros((len(pairs), len(rows))), np.empty(len(pairs))
    settings = float(machine.C), float(machine.tol), machine.shrinking
    diagonal, whole = kernel.diagonal(rows), _whole(len(rows))
    matrix = kernel.matrix(rows, room) if whole else None
    own_room = np.empty(np.sort(counts)[-2:].sum() ** 2 if whole and len(pairs) > 1 else 0, dtype=np.float32)
    for own, (first, second) in enumerate(pairs):
        one, other, many = of_class[first], of_class[second], counts[first]
        if whole and matrix is not None:
            part = _part(matrix, one, other, own_room) if len(pairs) > 1 else matrix
        else:
            part = None if whole else kernel.matrix(np.concatenate([rows[one], rows[other]]), room)
        if part is None:
            return None
        sign = np.repeat([1.0, -1.0], [many, counts[second]])
        found, thresholds[own] = solve(part, sign, np.r_[diagonal[one], diagonal[other]], *settings)
        weights[own, one], weights[own, other] = found[:many], found[many:]
    return weights, thresholds, pairs


def _part(matrix: Any, one: slice, other: slice, room: Any) -> Any:
    """The kernel matrix of the rows of two classes, made in some memory."""
    many, size = one.stop - one.start, one.stop - one.start + other.stop - other.start
    part = room[: size * size].reshape(size, size)
    part[:many, :many], part[:many, many:] = matrix[one, one], matrix[one, other]
    part[many:, :many], part[many:, many:] = matrix[other, one], matrix[other, other]
    return part


def _gamma(gamma: Any, rows: FloatArray) -> float:
    if gamma == "scale":
        variance = rows.var()
        return float(1.0 / (rows.shape[1] * variance)) if variance != 0 else 1.0
    return 1.0 / rows.shape[1] if gamma == "auto" else float(gamma)


def _known(machine: Any) -> bool:
    """True if parameters are numbers, or names, that scikit-learn takes."""
    numbers = [machine.C, machine.tol, machine.cache_size]
    if not (isinstance(machine.gamma, str) and machine.gamma in ("scale", "auto")):
        numbers.append(machine.gamma)
    if not all(type(value) in (int, float) and 0 < value < np.inf for value in numbers):
        return False
    shift = type(machine.coef0) in (int, float) and abs(machine.coef0) < np.inf
    return shift and type(machine.degree) is int and machine.degree >= 1 and type(machine.shrinking) is bool


@functools.cache
def _solver(name: str) -> Any:
    """The solver of the dual, if there is one whose coefficients are those of the installed libsvm; otherwise None.

    The inner products of some libraries depend on where rows lie in memory: there polynomial kernels differ.
    """
    code = compiled("kernels")
    if code is None:
        return None
    rows, label, order = noise_of_two_classes(5)
    kernel = code.Kernel(0.2, 3) if name == "poly" else code.Kernel(0.2)
    matrix = kernel.matrix(rows[order])
    if matrix is None:
        return None
    theirs = SVC(C=2.0, kernel=name, gamma=0.2).fit(rows, label)
    sign = np.where(label[order] == 0, 1.0, -1.0)
    ours, threshold = code.solve(matrix, sign, kernel.diagonal(rows[order]), 2.0, 1e-3, True)
    expected = np.zeros(len(rows))
    expected[theirs.support_] = -theirs.dual_coef_[0]
    return code.solve if np.array_equal(ours, expected[order]) and threshold == theirs.intercept_[0] else None


BATCHED = BatchedKernelSVM
