"""Angles in whole numbers: a product with a frequency then wraps around the circle exactly."""

import math

import numpy as np
from numpy.typing import NDArray

from .validation import FloatArray

#: How many parts of a turn there are.
_TURN = 2.0**64


def as_turns(values: FloatArray, length: float | FloatArray) -> NDArray[np.uint64]:
    """Values as turns of a circle of this length, or of one each, in units of 2^-64.

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats._common.circle import as_turns
    >>> as_turns(np.array([0.25, -0.75, 3.25]), 1.0) == 2**62
    array([ True,  True,  True])
    """
    turns = values / length
    turns = turns - np.floor(turns)
    return np.where(turns >= 1.0, 0.0, turns * _TURN).astype(np.uint64)


def points_at(turns: NDArray[np.uint64]) -> NDArray[np.complex128]:
    """The points of the unit circle at these turns.

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats._common.circle import points_at
    >>> points_at(np.array([0, 2**62], dtype=np.uint64)).round(12) + 0
    array([1.+0.j, 0.+1.j])
    """
    return np.asarray(np.exp(turns.view(np.int64) * (2j * math.pi / _TURN)), dtype=np.complex128)
