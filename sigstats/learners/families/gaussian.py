"""Naive Bayes, scikit-learn's on complete numbers and `MixedNB` on all others; discriminant analysis."""

from typing import Any

from sklearn.naive_bayes import GaussianNB

from ..base import attempt
from ..encoders import with_encoding
from ..gaussian.mixed_naive_bayes import MixedNB


def _naive_bayes(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    if nominal is None and not missing:
        return attempt(GaussianNB, params)
    return attempt(MixedNB, params, nominal=None if nominal is None else tuple(nominal.tolist()))


def _lda(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from ..gaussian.linear_discriminant import LinearDiscriminant

    return with_encoding(attempt(LinearDiscriminant, params), nominal, missing, standardise=True)


def _qda(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    # The columns of a nominal feature sum to one, so that no covariance has full rank unless it is regularised.
    defaults = {} if nominal is None else {"reg_param": 1e-3}
    return with_encoding(attempt(QuadraticDiscriminantAnalysis, params, **defaults), nominal, missing, standardise=True)


READY = {"naive-bayes": _naive_bayes, "lda": _lda, "qda": _qda}
