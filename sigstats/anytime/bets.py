r"""The evidence of rows against a mean: the wealth of a gambler who bets on each row, averaged over all bets.

The rows have values of at least `least`. Whoever stakes the share u of the wealth on a mean above m has, after n rows,
the wealth

.. math:: \prod_i \left(1 - u + u \, \frac{x_i - \mathrm{least}}{m - \mathrm{least}}\right).

If the mean of each row, given the rows before it, is at most m, the expected wealth never exceeds 1. The same holds for
an average over u. Here u is the sine of an angle that is uniform between 0 and a right angle. For differences of -1, 0
and 1 the mean of both sides is then that of a Beta(1/2, 1/2) prior of the share of discordant rows that favour A.

`sigstats.anytime_test` names the sources. Ville (1939): the probability that the wealth ever reaches 1 / alpha is at
most alpha.

`log_evalue` is this evidence, of one start or of any (`log_evalue_of_any_start`), and `running_interval` the interval.
For right and wrong answers `log_evalues` is a closed form, by which `expected_rows` plans.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaln

from .._common.validation import FloatArray
from ..intervals import Interval
from ..mcnemar.power import binomial_pmf
from ..unseen_row.law import atoms_of

#: More distinct differences are split between so many, which lowers the evidence by less than a thousandth.
_MOST_VALUES = 2**11
#: The nodes of the integral over the angle, as shares of its range, and their weights.
_NODES, _WEIGHTS = (array / 2 for array in np.polynomial.legendre.leggauss(160))
_PLACES = _NODES + 0.5
#: Nodes with a wealth that is smaller than the largest by this many nats are left out; and the fewest that must remain.
_SMALL, _ENOUGH = 50.0, 40
_EPSILON = float(np.finfo(float).eps)


class Rows(NamedTuple):
    """The rows so far: their number and mean, the distinct differences between -1 and 1, and their counts."""

    n: int
    mean: float
    values: FloatArray
    counts: FloatArray


def rows_of(values: FloatArray, counts: FloatArray) -> Rows:
    """Return the rows (at least one) by ascending distinct difference; many are rounded to weaken the evidence.

    >>> rows_of(np.array([-1.0, 0.0, 1.0]), np.array([1.0, 0.0, 3.0]))
    Rows(n=4, mean=0.5, values=array([-1.,  1.]), counts=array([1., 3.]))
    """
    n, occurring = int(counts.sum()), counts > 0
    values, counts = values[occurring], counts[occurring]
    mean = float(values @ counts) / n
    if len(values) > _MOST_VALUES:
        values, counts = atoms_of(np.r_[values, -1.0, 1.0], np.r_[counts, 0.0, 0.0], _MOST_VALUES)
    return Rows(n, mean, values, counts)


def log_evalue(rows: Rows, mean: float, way: str) -> float:
    """Return the natural logarithm of the e-value against a mean; two-sided the average of both sides."""
    sides = [
        log_wealth(sign * rows.values, rows.counts, least=-1.0, mean=sign * mean)
        for sign, other in ((1, "less"), (-1, "greater"))
        if way != other
    ]
    return sides[0] if len(sides) == 1 else float(np.logaddexp(sides[0], sides[1])) - math.log(2)


def log_evalue_of_any_start(windows: Sequence[Rows | None], mean: float, way: str, *, added: bool = False) -> float:
    """Return the log e-value of bets that begin at any look. The j-th look has the weight 1 / (j (j + 1)).

    `windows`: the rows from each look on, from the first look to the last; None if there are none yet. A bet that has
    not begun keeps its money, so an average of bets is again a bet. `added`: the unweighted sum of the bets instead:
    under the null hypothesis its expected value is at most the expected number of looks, at any time (Shin, Ramdas and
    Rinaldo 2024, E-detectors, New England Journal of Statistics in Data Science 2).

    One row at each of two looks favours A, and a single row has the e-value 1 + 2 / pi:

    >>> one, both = (Rows(n, 1.0, np.array([1.0]), np.array([float(n)])) for n in (1, 2))
    >>> evalue = math.exp(log_evalue_of_any_start([both, one], 0.0, "greater"))
    >>> round(evalue - (math.exp(log_evalue(both, 0.0, "greater")) / 2 + (1 + 2 / math.pi) / 6 + 1 / 3), 9)
    0.0
    """
    of_each = [0.0 if rows is None else log_evalue(rows, mean, way) for rows in windows]
    if added:
        return float(np.logaddexp.reduce(of_each))
    looks = np.arange(1.0, len(windows) + 1)
    shares = [*1 / (looks * (looks + 1)), 1 / (len(windows) + 1)]  # the last one is the money of later bets
    return float(np.logaddexp.reduce(np.array([*of_each, 0.0]) + np.log(shares)))


#: The stakes of `running_interval`, as shares of the whole wealth.
_STAKES = np.geomspace(2e-3, 0.9, 100)


def running_interval(rows: Rows, centre: float, way: str, level: float) -> Interval:
    r"""Return the interval of the average of the conditional means of all rows so far.

    The conditional mean of a row is its mean given the rows before it; it may change from row to row. The interval
    contains the mean of the rows, and the intervals after every row cover simultaneously with the probability `level`.
    `centre`: a number between -1 and 1, fixed before the rows; the interval is shortest if the mean is near it.

    For a row x with the mean :math:`\mu` and a stake s, :math:`(1 + s (x - c)) \exp(-s (\mu - c))` has an expected
    value of at most 1, since :math:`1 + z \le e^z`. The products of all rows are averaged over a hundred stakes.

    >>> rows = Rows(1000, 0.05, np.array([-1.0, 0.0, 1.0]), np.array([25.0, 900.0, 75.0]))
    >>> low, high = running_interval(rows, 0.0, "two-sided", 0.95)
    >>> round(low, 4), round(high, 4)
    (0.0172, 0.0865)
    """
    wanted = math.log((2 if way == "two-sided" else 1) / (1 - level)) + math.log(len(_STAKES))

    def end(sign: int) -> float:
        stakes = _STAKES / (1 + sign * centre)
        logs = np.log1p(np.multiply.outer(stakes, sign * (rows.values - centre))) @ rows.counts

        def surplus(mean: float) -> float:
            return float(np.logaddexp.reduce(logs - stakes * rows.n * mean)) - wanted

        # The end of a single stake is too far out, and the mean of the rows too far in.
        outer, inner = float(np.max((logs - wanted) / stakes)) / rows.n - 1e-9, sign * (rows.mean - centre)
        return centre + sign * float(brentq(surplus, outer, inner, xtol=1e-14))

    low = -1.0 if way == "less" else max(-1.0, end(1))
    high = 1.0 if way == "greater" else min(1.0, end(-1))
    return Interval(low, high, level)


def log_wealth(values: FloatArray, counts: FloatArray, *, least: float, mean: float) -> float:
    """Return the natural logarithm of the average wealth, from the distinct values of the rows and their counts.

    `least`: the least value that a row can have, below `mean`. `mean`: the largest mean under the null hypothesis.

    Three rows that favour A: a share s wins with probability ``(1 + s) / 2``.

    >>> round(math.exp(log_wealth(np.array([1.0]), np.array([3.0]), least=-1, mean=0)), 6)
    4.834272
    """
    _, width, logs = _nodes((values - least) / (mean - least) - 1, counts)
    top = float(logs.max())
    return top + math.log(float(_WEIGHTS @ np.exp(logs - top)) * width * 2 / math.pi)


def nats_lost(rows: Rows, mean: float) -> float:
    """Return a bound on the rounding of `log_evalue`: that of each node's sum of logarithms, averaged by its wealth."""
    lost = []
    for sign in (1, -1):
        excess = (sign * rows.values + 1) / (sign * mean + 1) - 1
        stakes, _, logs = _nodes(excess, rows.counts)
        slopes = (1 + np.abs(excess)) / np.maximum(1 + np.multiply.outer(stakes, np.minimum(excess, 0)), _EPSILON)
        wealth = _WEIGHTS * np.exp(logs - logs.max())
        lost.append(4 * _EPSILON * float(wealth @ (stakes * (slopes @ rows.counts)) / wealth.sum()))
    return max(lost)


def _nodes(excess: FloatArray, counts: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """Return the stakes of the integral, the width of their angles, and the logarithm of the wealth of each."""
    low, width = 0.0, math.pi / 2
    while True:
        angles = low + width * _PLACES
        with np.errstate(divide="ignore"):  # a stake of nearly everything on a row of the least value
            logs = np.log1p(np.multiply.outer(np.sin(angles), excess)) @ counts
        kept = np.flatnonzero(logs > logs.max() - _SMALL)
        if len(kept) >= _ENOUGH:
            return np.sin(angles), width, logs
        ends = low, low + width
        low = ends[0] if kept[0] == 0 else float(angles[kept[0] - 1])
        width = (ends[1] if kept[-1] == len(angles) - 1 else float(angles[kept[-1] + 1])) - low


#: Undecided streams are followed down to this probability; rarer outcomes of a step are ignored.
_FEW, _RARE = 1e-4, 1e-7
#: Looks before a decision, or one at every disagreement if these are fewer.
_LOOKS = 100
#: Decisions that need more disagreements are not computed.
_MOST = 10**6


def log_evalues(ahead: FloatArray, behind: FloatArray, *, two_sided: bool = False) -> FloatArray:
    """Return natural logarithms of e-values of right and wrong answers without a margin.

    >>> from sigstats.anytime.bets import log_wealth
    >>> wealth = log_wealth(np.array([1.0, -1.0]), np.array([9.0, 2.0]), least=-1, mean=0)
    >>> bool(np.isclose(log_evalues(np.array([9.0]), np.array([2.0]))[0], wealth))
    True
    """
    both = (ahead + behind) * math.log(2) + betaln(ahead + 0.5, behind + 0.5) - math.log(math.pi)
    if two_sided:
        return np.asarray(both)
    with np.errstate(divide="ignore"):  # shares may underflow to 0
        share = np.log(betainc(behind + 0.5, ahead + 0.5, 0.5))
    return np.asarray(both + math.log(2) + share)


def expected_rows(*, drop: float, discordance: float, alpha: float, minimum: float = 0.0) -> float | None:
    """Return the expected number of fresh rows, with frequent looks, until the candidate is shown to be worse.

    `drop`: the true drop of accuracy; `discordance`: the share of rows that only one model gets right, at least `drop`;
    `minimum`: the smallest observed drop that counts. None if no number is enough, or after more than a million
    disagreements.

    The expected number of disagreements is the sum of the probabilities that a stream of rows is undecided after 0, 1,
    2, ... of them, here in steps of `step`; divided by `discordance`, it is a number of rows.

    >>> round(expected_rows(drop=0.05, discordance=0.1, alpha=0.05))
    290
    """

    def decided(ahead: int, n: int) -> bool:
        if 2 * ahead - n < minimum * n / discordance:
            return False
        return bool(log_evalues(np.array([ahead * 1.0]), np.array([n - ahead * 1.0]))[0] >= -math.log(alpha))

    share = (1 + drop / discordance) / 2
    guess = (3 - math.log(alpha)) / (2 * (share - 0.5) ** 2)
    if drop <= minimum or guess > _MOST:
        return None
    step = max(1, int(guess) // _LOOKS)
    new = np.arange(step + 1)
    law_of_step = binomial_pmf(new, step, share)
    first = int(new[law_of_step > _RARE][0])
    law_of_step = law_of_step[law_of_step > _RARE]
    undecided, low, n, total = np.ones(1), 0, 0, 0.0  # the probabilities of `low`, `low` + 1, ... among n
    while undecided.sum() > _FEW and n < 100 * _MOST:
        total += step * float(undecided.sum())
        undecided, low, n = np.convolve(undecided, law_of_step), low + first, n + step
        counts = range(low, low + len(undecided))
        undecided = undecided[: bisect_left(counts, True, key=lambda ahead: decided(ahead, n))]
        kept = np.flatnonzero(undecided > _RARE * _FEW)
        if not len(kept):
            break
        undecided, low = undecided[kept[0] : kept[-1] + 1], low + int(kept[0])
    return total / discordance
