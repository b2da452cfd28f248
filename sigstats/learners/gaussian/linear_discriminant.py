"""Linear discriminant analysis that goes on where LAPACK's divide and conquer finds no singular values.

scikit-learn's `LinearDiscriminantAnalysis` takes the singular values of the rows within classes from LAPACK's
``gesdd``. Where columns depend on each other, as those of a nominal feature do, ``gesdd`` may fail on a finite matrix
(Reference-LAPACK issue 672): whether it does depends on rounding, so on the order of rows and on the number of threads.
``gesvd`` is slower and does not fail there.
"""

from typing import Any

import numpy as np
from scipy.linalg import svd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from sigstats._common.validation import FloatArray


class LinearDiscriminant(LinearDiscriminantAnalysis):  # type: ignore[misc]
    """scikit-learn's `LinearDiscriminantAnalysis`; where its singular values fail, those of ``gesvd``.

    Where that raises `LinAlgError`, it is fitted on whitened rows, within classes uncorrelated and of variance 1, whose
    singular values are all 1. What it finds there is expressed in the columns of `X`. Other solvers than ``"svd"`` are
    left as they are.
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
    """The matrix that makes centred rows uncorrelated and of variance 1.

    Directions whose standard deviation is `tol` or less, after each column was scaled to 1, are left out, as in
    scikit-learn.
    """
    spread = within.std(axis=0)
    spread[spread == 0] = 1
    _, values, directions = svd(
        within / (spread * np.sqrt(len(within))), full_matrices=False, lapack_driver="gesvd", check_finite=False
    )
    wide = values > tol
    whitening: FloatArray = (directions[wide] / spread).T / values[wide]
    return whitening
