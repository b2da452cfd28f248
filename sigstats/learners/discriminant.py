"""Linear and quadratic discriminant analysis."""

from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from .base import attempt
from .encoders import with_encoding


def _lda(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    return with_encoding(attempt(LinearDiscriminantAnalysis, params), nominal, missing, standardise=True)


def _qda(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    return with_encoding(attempt(QuadraticDiscriminantAnalysis, params), nominal, missing, standardise=True)


READY = {"lda": _lda, "qda": _qda}
