"""Random outcomes under the probabilities that are required."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.extreme import at_least
from .._common.random_streams import as_generator
from .._common.validation import MAX_RESAMPLES, FloatArray, IntArray, as_choice, as_count
from .distance import ORDERINGS, as_counts_and_probabilities, distance

_CHUNK = 2**18


def goodness_of_fit_exceedances(
    counts: Any, probabilities: Any, *, size: int, ordering: str = "probability", rng: Any = None
) -> NDArray[np.bool_]:
    """Which of `size` random outcomes are at least as extreme as the observed counts.

    The replicates of the Monte-Carlo method, for those who spread them over machines. They are drawn one after the
    other: from generators in equal states, fewer replicates are the first of more.

    `counts`, `probabilities` and `ordering`: as for `goodness_of_fit_test`.
    `size`: the number of replicates.
    `rng`: source of the outcomes; a Generator is advanced.

    Returns an ndarray of bool, shape (size,). Raises ValueError as `goodness_of_fit_test`.

    >>> few, more = (goodness_of_fit_exceedances([8, 2], [0.5, 0.5], size=n, rng=1) for n in (10, 1000))
    >>> bool((few == more[:10]).all()), round(more.mean().item(), 1)
    (True, 0.1)
    """
    ordering = as_choice(ordering, "ordering", ORDERINGS)
    x, p, excluded = as_counts_and_probabilities(counts, probabilities)
    size = as_count(size, "size", minimum=0, maximum=MAX_RESAMPLES)
    if excluded:  # no outcome is as extreme
        return np.zeros(size, dtype=np.bool_)
    return exceedances(x, p, ordering, size, as_generator(rng))


def exceedances(
    x: IntArray, p: FloatArray, ordering: str, size: int, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """As `goodness_of_fit_exceedances`, of counts and probabilities that were checked."""
    n = int(x.sum())
    observed = float(distance(x, n, p, ordering))
    out = np.empty(size, dtype=bool)
    rows = max(1, _CHUNK // len(x))
    for start in range(0, size, rows):
        drawn = generator.multinomial(n, p, size=min(rows, size - start))
        how_far = distance(drawn, n, p, ordering)
        if ordering == "probability":
            out[start : start + len(drawn)] = at_least(np.exp(np.maximum(how_far - observed, -1.0)), 1.0)
        else:
            out[start : start + len(drawn)] = at_least(how_far, observed)
    return out
