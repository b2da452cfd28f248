"""Where a sequential rule ends, in whole numbers, and in balls by a process without memory of the paths."""

from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any, NamedTuple

import flint

from ._cases import ball


class Rule(NamedTuple):
    """The fields of Gandy's rule as fractions."""

    maximum: int
    reject_at: Fraction
    keep_at: Fraction
    risk: Fraction
    half_spent: int


class Ends(NamedTuple):
    """Ends below and above as (replicates, exceedances, share of p); those at last, inside, by their exceedances."""

    low: list[tuple[int, int, Any]]
    high: list[tuple[int, int, Any]]
    inside: dict[int, Any]


@lru_cache(maxsize=8)
def counted(rule: Rule, size: int) -> Ends:
    """Paths are counted. With a uniform p each of those to s of n has the probability of a beta integral.

    At p = a / b such a path has a**s * (b - a)**(n - s) chances of b**n.
    """
    found = Ends([], [], {})
    paths, below, above = {0: 1}, -1, 1
    spent = [Fraction(0), Fraction(0)]
    for n in range(1, size + 1):
        grown: dict[int, int] = {}
        for s, count in paths.items():
            grown[s] = grown.get(s, 0) + count
            grown[s + 1] = grown.get(s + 1, 0) + count
        paths = grown
        allowed = rule.risk * Fraction(n, n + rule.half_spent)
        for side, level, at, ends in ((1, rule.keep_at, above, found.high), (0, rule.reject_at, below + 1, found.low)):
            chance = paths[at] * level**at * (1 - level) ** (n - at)
            if len(paths) > 1 and spent[side] + chance <= allowed:
                spent[side] += chance
                ends.append((n, at, Fraction(paths.pop(at), (n + 1) * comb(n, at))))
                below += 1 - side
            else:
                above += side
    found.inside.update({s: Fraction(count, (size + 1) * comb(size, s)) for s, count in paths.items()})
    return found


@lru_cache(maxsize=8)
def urn(rule: Rule, size: int) -> Ends:
    """With a uniform p the replicates are draws from Polya's urn: after s of n the next exceeds with (s + 1) / (n + 2).

    At a given p the chances of the paths inside are passed on from replicate to replicate.
    """
    found = Ends([], [], {})
    one = flint.arb(1)
    shares, below, above = {0: one}, -1, 1
    chances = [{0: one}, {0: one}]
    levels = [ball(rule.reject_at), ball(rule.keep_at)]
    spent = [flint.arb(0), flint.arb(0)]
    for n in range(1, size + 1):
        shares = _passed(shares, lambda s, n=n: (one * (s + 1)) / (n + 1))
        chances = [_passed(each, lambda _, p=p: p) for each, p in zip(chances, levels, strict=True)]
        allowed = ball(rule.risk * Fraction(n, n + rule.half_spent))
        for side, at, ends in ((1, above, found.high), (0, below + 1, found.low)):
            after = spent[side] + chances[side][at]
            if not (after <= allowed or after > allowed):
                raise ValueError(f"{rule}: after {n} the precision does not tell whether the risk is spent")
            if len(shares) > 1 and after <= allowed:
                spent[side] = after
                ends.append((n, at, shares.pop(at)))
                for each in chances:
                    each.pop(at)
                below += 1 - side
            else:
                above += side
    found.inside.update(shares)
    return found


def _passed(now: dict[int, Any], up: Any) -> dict[int, Any]:
    """The chances after one more replicate."""
    after: dict[int, Any] = {}
    for s, share in now.items():
        risen = share * up(s)
        after[s] = after.get(s, 0) + share - risen
        after[s + 1] = after.get(s + 1, 0) + risen
    return after


def first_end(ends: Ends, exceeding: set[int], size: int) -> tuple[int, int]:
    """After how many replicates, and with how many exceedances, a path ends."""
    stops = {(n, s) for n, s, _ in (*ends.low, *ends.high)}
    s = 0
    for n in range(1, size + 1):
        s += n in exceeding
        if (n, s) in stops:
            return n, s
    return size, s


def pvalue(ends: Ends, n: int, s: int) -> Any:
    """The share of p of all ends at least as extreme: below no later, then inside, then above no earlier."""
    if (n, s) in [end[:2] for end in ends.low]:
        return sum((share for m, _, share in ends.low if m <= n), 0)
    if (n, s) in [end[:2] for end in ends.high]:
        return 1 - sum((share for m, _, share in ends.high if m < n), 0)
    return sum((share for _, _, share in ends.low), 0) + sum((share for at, share in ends.inside.items() if at <= s), 0)
