"""The part of a level that each look at the same held-out data may spend.

Each candidate tested on the same rows is one more chance of a false alarm: with the full level at each of twenty
looks, a false alarm is likely in one of them. Spending functions share one level among the looks, so that by the union
bound the probability of any false alarm is at most that level, however the looks depend on each other.

When not to use: for candidates that were *chosen* because they did well on this very test set. Their errors are
optimistic, which no level corrects; test them on new data.
"""

import math
from typing import Literal, TypeAlias, get_args

from scipy.special import log_ndtr, ndtri

from .._common.validation import as_choice, as_count, as_real, refuse

Spending: TypeAlias = Literal["each", "series", "linear", "pocock", "obrien-fleming"]


def spent_level(look: int, *, alpha: float = 0.05, spending: Spending = "series", looks: int | None = None) -> float:
    """The level of one of many looks at the same data, numbered from 1; `alpha` is the level of all together.

    `spending`: ``"each"``: every look has the whole level: nothing is shared, and false alarms add up. ``"series"``:
    ``6 / pi**2 / look**2`` of the level. It sums to the level over infinitely many looks, so that their number need not
    be known. ``"linear"``: the same for each of `looks` looks (Bonferroni). ``"pocock"``: ``alpha * ln(1 + (e - 1) t)``
    is spent up to the share `t` of the looks: a little more for the early ones. ``"obrien-fleming"``: ``2 - 2 Phi(z(1 -
    alpha / 2) / sqrt(t))`` is spent up to `t`: nearly all is kept for the late ones. After the last of `looks`, which
    the last three need, the level is 0. Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika
    70 (1983). Foster and Stine, Alpha-investing, Journal of the Royal Statistical Society B 70 (2008), for looks
    without an end.
    """
    number = as_count(look, "look", minimum=1)
    level = as_real(alpha, "alpha", low=0, high=1, open_ends=True)
    how = as_choice(spending, "spending", get_args(Spending))
    if how == "each":
        return level
    if how == "series":
        return level * 6 / (math.pi * number) ** 2
    if looks is None:
        raise refuse("looks", looks, f"how many looks there will be, for the spending {how!r}")
    planned = as_count(looks, "looks", minimum=1)
    if number > planned:
        return 0.0
    if how == "linear":
        return level / planned
    return _spent_by(number / planned, level, how) - _spent_by((number - 1) / planned, level, how)


def _spent_by(share: float, alpha: float, how: str) -> float:
    """The level that a share of the looks spends together (Lan and DeMets, section 3)."""
    if share == 0:
        return 0.0
    if how == "pocock":
        return alpha * math.log1p((math.e - 1) * share)
    return 2 * math.exp(log_ndtr(ndtri(alpha / 2) / math.sqrt(share)))
