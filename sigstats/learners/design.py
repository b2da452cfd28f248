"""The columns that the transforms of a pipeline make (`design_of`), and the base of learners that sum over rows.

The columns that a linear learner sees are numeric features, standardised in each fold by moments of the fold, and 0/1
columns of categories. A category that is absent from a training fold is a column of zeros there and gets no weight, so
the columns may be those of all rows. Missing values are imputed by scikit-learn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .._common.validation import FloatArray, IntArray
from .base import BatchedLearner, FoldOrder, Problem, blocks, is_default, steps_of, taken_by_column


@dataclass(frozen=True)
class Design:
    """Columns, shape (n, m), the feature each is made of, and whether it is standardised on the training fold.

    ``categories`` are the positions of the 0/1 columns, and ``sparse`` says whether the classifier itself may see a
    sparse matrix, for which some choose another solver.
    """

    columns: FloatArray
    feature: IntArray
    standardised: Any
    categories: IntArray
    sparse: bool = False

    @property
    def features(self) -> Any:
        """An index of the feature of each column: a slice, which copies nothing, where these are the first ones."""
        first = len(self.feature)
        return slice(first) if np.array_equal(self.feature, np.arange(first)) else self.feature


def design_of(transforms: list[Any], X: FloatArray, *, keep_missing: bool = False) -> Design | None:
    """Return the design that a ready learner's `transforms` make of `X`, or None. NaN needs `keep_missing`."""
    parts = parts_of(transforms, X.shape[1])
    if parts is None or np.isinf(X).any():
        return None
    # Four lists of arrays, one for each part or nominal feature.
    columns, feature, standardised, categories, sparse = [], [], [], [], False
    for steps, features in parts:
        if len(steps) == 1 and is_default(steps[0], OneHotEncoder, free=("handle_unknown", "sparse_output")):
            sparse |= steps[0].sparse_output
            for j in features:
                values = np.unique(X[:, j])  # one NaN, a category of its own, comes last
                has_value = (X[:, j, None] == values) | (np.isnan(X[:, j, None]) & np.isnan(values))
                columns.append(has_value.astype(np.float64))
                feature.append(np.full(len(values), j))
                standardised.append(np.zeros(len(values), dtype=bool))
                categories.append(np.ones(len(values), dtype=bool))
            continue
        scalers = [step for step in steps if not is_default(step, SimpleImputer, free=("keep_empty_features",))]
        scaled = bool(scalers)
        if len(scalers) > 1 or (scaled and not is_default(scalers[0], StandardScaler)):
            return None
        if np.isnan(X[:, features]).any() and (steps or not keep_missing):
            return None
        columns.append(X[:, features] - X[:, features].mean(axis=0) if scaled else X[:, features])
        feature.append(features)
        standardised.append(np.full(len(features), scaled))
        categories.append(np.zeros(len(features), dtype=bool))
    return Design(
        np.ascontiguousarray(np.hstack(columns)),
        np.concatenate(feature),
        np.concatenate(standardised),
        np.flatnonzero(np.concatenate(categories)),
        sparse,
    )


def parts_of(transforms: list[Any], d: int) -> list[tuple[list[Any], IntArray]] | None:
    """Return the steps for each group of columns, and its columns; None unless all columns are used exactly once."""
    if len(transforms) != 1 or not isinstance(transforms[0], ColumnTransformer):
        return [(transforms, np.arange(d))]
    free = ("transformers", "n_jobs", "sparse_threshold", "verbose")
    if not is_default(transforms[0], ColumnTransformer, free=free):
        return None
    parts = []
    for _, step, features in transforms[0].transformers:
        if not (isinstance(features, np.ndarray) and features.dtype.kind == "i"):
            return None
        parts.append(([] if isinstance(step, str) and step == "passthrough" else steps_of(step), features))
    used = np.sort(np.concatenate([features for _, features in parts]))
    return parts if np.array_equal(used, np.arange(d)) else None


@dataclass(frozen=True)
class Moments:
    """Moments of the training rows of each fold in a block of replicates."""

    #: All rows in the order of folds and classes; ndarray, shape (replicates, n, m).
    rows: FloatArray
    #: Training rows of each class; ndarray, shape (folds, classes).
    count: FloatArray
    #: Their sums; ndarray, shape (replicates, folds, classes, m).
    sums: FloatArray
    #: Their cross products, summed over classes; ndarray, shape (replicates, folds, m, m). If the learner asks for
    #: those of each class, the shape is (replicates, folds, classes, m, m).
    scatter: FloatArray

    def weighted(self, weights: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return counts, sums and cross products over all classes, with `weights` (folds, classes) if given."""
        if weights is None:
            scatter = self.scatter.sum(axis=2) if self.scatter.ndim > 4 else self.scatter
            return self.count.sum(axis=1), self.sums.sum(axis=2), scatter
        sums = np.einsum("fk,rfkm->rfm", weights, self.sums)
        return (weights * self.count).sum(axis=1), sums, np.einsum("fk,rfkij->rfij", weights, self.scatter)


class BatchedDesign(BatchedLearner):
    """The common base of learners from sums: it sorts rows and adds them up.

    A learner inherits it and defines ``_classify(moments) -> predictions in the order of folds``, or ``_predict``.
    """

    def __init__(self, problem: Problem, design: Design, *, by_class: bool = False) -> None:
        self._design, self._by_class = design, by_class
        self._order = FoldOrder(problem)
        n, m = design.columns.shape
        matrices = problem.n_classes if by_class else 1
        self.replicate_bytes = 8 * (n * m + 4 * problem.n_folds * m * (m * matrices + problem.n_classes))

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from rows put in the order of folds and classes."""
        predicted = np.empty_like(place)
        rows = self._order.rows(place)
        sizes = [some.stop - some.start for some in blocks(len(place), self.replicate_bytes)]
        values = np.empty((max(sizes, default=0), *self._design.columns.shape))
        for some, size in zip(blocks(len(place), self.replicate_bytes), sizes, strict=True):
            block = values[:size]  # memory that is used again is in cache
            np.take(self._design.columns, rows[some], axis=0, out=block, mode="clip")
            predicted[some] = self._predict(block, self._order.cell_sums(block))
        by_row = np.empty_like(predicted)
        np.put_along_axis(by_row, rows, predicted, axis=1)
        return by_row

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from columns permuted one by one."""
        columns = np.ascontiguousarray(self._design.columns.T)
        predicted = np.empty((len(source), columns.shape[1]), dtype=np.int64)
        rows, features = self._order.sorted, self._design.features
        for some in blocks(len(source), self.replicate_bytes):
            places = source[some].take(rows, axis=2)[:, features]
            values = np.ascontiguousarray(taken_by_column(columns, places).swapaxes(1, 2))
            predicted[some, rows] = self._predict(values, self._order.cell_sums(values))
        return predicted

    def _predict(self, rows: FloatArray, sums: FloatArray) -> IntArray:
        """Return predictions of rows in the order of folds, from these and their sums in each fold and class."""
        return self._classify(self._moments(rows, sums))

    def _classify(self, moments: Moments) -> IntArray:
        raise NotImplementedError

    def _scores(self, rows: FloatArray, weights: FloatArray, level: FloatArray) -> FloatArray:
        """Return the scores of rows from the weights and intercepts of their folds, shape (replicates, classes, n)."""
        scores = np.empty((len(rows), weights.shape[2], rows.shape[1]))
        for fold, span in enumerate(self._order.spans):
            np.matmul(weights[:, fold], rows[:, span].swapaxes(1, 2), out=scores[..., span])
            scores[..., span] += level[:, fold, :, None]
        return scores

    def _moments(self, rows: FloatArray, sums: FloatArray) -> Moments:
        """Return moments of training rows, from all rows and their sums in each fold and class."""
        np.subtract(sums.sum(axis=1, keepdims=True), sums, out=sums)
        counts = self._order.counts if self._by_class else self._order.counts.sum(axis=1)
        scatter = np.empty((len(rows), *counts.shape, rows.shape[2], rows.shape[2]))
        cells = scatter.reshape(len(rows), counts.size, *scatter.shape[-2:])
        for cell, (end, size) in enumerate(zip(counts.cumsum().tolist(), counts.ravel().tolist(), strict=True)):
            of_cell = rows[:, end - size : end]
            np.matmul(of_cell.swapaxes(1, 2), of_cell, out=cells[:, cell])
        np.subtract(scatter.sum(axis=1, keepdims=True), scatter, out=scatter)
        return Moments(rows, self._order.train_counts, sums, scatter)
