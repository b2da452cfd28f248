"""The transforms in front of a classifier: nominal features to numbers, missing values filled, scales.

All of them see features alone, never labels, and are learned in ``fit``.
"""

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .stemming import StemmedWords


def with_encoding(
    classifier: Any,
    nominal: Any,
    missing: bool,
    *,
    standardise: bool = False,
    keeps_missing: bool = False,
    sparse: bool = False,
) -> Any:
    """`classifier` behind the transforms that mixed features need; the bare classifier where none is needed.

    A nominal feature becomes one 0/1 column a category seen in training (a missing value is a category of its own,
    one that was not seen is no category). A missing numeric value becomes the feature's training mean.

    `classifier`: whatever comes last.
    `nominal`: which features are nominal.
    `missing`: whether values may be missing.
    `standardise`: scale numeric features to mean 0 and variance 1.
    `keeps_missing`: the classifier itself knows what to do with a missing number.
    `sparse`: the classifier is faster on a sparse matrix, where most columns are of categories.
    """
    numeric: list[Any] = []
    if missing and not keeps_missing:
        numeric.append(SimpleImputer(keep_empty_features=True))
    if standardise:
        numeric.append(StandardScaler())
    if nominal is None:
        return make_pipeline(*numeric, classifier) if numeric else classifier
    columns = [("nominal", OneHotEncoder(handle_unknown="ignore", sparse_output=sparse), np.flatnonzero(nominal))]
    if not nominal.all():
        columns.append(("numeric", make_pipeline(*numeric) if numeric else "passthrough", np.flatnonzero(~nominal)))
    return make_pipeline(ColumnTransformer(columns), classifier)


def with_words(classifier: Any, stem: str | None = None) -> Any:
    """`classifier` of texts, behind the tf-idf of their words or of the stems of these; English stop words are none."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if stem is None:
        return make_pipeline(TfidfVectorizer(stop_words="english"), classifier)
    return make_pipeline(TfidfVectorizer(analyzer=StemmedWords(stem)), classifier)
