"""Besag and Clifford's sequential Monte-Carlo test: where it ends, the p-value and the interval of p."""

from collections.abc import Iterator
from fractions import Fraction
from math import comb

from ._cases import Case
from .clopper_pearson import limits

SOURCE = "Besag and Clifford (1991): h / n where h exceed after n, or else (exceedances + 1) / (maximum + 1)."
METHODS = ("paths counted in whole numbers, with beta integrals", "the rank of the observed value, which is uniform")
#: The interval that is reported by default, as a double; and for how many replicates it is made.
_LEVEL, _MOST = Fraction(0.99), 150


def counted(maximum: int, wanted: int, n: int, s: int) -> Fraction:
    """The share of p of all ends at least as extreme: all but those sooner, or those at last with no more."""
    paths, sooner = {0: 1}, Fraction(0)
    for m in range(1, (maximum if s < wanted else n - 1) + 1):
        grown: dict[int, int] = {}
        for at, count in paths.items():
            grown[at] = grown.get(at, 0) + count
            grown[at + 1] = grown.get(at + 1, 0) + count
        sooner += Fraction(grown.pop(wanted, 0), (m + 1) * comb(m, wanted)) if m >= wanted else 0
        paths = grown
    if s == wanted:
        return 1 - sooner
    return sum((Fraction(count, (n + 1) * comb(n, at)) for at, count in paths.items() if at <= s), Fraction(0))


def ranked(maximum: int, wanted: int, n: int, s: int) -> Fraction:
    """Among n replicates the observed value is as likely to have each of n + 1 ranks."""
    if s == wanted:  # of n - 1 replicates fewer than so many exceed
        return Fraction(len(range(wanted)), len(range(n)))
    return Fraction(len(range(s + 1)), len(range(maximum + 1)))


def cases() -> Iterator[Case]:
    """All that exceed, none, one in so many, and a last one at the maximum."""
    grid = {
        "easy": [
            (9, 1, 1),
            (9, 1, 4),
            (9, 1, 9),
            (9, 1, 10),
            (9, 3, 1),
            (9, 3, 2),
            (9, 3, 3),
            (9, 3, 5),
            (9, 9, 1),
            (1, 1, 1),
        ],
        "average": [(99, h, every) for h in (1, 5, 10) for every in (1, 3, 9, 10, 19, 20, 99, 100)],
        "hard": [(1999, h, every) for h in (10, 50) for every in (2, 39, 40, 199, 200, 1999, 2000)],
    }
    for difficulty, rules in grid.items():
        for maximum, wanted, every in rules:
            exceeding = list(range(every, maximum + 1, every))[:wanted]
            s = len(exceeding)
            n = exceeding[-1] if s == wanted else maximum
            values = {"n_resamples": (n, n), "exceedances": (s, s)}
            values["pvalue"] = (counted(maximum, wanted, n, s), ranked(maximum, wanted, n, s))
            if n <= _MOST:
                stopped = s == wanted
                values["pvalue_interval[0]"] = limits(s, n, _LEVEL)["low"]
                values["pvalue_interval[1]"] = limits(s - stopped, n - stopped, _LEVEL)["high"]
            given = {"maximum": maximum, "exceedances": wanted, "drawn": n, "exceeding": exceeding}
            yield Case(difficulty, given, values)
