"""Linear and quadratic discriminant analysis."""

from typing import Any

from ..base import attempt
from ..encoders import with_encoding


def _lda(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from ..gaussian.linear_discriminant import LinearDiscriminant

    return with_encoding(attempt(LinearDiscriminant, params), nominal, missing, standardise=True)


def _qda(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    # The columns of a nominal feature sum to one, so that no covariance has full rank unless it is regularised.
    defaults = {} if nominal is None else {"reg_param": 1e-3}
    return with_encoding(attempt(QuadraticDiscriminantAnalysis, params, **defaults), nominal, missing, standardise=True)


READY = {"lda": _lda, "qda": _qda}
