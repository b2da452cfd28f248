"""Estimators that scikit-learn does not have: naive Bayes of mixed features, and discriminants that do not fail.

`MixedNB` has numeric features Gaussian, nominal features categorical, and leaves missing values out; on numeric
features alone it is `sklearn.naive_bayes.GaussianNB`. Do not read its probabilities as calibrated: features that depend
on each other count twice.

scikit-learn's `LinearDiscriminantAnalysis` takes the singular values of the rows within classes from LAPACK's
``gesdd``. Where columns depend on each other, as those of a nominal feature do, ``gesdd`` may fail on a finite matrix
(Reference-LAPACK issue 672): whether it does depends on rounding, so on the order of rows and on the number of threads.
``gesvd`` is slower and does not fail there.
"""

from typing import Any

import numpy as np
from scipy.linalg import svd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.validation import check_is_fitted, validate_data

from .._common.validation import FloatArray, IntArray, as_real, refuse, require_squarable
from .base import nominal_mask


class MixedNB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes for numeric and nominal features together.

    `nominal` (array_like of bool, shape (d,), or None): which features are nominal; they hold category codes 0, 1,
    ... as floats.
    `alpha`: added to the count of each category seen in training (Laplace 1, none 0). A category not seen in training
    contains no information about the class and is left out, like a missing value.
    `var_smoothing`: this portion of the largest variance of a numeric feature is added to all variances, as in
    ``GaussianNB``.

    Notes
    -----
    A missing value (NaN) is left out of its feature's estimates, and of the product when it is to be classified. A
    class without any known value of a feature takes that feature's estimate over all classes.

    Examples
    --------
    >>> X = [[1.0, 0], [1.2, 0], [3.0, 1], [float("nan"), 1], [2.8, 1]]
    >>> MixedNB(nominal=[False, True]).fit(X, [0, 0, 1, 1, 1]).predict([[1.1, 0], [2.9, 1]])
    array([0, 1])
    """

    def __init__(self, *, nominal: Any = None, alpha: float = 1.0, var_smoothing: float = 1e-9) -> None:
        self.nominal = nominal
        self.alpha = alpha
        self.var_smoothing = var_smoothing

    def fit(self, X: Any, y: Any) -> "MixedNB":
        """Learn priors, means, variances and category frequencies."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        as_real(self.alpha, "alpha", low=0)
        as_real(self.var_smoothing, "var_smoothing", low=0)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.class_count_ = np.bincount(codes).astype(np.float64)
        nominal = nominal_mask(self.nominal, X.shape[1])
        member = np.zeros((len(self.classes_), len(X)))
        member[codes, np.arange(len(X))] = 1
        self.numeric_, self.nominal_ = np.flatnonzero(~nominal), np.flatnonzero(nominal)
        numbers = X[:, self.numeric_]
        require_squarable(numbers, "X")
        self.theta_, self.var_ = self._moments(numbers, member)
        tables = [self._frequencies(X[:, j], member, int(j)) for j in self.nominal_]
        self.categories_ = [seen for seen, _ in tables]
        self.category_log_prob_ = [logs for _, logs in tables]
        return self

    def _moments(self, X: FloatArray, member: FloatArray) -> tuple[FloatArray, FloatArray]:
        known = ~np.isnan(X)
        filled = np.where(known, X, 0)
        rows = known.sum(axis=0)
        if X.shape[1] and rows.min() == 0:  # a feature without a single known value tells nothing
            rows = np.maximum(rows, 1)
        center = filled.sum(axis=0) / rows
        spread = (np.where(known, X - center, 0) ** 2).sum(axis=0) / rows
        count = member @ known
        own = np.maximum(count, 1)
        theta = np.where(count > 0, member @ filled / own, center)
        squares = np.stack(
            [(np.where(known, X - mean, 0) ** 2).T @ row for row, mean in zip(member, theta, strict=True)]
        )
        variance = np.where(count > 0, squares / own, spread)
        epsilon = self.var_smoothing * (spread.max() if len(spread) else 0.0)
        return theta, np.maximum(variance + epsilon, np.finfo(np.float64).tiny)

    def _frequencies(self, column: FloatArray, member: FloatArray, feature: int) -> tuple[IntArray, FloatArray]:
        """Return the categories seen in training, and the logarithms of their frequencies in each class."""
        codes = category_codes(column, feature)
        seen = np.unique(codes[codes >= 0])  # and not all codes up to the largest, of which there may be billions
        counts = member[:, codes >= 0] @ (codes[codes >= 0, None] == seen)
        weight = counts + self.alpha
        total = weight.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(weight) - np.log(total)
        return seen, np.where(total > 0, logs, 0.0)

    def predict(self, X: Any) -> Any:
        """Return the class with the largest joint likelihood, the first of equals."""
        return self.classes_[self._joint_log_likelihood(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the posterior probability of each class."""
        from scipy.special import softmax

        return np.asarray(softmax(self._joint_log_likelihood(X), axis=1))

    def _joint_log_likelihood(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        numbers = X[:, self.numeric_]
        require_squarable(numbers, "X")
        joint = np.tile(np.log(self.class_count_ / self.class_count_.sum()), (len(X), 1))
        for code, (mean, variance) in enumerate(zip(self.theta_, self.var_, strict=True)):
            terms = np.log(2 * np.pi * variance) + (numbers - mean) ** 2 / variance
            joint[:, code] -= 0.5 * np.where(np.isnan(numbers), 0, terms).sum(axis=1)
        for j, seen, table in zip(self.nominal_, self.categories_, self.category_log_prob_, strict=True):
            codes = category_codes(X[:, j], int(j))
            known = np.isin(codes, seen)
            joint[known] += table[:, np.searchsorted(seen, codes[known])].T
        return joint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def category_codes(column: FloatArray, feature: int) -> IntArray:
    """Category codes as integers, -1 if missing, or raise ValueError."""
    known = ~np.isnan(column)
    codes = np.full(len(column), -1, dtype=np.int64)
    values = column[known]
    if values.size and (values.min() < 0 or values.max() > 2**31 or (values != np.floor(values)).any()):
        raise refuse(f"X, nominal feature {feature}", values.min(), "category codes 0, 1, 2, ...")
    codes[known] = values.astype(np.int64)
    return codes


class LinearDiscriminant(LinearDiscriminantAnalysis):  # type: ignore[misc]
    """scikit-learn's `LinearDiscriminantAnalysis`, with singular values by ``gesvd`` where the usual ones fail.

    If this raises `LinAlgError` too, it is fitted on whitened rows, which are uncorrelated within classes with variance
    1, so that all singular values are 1. The result is expressed in the columns of `X`. Other solvers than ``"svd"``
    are not changed.
    """

    def fit(self, X: Any, y: Any) -> "LinearDiscriminant":
        """Fit the discriminants; LinAlgError if another solver than ``"svd"`` fails."""
        try:
            return self._fit_rows(X, y)
        except np.linalg.LinAlgError:
            if self.solver != "svd":
                raise
        rows, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
        return self._fit_whitened(rows, labels)

    def _fit_rows(self, X: Any, y: Any) -> "LinearDiscriminant":
        fitted: LinearDiscriminant = super().fit(X, y)
        return fitted

    def _fit_whitened(self, rows: FloatArray, labels: Any) -> "LinearDiscriminant":
        classes, codes = np.unique(labels, return_inverse=True)
        means = np.array([rows[codes == code].mean(axis=0) for code in range(len(classes))])
        whitening = _whitening(rows - means[codes], self.tol)
        self._fit_rows(rows @ whitening, labels)
        if self.store_covariance:
            of_class = [np.cov(rows[codes == code], rowvar=False, bias=True) for code in range(len(classes))]
            self.covariance_ = np.atleast_2d(np.tensordot(self.priors_, of_class, axes=1))
        self.means_, self.xbar_ = means, self.priors_ @ means
        self.scalings_: FloatArray = whitening @ self.scalings_
        self.coef_: FloatArray = self.coef_ @ whitening.T
        self.n_features_in_ = rows.shape[1]
        return self


def _whitening(within: FloatArray, tol: float) -> FloatArray:
    """Return the matrix that makes centred rows uncorrelated and of variance 1.

    Directions whose standard deviation is `tol` or less, after each column was scaled to 1, are left out, as in
    scikit-learn.
    """
    spread = within.std(axis=0)
    spread[spread == 0] = 1
    _, values, directions = svd(
        within / (spread * np.sqrt(len(within))), full_matrices=False, lapack_driver="gesvd", check_finite=False
    )
    wide = values > tol
    return np.asarray((directions[wide] / spread).T / values[wide])
