"""The expected number of rows until the one-sided anytime test of right and wrong answers rejects."""

import math
from bisect import bisect_left

import numpy as np
from scipy.special import betainc, betaln

from .._common.validation import FloatArray
from ..mcnemar.power import binomial_pmf

#: Streams that have not ended are followed until so few are left, and outcomes rarer than this at a step left out.
_FEW, _RARE = 1e-4, 1e-7
#: There is a look at every disagreement, or so many in the time that a decision takes.
_LOOKS = 100
#: Decisions that take more disagreements are not computed.
_MOST = 10**6


def log_evalues(ahead: FloatArray, behind: FloatArray, *, two_sided: bool = False) -> FloatArray:
    """The natural logarithm of e-values of right and wrong without a margin.

    >>> from sigstats.anytime.bets import log_wealth
    >>> wealth = log_wealth(np.array([1.0, -1.0]), np.array([9.0, 2.0]), least=-1, mean=0)
    >>> bool(np.isclose(log_evalues(np.array([9.0]), np.array([2.0]))[0], wealth))
    True
    """
    both = (ahead + behind) * math.log(2) + betaln(ahead + 0.5, behind + 0.5) - math.log(math.pi)
    if two_sided:
        return np.asarray(both)
    with np.errstate(divide="ignore"):  # so far behind that the share of a double is 0
        share = np.log(betainc(behind + 0.5, ahead + 0.5, 0.5))
    return np.asarray(both + math.log(2) + share)


def expected_rows(*, drop: float, discordance: float, alpha: float, minimum: float = 0.0) -> float | None:
    """The expected number of fresh rows until the candidate is shown to be worse, by looks that are frequent.

    `drop`: the true drop of accuracy; `discordance`: the share of rows that only one model gets right, at least `drop`;
    `minimum`: the smallest observed drop that counts. None if no number is enough, or after more than a million
    disagreements.

    A sum over the numbers of disagreements that favour the baseline, of those streams that have not been decided.

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
    law = binomial_pmf(new, step, share)
    first = int(new[law > _RARE][0])
    law = law[law > _RARE]
    alive, low, n, total = np.ones(1), 0, 0, 0.0
    while alive.sum() > _FEW and n < 100 * _MOST:
        total += step * float(alive.sum())
        alive, low, n = np.convolve(alive, law), low + first, n + step
        alive = alive[: bisect_left(range(low, low + len(alive)), True, key=lambda ahead: decided(ahead, n))]
        kept = np.flatnonzero(alive > _RARE * _FEW)
        if not len(kept):
            break
        alive, low = alive[kept[0] : kept[-1] + 1], low + int(kept[0])
    return total / discordance
