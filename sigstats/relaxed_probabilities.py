"""Required class probabilities that allow a share of misclassified objects.

When not to use: where the requirement itself has a class of misclassified objects; `sigstats.goodness_of_fit_test`
takes its probabilities as they are.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._common.validation import as_counts, as_probabilities, as_real, refuse


def relax_probabilities(probabilities: Any, share: float, *, classes: Sequence[int] | None = None) -> tuple[float, ...]:
    """An expert's class probabilities, with a share of misclassified objects allowed.

    An expert's probabilities allow no misclassified objects, so a single one contradicts the hypothesis with certainty.
    The share is taken from the named classes, in proportion to their probabilities, and becomes a further, last class
    (Hryniewicz, section 3).

    Parameters
    ----------
    probabilities : array_like of float, shape (K,)
        The expert's, without a class of misclassified objects; they sum to 1.
    share : float
        The share of all objects that may be misclassified, less than the named classes have together.
    classes : sequence of int, optional
        The positions of the classes the share is taken from; all by default.

    Returns
    -------
    tuple of float, K + 1 of them

    Raises
    ------
    ValueError
        If a class does not exist or is named twice, or the classes have no more than the share.

    Examples
    --------
    Two per cent, all of the third class (Hryniewicz, Table 10):

    >>> import sigstats
    >>> required = sigstats.relax_probabilities([0.2, 0.3, 0.5], 0.02, classes=[2])
    >>> required
    (0.2, 0.3, 0.48, 0.02)
    >>> round(sigstats.goodness_of_fit_test([15, 30, 50, 5], required).pvalue, 3)
    0.132
    """
    p = as_probabilities(probabilities, "probabilities")
    share = as_real(share, "share", low=0, high=1)
    if classes is None:
        places = np.arange(len(p))
    else:
        places = as_counts(classes, "classes", ndim=1)
        if places.max() >= len(p):
            raise refuse("classes", int(places.max()), f"positions from 0 to {len(p) - 1}")
        if len(set(places.tolist())) < len(places):
            raise refuse("classes", classes, "each class once")
    held = math.fsum(p[places])
    if not share < held:
        raise refuse("share", share, f"less than {held:g}, the total probability of the classes from which it is taken")
    relaxed = p.copy()
    relaxed[places] *= 1 - share / held
    return (*relaxed.tolist(), share)
