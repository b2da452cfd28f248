"""Rows of a fold that scikit-learn compares with all training rows, predicted without the others of the fold.

Without a tree `KNeighborsClassifier` computes distances as products of matrices. How each is rounded depends on the
kernel of the product, which takes tested rows eight or fewer at a time, and other instructions for those that are left
over. So the rows left over are kept where they are, and the others are filled up to eights; it is tried on the data
whether distances are then the same to the last bit.
"""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from sigstats._common.validation import FloatArray, IntArray

#: So many rows or a divisor of it are taken together by the kernels of OpenBLAS.
_TOGETHER = 8

#: So many of the nearest are compared on trial, of so many rows.
_COMPARED, _TRIED = 40, 64


def among_few(places: IntArray, tested: int) -> tuple[IntArray, IntArray]:
    """Places of the `tested` rows that stand for all of them, and where `places` are among these."""
    whole = tested - tested % _TOGETHER
    inner = places[places < whole]
    filled = np.resize(inner, -(-len(inner) // _TOGETHER) * _TOGETHER)
    where = np.concatenate([np.arange(len(inner)), len(filled) + places[places >= whole] - whole])
    return np.concatenate([filled, np.arange(whole, tested)]), where


def is_the_same(learned: FloatArray, tested: FloatArray) -> bool:
    """Whether `KNeighborsClassifier`, without a tree, finds the same distances for a few of the rows as for all."""
    k = min(_COMPARED, len(learned))
    # Distances before their root is taken, which hides differences.
    fitted = KNeighborsClassifier(k, algorithm="brute", metric="sqeuclidean").fit(learned, np.zeros(len(learned)))
    distances, rows = fitted.kneighbors(tested)
    order = np.random.default_rng(0).permutation(len(tested))[:_TRIED]
    for places in [*np.array_split(np.sort(order), max(1, len(order) // 3)), np.arange(len(tested))[-_TOGETHER:]]:
        few, where = among_few(places, len(tested))
        found = fitted.kneighbors(tested[few])
        if not (np.array_equal(found[0][where], distances[places]) and np.array_equal(found[1][where], rows[places])):
            return False
    return True
