"""The observations that exactly one of two classifiers got right."""

from typing import NamedTuple

import numpy as np

from .._common.class_names import as_predictions
from .._common.validation import Labels


class DiscordantCounts(NamedTuple):
    """The numbers of observations that exactly one of two classifiers got right."""

    only_a: int
    only_b: int


def discordant_counts(y: Labels, a: Labels, b: Labels) -> DiscordantCounts:
    """Count the observations that exactly one of two classifiers got right.

    Parameters
    ----------
    y, a, b : array_like, shape (n,)
        The true labels and the labels that the classifiers A and B assigned: all numbers or all strings.

    Returns
    -------
    DiscordantCounts
        ``only_a`` and ``only_b``, in the order in which `mcnemar_test` takes them.

    Raises
    ------
    ValueError
        If a sequence is empty, of another length than `y`, has missing labels, or mixes numbers with strings.

    Examples
    --------
    >>> import sigstats
    >>> sigstats.discordant_counts(["cat", "cat", "dog"], ["cat", "cat", "cat"], ["dog", "cat", "cat"])
    DiscordantCounts(only_a=1, only_b=0)
    """
    truth, *assigned = as_predictions(y, a, b)
    right_a, right_b = (labels == truth for labels in assigned)
    return DiscordantCounts(int(np.sum(right_a & ~right_b)), int(np.sum(right_b & ~right_a)))
