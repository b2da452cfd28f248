"""The two permutation tests of Ojala and Garriga for a classifier that is retrained on each replicate.

``null="labels"`` (their PermClass, Test 1) asks whether the classifier learned a true class structure: under the null
hypothesis rows and labels are independent. ``null="features"`` (PermFeats, Test 2) asks whether it used dependency
between features: under the null hypothesis features are independent inside each class. The statistic is the
cross-validated error, compared as the whole number of wrong rows.

Why folds stay fixed. A replicate of ``"labels"`` permutes the rows of X against labels and folds that stay where they
are, so that folds remain stratified without being made anew. For any learner this equals giving row i of a fixed X
both the label and the fold of the place it moved to, which is how batched learners see it: distances, encoders and
cross products of X stay what they were, while the training rows of each fold change. (With folds tied to rows of X and
labels alone permuted, folds would no longer be stratified, and the observed run would not be one of the outcomes
compared.) Under the null hypothesis, given labels and folds, all orders of the rows of X are equally likely, so the
observed run is one more draw and the p-value is valid: P(p <= a) <= a for any learner and any folds chosen without
looking at X. scikit-learn's `permutation_test_score` permutes y and splits again; with folds that depend on y alone
its replicates have the same law.

Why a transform may see all rows. A transform that never sees labels and does not depend on the order of rows gives,
learned on the permuted rows, the permuted result: permuting commutes with it. The test stays valid with
``transforms="all"``, only the error estimate is another one (slightly optimistic in principle).

Do not use these tests to say that a classifier is good: with many rows a structure too weak to be of use is
significant. Do not use them to compare two classifiers, nor where rows depend on each other (time series, groups).
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .checks import MAX_RESAMPLES, IntArray, as_array, as_choice, as_count, one_line, refuse
from .extreme import monte_carlo_pvalue
from .folds import as_classes, as_folds
from .intervals import monte_carlo_interval
from .results import TestResult
from .streams import as_generator

NULLS = ("labels", "features")
TRANSFORMS = ("fold", "all")

_MOST_PROCESSES = 1000
#: Scratch memory a chunk of replicates may take, bytes.
CHUNK_BYTES = 2**26


class Retrainer:
    """A classifier, retrained in each fold of each replicate.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn classifier; it is cloned, never fitted itself.
    X : array_like or DataFrame, shape (n, d)
        The rows; sparse matrices for ``null="labels"`` alone.
    y : array_like, shape (n,)
        The class of each row.
    folds : array_like of int, shape (n,)
        The test fold of each row (see `sigstats.folds`).
    null : {"labels", "features"}
        What is permuted: rows of X against labels and folds, or each feature inside each class.
    batched : bool
        Use a batched learner where there is one for this estimator; it gives the same predictions.
    transforms : {"fold", "all"}
        Whether the transforms of a pipeline (all its steps but the last) are learned on the training fold alone, or
        once on all rows, without labels.

    Attributes
    ----------
    batched : bool
        Whether a batched learner is used.

    Raises
    ------
    ValueError
        If the data do not fit together, or the classifier fails to fit or predict.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sigstats.folds import stratified_folds
    >>> from sigstats.permutation import Retrainer
    >>> X, y = load_iris(return_X_y=True)
    >>> retrainer = Retrainer(GaussianNB(), X, y, stratified_folds(y, 10, rng=1), null="labels")
    >>> int((retrainer.observed() != y).sum()), bool((retrainer.wrong(1, 20) > 50).all())
    (7, True)
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        folds: Any,
        *,
        null: str,
        batched: bool = True,
        transforms: str = "fold",
    ) -> None:
        if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
            raise refuse("classifier", estimator, "an unfitted instance of a scikit-learn classifier")
        if not isinstance(batched, (bool, np.bool_)):
            raise refuse("batched", batched, "True or False")
        self.null = as_choice(null, "null", NULLS)
        self._classes, self._y = as_classes(y)
        self._X = _as_rows(X, len(self._y), self.null)
        self._folds = as_folds(folds, self._X, self._y)
        self._estimator, self._transform = _split(estimator, as_choice(transforms, "transforms", TRANSFORMS))
        if self._transform is not None and null == "labels":
            self._X, self._transform = _transformed(self._transform, self._X), None
        self._labels = self._classes[self._y]
        self._rows_of_class = [np.flatnonzero(self._y == code) for code in range(len(self._classes))]
        self._learner = self._recognised() if batched else None

    @property
    def batched(self) -> bool:
        """Whether a batched learner is used."""
        return self._learner is not None

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self._y)

    def observed(self) -> Any:
        """The cross-validated prediction of each row, shape (n,), in the labels of `y`."""
        return self._classes[self.predict(self._identity())[0]]

    def wrong(self, rng: Any, size: int) -> IntArray:
        """The number of wrong rows in each of the next `size` replicates.

        Parameters
        ----------
        rng : None, int or numpy.random.Generator
            Replicates are drawn from it one after the other, so drawing fewer gives the first of them. What is drawn
            depends on `rng`, the shape of X and the classes alone: all classifiers see the same permutations.
        size : int
            How many replicates.

        Returns
        -------
        ndarray of int64, shape (size,)
        """
        generator = as_generator(rng)
        size = as_count(size, "size", maximum=MAX_RESAMPLES)
        counts = [self.count_wrong(draws) for draws in self.chunks(generator, size)]
        return np.concatenate([*counts, np.empty(0, dtype=np.int64)])

    def chunks(self, generator: np.random.Generator, size: int) -> Iterator[IntArray]:
        """The draws of `size` replicates, in chunks that fit `CHUNK_BYTES`."""
        each = self.n * (1 if self.null == "labels" else self._X.shape[1]) * 8 + self.n * 64
        if self._learner is not None:
            each += self._learner.replicate_bytes
        step = max(1, CHUNK_BYTES // each)
        for first in range(0, size, step):
            yield self.draw(generator, min(step, size - first))

    def draw(self, generator: np.random.Generator, size: int) -> IntArray:
        """Draws of `size` replicates.

        Returns
        -------
        ndarray of int64
            For labels, shape (size, n): row i of X takes the label and the fold of row ``draws[b, i]``. For features,
            shape (size, d, n): value j of row i is that of row ``draws[b, j, i]``.
        """
        if self.null == "labels":
            return generator.permuted(np.broadcast_to(np.arange(self.n), (size, self.n)), axis=1)
        d = self._X.shape[1]
        draws = np.empty((size, d, self.n), dtype=np.int64)
        for replicate in draws:
            for rows in self._rows_of_class:
                replicate[:, rows] = generator.permuted(np.broadcast_to(rows, (d, len(rows))), axis=1)
        return draws

    def count_wrong(self, draws: IntArray) -> IntArray:
        """The number of wrong rows of each replicate in `draws`."""
        truth = self._y[draws] if self.null == "labels" else self._y
        with warnings.catch_warnings():
            # What a fit has to say of permuted data (no convergence, collinear features) it says 10 times a replicate.
            warnings.simplefilter("ignore")
            return np.asarray((self.predict(draws) != truth).sum(axis=1), dtype=np.int64)

    def predict(self, draws: IntArray) -> IntArray:
        """The predicted class code of each row of X in each replicate, shape (replicates, n)."""
        if self._learner is None:
            predicted = np.full((len(draws), self.n), -1, dtype=np.int64)
        elif self.null == "labels":
            predicted = self._learner.predict_labels(draws)
        else:
            predicted = self._learner.predict_features(draws)
        for replicate in np.flatnonzero((predicted < 0).any(axis=1)):
            self._refit(predicted[replicate], draws[replicate])
        return predicted

    def _refit(self, predicted: IntArray, draw: IntArray) -> None:
        """Fill in the folds that have an undecided row, through scikit-learn."""
        if self.null == "labels":
            order = np.empty(self.n, dtype=np.int64)
            order[draw] = np.arange(self.n)
            rows = _take(self._X, order)
        else:
            order = np.arange(self.n)
            rows = _mixed(self._X, draw)
            if self._transform is not None:
                rows = _transformed(self._transform, rows)
        for fold in np.unique(self._folds[predicted[order] < 0]):
            test = self._folds == fold
            predicted[order[test]] = self._fit_predict(rows, test, fold)

    def _fit_predict(self, rows: Any, test: Any, fold: int) -> IntArray:
        from sklearn.base import clone

        try:
            fitted = clone(self._estimator).fit(_take(rows, np.flatnonzero(~test)), self._labels[~test])
            labels = np.asarray(fitted.predict(_take(rows, np.flatnonzero(test))))
            codes = np.searchsorted(self._classes, labels)
        except Exception as error:
            name = type(self._estimator).__name__
            raise ValueError(f"classifier: {name} failed in fold {fold}: {one_line(error)}") from error
        return codes.astype(np.int64)

    def _identity(self) -> IntArray:
        one = np.arange(self.n)[None]
        return one if self.null == "labels" else np.broadcast_to(one, (1, self._X.shape[1], self.n))

    def _recognised(self) -> Any:
        from .learners import BATCHED
        from .learners.base import Problem

        if self._transform is not None or not isinstance(self._X, np.ndarray) or self._X.dtype.kind not in "iuf":
            return None
        X = np.ascontiguousarray(self._X, dtype=np.float64)
        problem = Problem(X, self._y, self._folds, len(self._classes), int(self._folds.max()) + 1)
        for learner in BATCHED:
            if self.null in learner.nulls:
                found = learner.recognise(self._estimator, problem, self.null)
                if found is not None:
                    return found
        return None


@dataclass(frozen=True, kw_only=True)
class PermutationTestResult(TestResult):
    """The result of `permutation_test`.

    Attributes
    ----------
    statistic : float
        The observed cross-validated error: the share of wrong rows.
    null_distribution : tuple of float
        The error in each replicate.
    wrong : int
        The observed number of wrong rows.
    null_wrong : tuple of int
        The number of wrong rows in each replicate.
    n : int
        The number of rows.
    """

    wrong: int
    null_wrong: tuple[int, ...]
    n: int

    @property
    def null_distribution(self) -> tuple[float, ...]:
        """The error in each replicate."""
        return tuple(wrong / self.n for wrong in self.null_wrong)


def permutation_test(
    classifier: Any,
    X: Any,
    y: Any,
    *,
    null: str = "labels",
    cv: Any = 10,
    resamples: int = 999,
    rng: Any = None,
    transforms: str = "fold",
    n_jobs: int | None = None,
) -> PermutationTestResult:
    """Whether a classifier learned class structure, or uses dependency between features (Ojala and Garriga).

    The p-value is ``(#{replicates with no more wrong rows than observed} + 1) / (resamples + 1)``.

    Parameters
    ----------
    classifier : estimator or str
        A scikit-learn classifier, or the name of a ready one (see `sigstats.learners.build`).
    X : array_like or DataFrame, shape (n, d)
        The rows.
    y : array_like, shape (n,)
        The class of each row.
    null : {"labels", "features"}
        The null hypothesis: rows and labels are independent (PermClass), or features are independent of each other
        inside each class (PermFeats).
    cv : int, splitter or array_like of int, shape (n,)
        A number of stratified folds (shuffled with `rng`), a splitter that tests each row once, or the test fold of
        each row. It must not depend on X.
    resamples : int
        The number of replicates.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of folds and permutations.
    transforms : {"fold", "all"}
        Learn a pipeline's transforms on the training fold alone, or once on all rows, without labels; the test is valid
        either way (see the module's docstring).
    n_jobs : int, optional
        Processes, as in scikit-learn. The result does not depend on it. Work goes through joblib, so that within
        ``joblib.parallel_config(backend="dask")`` it runs on the workers of a Dask client.

    Returns
    -------
    PermutationTestResult
        ``.statistic`` is the error, ``.null_distribution`` the errors of the replicates, ``.pvalue`` the p-value.

    Raises
    ------
    ValueError
        If the data do not fit together, a class has fewer rows than there are folds, or the classifier fails.

    Notes
    -----
    In place of scikit-learn's ``score, scores, p = permutation_test_score(clf, X, y, cv=cv, n_permutations=B)``::

        r = permutation_test(clf, X, y, cv=cv, resamples=B)
        score, scores, p = 1 - r.statistic, [1 - e for e in r.null_distribution], r.pvalue

    Differences: the error is that of all rows together, not the mean over folds (equal where folds are equally large);
    replicates are compared by whole numbers of wrong rows, where scikit-learn compares means of floats and misses
    ties by rounding; folds are made once; each row must be tested once; other scorers are not offered.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sigstats.permutation import permutation_test
    >>> X, y = load_iris(return_X_y=True)
    >>> result = permutation_test("1-nn", X, y, resamples=99, rng=1)
    >>> round(result.statistic, 2), result.pvalue
    (0.04, 0.01)
    """
    resamples = as_count(resamples, "resamples", minimum=1, maximum=MAX_RESAMPLES)
    generator = as_generator(rng)
    if n_jobs is not None:
        n_jobs = as_count(n_jobs, "n_jobs", minimum=-_MOST_PROCESSES, maximum=_MOST_PROCESSES)
    if isinstance(classifier, str):
        from .learners import build

        classifier = build(classifier)
    _, codes = as_classes(y)
    folds = as_folds(cv, X, codes, generator)
    retrainer = Retrainer(classifier, X, y, folds, null=null, transforms=transforms)
    wrong = int((retrainer.observed() != np.asarray(y)).sum())
    if n_jobs is None or n_jobs == 1:
        counts = retrainer.wrong(generator, resamples)
    else:
        from joblib import Parallel, delayed

        draws = retrainer.chunks(generator, resamples)
        counts = np.concatenate(Parallel(n_jobs=n_jobs)(delayed(retrainer.count_wrong)(draw) for draw in draws))
    exceedances = int((counts <= wrong).sum())
    return PermutationTestResult(
        statistic=wrong / retrainer.n,
        pvalue=monte_carlo_pvalue(exceedances, resamples),
        method=f"permutation of {retrainer.null}",
        alternative="less",
        interval=monte_carlo_interval(exceedances, resamples),
        replicates=resamples,
        exceedances=exceedances,
        wrong=wrong,
        null_wrong=tuple(counts.tolist()),
        n=retrainer.n,
    )


def _as_rows(X: Any, n: int, null: str) -> Any:
    if hasattr(X, "iloc") or hasattr(X, "tocsr"):
        rows = X if hasattr(X, "iloc") else X.tocsr()
        if null == "features" and not hasattr(X, "iloc"):
            raise refuse("X", f"<{type(X).__name__}>", "a dense array for null='features'")
    else:
        wanted = "a rectangular array of numbers, one row an observation"
        rows = as_array(X, "X", wanted)
        if rows.dtype.kind not in "biufUSO" or rows.ndim != 2:
            raise refuse("X", X, wanted)
    if len(rows.shape) != 2 or rows.shape[0] != n or rows.shape[1] == 0:
        raise refuse("X (shape)", rows.shape, f"({n}, d): as many rows as y has, one feature or more")
    return rows


def _split(estimator: Any, transforms: str) -> tuple[Any, Any]:
    steps = getattr(estimator, "steps", None)
    if transforms == "fold" or steps is None or len(steps) < 2:
        return estimator, None
    return steps[-1][1], estimator[:-1]


def _transformed(transform: Any, X: Any) -> Any:
    from sklearn.base import clone

    try:
        return clone(transform).fit_transform(X)
    except Exception as error:
        raise ValueError(f"transforms: 'all' needs transforms that never see labels: {one_line(error)}") from error


def _take(X: Any, rows: IntArray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _mixed(X: Any, source: IntArray) -> Any:
    """The rows in which value j of row i is that of row ``source[j, i]``."""
    if not hasattr(X, "iloc"):
        return np.take_along_axis(X, source.T, axis=0)
    mixed = X.copy()
    for j, rows in enumerate(source):
        mixed.isetitem(j, X.iloc[:, j].array.take(rows))
    return mixed
