"""Naive Bayes: scikit-learn's on complete numbers, `MixedNB` on all others."""

from typing import Any

from sklearn.naive_bayes import GaussianNB

from ..base import attempt
from ..gaussian.mixed_naive_bayes import MixedNB


def _naive_bayes(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    if nominal is None and not missing:
        return attempt(GaussianNB, params)
    return attempt(MixedNB, params, nominal=None if nominal is None else tuple(nominal.tolist()))


READY = {"naive-bayes": _naive_bayes}
