"""Words of texts by their stems."""

from functools import cache
from typing import Any

from .._common.validation import refuse

#: The algorithms of Snowball for English: that of today, and Porter's of 1980.
ALGORITHMS = ("english", "porter")


class StemmedWords:
    """The words of a text without English stop words, each by its stem: an ``analyzer`` of scikit-learn's vectorizers.

    A stop word is left out by how it is written, before stems are taken: "during" is one, and "dure" is not.

    `algorithm`: the stemmer of Snowball (Porter, Snowball: a language for stemming algorithms, 2001). Raises
    ValueError if there is no such algorithm, or the package snowballstemmer is not installed.

    Examples
    --------
    >>> from sigstats.learners.stemming import StemmedWords
    >>> StemmedWords("english")("The farmers of Iowa are selling corn; prices fell.")
    ['farmer', 'iowa', 'sell', 'corn', 'price', 'fell']
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
        """The algorithm alone: the stems that were taken so far are found anew."""
        return StemmedWords, (self._algorithm,)
