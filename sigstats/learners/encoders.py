"""The transforms in front of a classifier: nominal features to numbers, missing values filled, scales.

All of them use only features, never labels, and are learned in ``fit``.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from .._common.validation import refuse


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
    one that was not seen is no category). A missing numeric value becomes the feature's training mean, unless the
    classifier `keeps_missing`. `sparse`: it is faster on a sparse matrix, where most columns are of categories.
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
    """A `classifier` that takes data frames; `named`: the categories of each feature by name, empty for a number."""
    return make_pipeline(FunctionTransformer(_as_frame, kw_args={"named": named}), classifier)


def _as_frame(X: NDArray[np.float64], named: Mapping[str, Sequence[str]]) -> Any:
    """The rows as a data frame with named features, and categories as text; missing categories are None."""
    import narwhals as nw

    columns: dict[str, Any] = dict(zip(named, X.T, strict=True))
    for name, categories in named.items():
        if categories:
            texts = np.array([*categories, None], dtype=object)
            columns[name] = texts[np.where(np.isnan(columns[name]), -1, columns[name]).astype(int)]
    return nw.from_dict(columns, backend="pandas").to_native()


def with_words(classifier: Any, stem: str | None = None) -> Any:
    """`classifier` of texts, behind the tf-idf of their words or of the stems of these; English stop words are none."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if stem is None:
        return make_pipeline(TfidfVectorizer(stop_words="english"), classifier)
    return make_pipeline(TfidfVectorizer(analyzer=StemmedWords(stem)), classifier)


#: The algorithms of Snowball for English: that of today, and Porter's of 1980.
ALGORITHMS = ("english", "porter")


class StemmedWords:
    """The words of a text without English stop words, each by its stem: an ``analyzer`` of scikit-learn's vectorizers.

    A stop word is left out by how it is written, before stems are taken: "during" is one, and "dure" is not.
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
        # A collection has far fewer words than it has places where they stand.
        self._stem = cache(snowballstemmer.stemmer(algorithm).stemWord)

    def __call__(self, text: str) -> list[Any]:
        """The stems, in the order of the text."""
        return [self._stem(word) for word in self._words(text)]

    def __reduce__(self) -> tuple[type["StemmedWords"], tuple[str]]:
        """Pickle only the algorithm; stems are computed again."""
        return StemmedWords, (self._algorithm,)
