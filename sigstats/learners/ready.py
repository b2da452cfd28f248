"""Ready learners, and transforms in front of a classifier: nominal features, missing values, scales.

The transforms use only features, never labels, and are learned in ``fit``.
"""

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler

from .._common.validation import refuse
from .base import Build, attempt
from .c45_classifier import C45Classifier
from .gaussian_estimators import MixedNB
from .neighbours.nearest_neighbours import NearestNeighbours


def with_encoding(
    classifier: Any,
    nominal: Any,
    missing: bool,
    *,
    standardise: bool = False,
    keeps_missing: bool = False,
    sparse: bool = False,
) -> Any:
    """Put the transforms for mixed features in front of `classifier`, if any are needed.

    A nominal feature becomes one 0/1 column per category seen in training (a missing value is a category; unseen ones
    are ignored). A missing numeric value becomes the training mean of the feature, unless the classifier
    `keeps_missing`. `sparse`: the classifier is faster on sparse matrices, if most columns are categories.
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


def with_frames(classifier: Any, named: Mapping[str, Sequence[str]]) -> Any:
    """Wrap a `classifier` that takes data frames; `named`: categories of each feature, empty for numbers."""
    return make_pipeline(FunctionTransformer(_as_frame, kw_args={"named": named}), classifier)


def _as_frame(X: NDArray[np.float64], named: Mapping[str, Sequence[str]]) -> Any:
    """Return the rows as a data frame with named features and categories as text, None if missing."""
    import narwhals as nw

    columns: dict[str, Any] = dict(zip(named, X.T, strict=True))
    for name, categories in named.items():
        if categories:
            texts = np.array([*categories, None], dtype=object)
            columns[name] = texts[np.where(np.isnan(columns[name]), -1, columns[name]).astype(int)]
    return nw.from_dict(columns, backend="pandas").to_native()


def with_words(classifier: Any, stem: str | None = None) -> Any:
    """Put the tf-idf of words or stems, without English stop words, in front of a `classifier` of texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if stem is None:
        return make_pipeline(TfidfVectorizer(stop_words="english"), classifier)
    return make_pipeline(TfidfVectorizer(analyzer=StemmedWords(stem)), classifier)


#: Snowball's algorithms for English: the current one, and Porter's of 1980.
ALGORITHMS = ("english", "porter")


class StemmedWords:
    """Split a text into stems, without English stop words: an ``analyzer`` for scikit-learn's vectorizers.

    Stop words are removed before stemming: "during" is one, and "dure" is not.
    `algorithm`: the stemmer of Snowball (Porter, Snowball: a language for stemming algorithms, 2001).
    """

    def __init__(self, algorithm: str) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        if algorithm not in ALGORITHMS:
            raise refuse("stem", algorithm, "one of " + ", ".join(ALGORITHMS))
        try:
            import snowballstemmer
        except ImportError:
            raise refuse("stem", algorithm, "the extra stem: pip install 'sigstats[stem]'") from None
        self._algorithm = algorithm
        self._words = TfidfVectorizer(stop_words="english").build_analyzer()
        # A collection has far fewer distinct words than words.
        self._stem = cache(snowballstemmer.stemmer(algorithm).stemWord)

    def __call__(self, text: str) -> list[Any]:
        """Return the stems, in the order of the text."""
        return [self._stem(word) for word in self._words(text)]

    def __reduce__(self) -> tuple[type["StemmedWords"], tuple[str]]:
        """Pickle only the algorithm; stems are computed again."""
        return StemmedWords, (self._algorithm,)


def _naive_bayes(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    if nominal is None and not missing:
        return attempt(GaussianNB, params)
    return attempt(MixedNB, params, nominal=None if nominal is None else tuple(nominal.tolist()))


def _encoded(
    place: str, *, standardise: bool = True, keeps_missing: bool = False, sparse: bool = False, **defaults: Any
) -> Build:
    """Return a builder of a classifier behind `with_encoding`; its import path is imported at the first call."""

    def built(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
        module, _, name = place.rpartition(".")
        classifier = attempt(getattr(importlib.import_module(module), name), params, **defaults)
        how = {"standardise": standardise, "keeps_missing": keeps_missing, "sparse": sparse}
        return with_encoding(classifier, nominal, missing, **how)

    return built


def _qda(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    # The columns of a nominal feature sum to one, so that no covariance has full rank unless it is regularised.
    defaults = {} if nominal is None else {"reg_param": 1e-3}
    return with_encoding(attempt(QuadraticDiscriminantAnalysis, params, **defaults), nominal, missing, standardise=True)


def _k_nn(params: dict[str, Any], nominal: Any, missing: bool) -> Any:  # noqa: ARG001 - missing values are at home here
    # The scaler puts numeric features first.
    mask = None if nominal is None else tuple(sorted(nominal.tolist()))
    neighbours = attempt(NearestNeighbours, params, nominal=mask)
    if nominal is None:
        return make_pipeline(MinMaxScaler(), neighbours)
    if nominal.all():
        return neighbours
    scale = ColumnTransformer(
        [("numeric", MinMaxScaler(), np.flatnonzero(~nominal)), ("nominal", "passthrough", np.flatnonzero(nominal))]
    )
    return make_pipeline(scale, neighbours)


def _one_nn(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    if "n_neighbors" in params:
        raise refuse("params", "n_neighbors", "no number of neighbours for 1-nn; use k-nn")
    return _k_nn(params, nominal, missing)


def _c45(params: dict[str, Any], nominal: Any, missing: bool) -> Any:  # noqa: ARG001 - missing values are at home here
    return attempt(C45Classifier, params, nominal=None if nominal is None else tuple(nominal.tolist()))


#: The ready learners: the name of each, and the function ``(params, nominal, missing) -> estimator`` that builds it.
READY: Mapping[str, Build] = {
    "naive-bayes": _naive_bayes,
    "lda": _encoded("sigstats.learners.gaussian_estimators.LinearDiscriminant"),
    "qda": _qda,
    "logistic-regression": _encoded("sklearn.linear_model.LogisticRegression", sparse=True, max_iter=1000),
    "ridge": _encoded("sklearn.linear_model.RidgeClassifier"),
    # The primal problem is smooth and its solution unique: no random order of coordinates, and Newton steps, whose
    # number does not explode on permuted labels as that of the dual solvers does.
    "linear-svm": _encoded("sklearn.svm.LinearSVC", sparse=True, dual=False, tol=1e-6),
    "svm": _encoded("sklearn.svm.SVC"),
    "1-nn": _one_nn,
    "k-nn": lambda params, nominal, missing: _k_nn({"n_neighbors": 5, **params}, nominal, missing),
    "decision-tree": _encoded("sklearn.tree.DecisionTreeClassifier", standardise=False, keeps_missing=True),
    "c4.5": _c45,
}
