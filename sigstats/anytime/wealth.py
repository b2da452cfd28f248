r"""The evidence against a mean: the wealth of a gambler who bets on each row, averaged over all bets.

The rows have values of at least `least`. Somebody who stakes the share u of the wealth on a mean above m has, after n
rows, the wealth

.. math:: \prod_i \left(1 - u + u \, \frac{x_i - \mathrm{least}}{m - \mathrm{least}}\right).

If the mean of each row, given the rows before it, is at most m, the expected wealth never exceeds 1. The same holds for
an average over u. Here u is the sine of an angle that is uniform between 0 and a right angle. For differences of -1, 0
and 1 the mean of both sides is then that of a Beta(1/2, 1/2) prior of the share of discordant rows that favour A.

References
----------
Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, Journal of the Royal
Statistical Society B 86, 1-27, section 4. Ville (1939): the probability that the wealth ever reaches 1 / alpha is at
most alpha.
"""

import math

import numpy as np

from .._common.validation import FloatArray

#: The nodes of the integral over the angle, as shares of its range, and their weights.
_NODES, _WEIGHTS = (each / 2 for each in np.polynomial.legendre.leggauss(160))
_PLACES = _NODES + 0.5
#: Wealth that is smaller than the largest by this many nats is left out. So many nodes must hold what is left.
_SMALL, _ENOUGH = 50.0, 40


def log_wealth(values: FloatArray, counts: FloatArray, *, least: float, mean: float) -> float:
    """The natural logarithm of the average wealth.

    Parameters
    ----------
    values, counts : array of float
        The distinct values of the rows, and how often each occurred.
    least : float
        The least value that a row can have, below `mean`.
    mean : float
        The mean that is not exceeded under the null hypothesis.

    Examples
    --------
    Three rows that favour A: a share s wins with probability ``(1 + s) / 2``.

    >>> round(math.exp(log_wealth(np.array([1.0]), np.array([3.0]), least=-1, mean=0)), 6)
    4.834272
    """
    excess = (values - least) / (mean - least) - 1
    low, width = 0.0, math.pi / 2
    while True:
        angles = low + width * _PLACES
        with np.errstate(divide="ignore"):  # a stake of nearly everything on a row of the least value
            logs = np.log1p(np.multiply.outer(np.sin(angles), excess)) @ counts
        top = float(logs.max())
        kept = np.flatnonzero(logs > top - _SMALL)
        if len(kept) >= _ENOUGH:
            return top + math.log(float(_WEIGHTS @ np.exp(logs - top)) * width * 2 / math.pi)
        ends = low, low + width
        low = ends[0] if kept[0] == 0 else float(angles[kept[0] - 1])
        width = (ends[1] if kept[-1] == len(angles) - 1 else float(angles[kept[-1] + 1])) - low
