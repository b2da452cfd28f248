r"""A bound on the rounding of the sum of `sigstats.conditional.tail`, term by term.

A logarithm of a probability is Loader's: Stirling errors, and deviances ``x log(x / m) - x + m``, each computed with an
error of at most :math:`8 u |x - m| (1 + |\log(x / m)|)`, u being `ROUNDING`. With H the sum of an outcome's deviances,
which is at most the negative logarithm of its probability before the total is given, :math:`\sum |x - m| \le
2 \sqrt{N H} + 2 H` (Bernstein's inequality, inverted, and Cauchy and Schwarz's) and
:math:`\sum |x - m| |\log(x / m)| \le \sum |x - m| + 6.5 H \log N`. Outcomes of the tail weigh as much as they are
likely, and the mean of their negative logarithms is at most that of the tail plus the logarithm of their number. All
terms are positive, so that sums add one rounding for each addition. Not part of the public names.
"""

import math

from .._common.error_bounds import ROUNDING, of_logarithm
from .problem import Problem

#: Smaller p-values are not told apart: near the smallest double, what is added up loses its digits and then vanishes.
SMALLEST = 1e-280
#: Roundings of a column's Stirling errors and logarithms, of the sums of a short list, and of a deviance.
_OF_A_COLUMN, _OF_A_LIST, _OF_A_DEVIANCE = 300, 200, 8


class Parts(list[float]):
    """The probabilities that make up a tail, and the longest sums behind them."""

    #: Additions of probabilities, and of probabilities that are kept as logarithms.
    additions = merged = 0

    def count(self, *lengths: int) -> None:  # type: ignore[override]
        """Take note of additions that follow on each other."""
        self.additions = max(self.additions, sum(lengths))


def relative_error(problem: Problem, p: float, parts: Parts) -> float:
    """A bound on the relative error of the tail p; 1 where it is below `SMALLEST`."""
    if p < SMALLEST:
        return 1.0
    columns, total = len(problem.scores), sum(problem.parameters)
    likely = -math.log(p) + sum(math.log(len(score)) for score in problem.scores)
    surprise = likely + abs(problem.norm)
    away = 2 * math.sqrt(total * surprise) + 2 * surprise
    deviances = _OF_A_DEVIANCE * (2 * away + 6.5 * math.log(total + 2) * surprise)
    size = surprise + columns * math.log(2 * math.pi * (total + 1)) / 2  # of a partial sum of logarithms
    sums = (columns + 4) * size * (1 + parts.merged) + parts.additions + _OF_A_LIST
    return min(1.0, of_logarithm((deviances + (columns + 1) * _OF_A_COLUMN + sums) * ROUNDING))
