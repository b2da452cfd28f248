"""Hold the error bounds of p-values against whole numbers and balls: `python -m tools.error_bounds 20000 --seed 1`.

Every family draws a case, lets sigstats answer, and finds the truth without it. What is printed for each: how many were
drawn, the largest error and the largest bound, and the largest share of its bound that an error took. The exit code is
1 where an error exceeds its bound.
"""

import argparse
import math
import random
import sys
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple
from unittest.mock import patch

import flint
import numpy as np

import sigstats
from sigstats.sign_flips import law

PRECISION = 160
#: Errors are found to this share; a bound is never below 1e-16.
_CERTAIN = 1e-25
#: At and below this, bounds are 1, and not printed.
_TINY = 1e-280


class Drawn(NamedTuple):
    """A p-value, its bound, and the truth, as a ball."""

    pvalue: float
    bound: float
    truth: flint.arb
    about: str


def error(case: Drawn) -> float:
    """How far the p-value is from the truth, as a share of the larger of the two."""
    found = flint.arb(case.pvalue)
    larger = case.truth if case.truth > found else found
    share = abs(found - case.truth) / larger
    assert case.truth.rad() <= case.truth.mid() * _CERTAIN, case
    return float(share.mid())


def _ratio(part: Any, whole: Any) -> flint.arb:
    """A fraction of whole numbers as a ball."""
    return flint.arb(flint.fmpz(part)) / flint.arb(flint.fmpz(whole))


@lru_cache(maxsize=4096)
def _binomials(n: int) -> list[int]:
    """All binomial coefficients of n."""
    found = [1]
    for j in range(n):
        found.append(found[-1] * (n - j) // (j + 1))
    return found


def binomial(draw: random.Random) -> Drawn:
    """McNemar's test, exact and mid-p, of up to 2**53 pairs."""
    n = int(math.exp(draw.uniform(math.log(2), math.log(2.0**53))))
    spread = draw.choice((1, 3, 10, 37)) * math.sqrt(n) / 2
    a = min(max(round(n / 2 + draw.uniform(-1, 1) * spread), 0), n)
    way, method = draw.choice(("two-sided", "greater", "less")), draw.choice(("exact", "mid-p"))
    found = sigstats.mcnemar_test(a, n - a, alternative=way, method=method)
    k = {"two-sided": max(a, n - a), "greater": a, "less": n - a}[way]
    half = flint.arb(1) / 2
    # Of the two, the ball of the smaller tail is the narrow one.
    small = half.beta_lower(max(k, n - k + 1), min(k, n - k + 1), regularized=1) if k else flint.arb(0)
    p = small if 2 * k > n else 1 - small
    point = (
        flint.arb(n + 1).lgamma() - flint.arb(k + 1).lgamma() - flint.arb(n - k + 1).lgamma()
    ).exp() / 2 ** flint.arb(n)
    if way == "two-sided":
        p, point = (2 * p, 2 * point) if 2 * k > n else (flint.arb(1), point)
    truth = p - point / 2 if method == "mid-p" else p
    return Drawn(found.pvalue, found.error_bound or 0.0, truth, f"mcnemar {a} {n - a} {way} {method}")


def signs(draw: random.Random) -> Drawn:
    """Sign flips of whole numbers: whatever way sigstats takes, by frequencies, or bounded."""
    n = draw.choice((5, 20, 60))
    largest = draw.choice((3, 50, 10**4 if n < 60 else 200))
    values = [draw.randint(-largest, largest + largest // 3) for _ in range(n)]
    found = sigstats.sign_flip_test(values, alternative="greater")
    return Drawn(found.pvalue, found.error_bound or 0.0, _share_of_signs(values), f"sign flips {values}")


def frequencies(draw: random.Random) -> Drawn:
    """The same by frequencies, which sigstats takes where exact laws are longer than 20 megabits."""
    with patch.multiple(law, MOST_MULTIPLIED=0, MOST_SUMS=0, MOST_ENUMERATED=0):
        return signs(draw)


def bounded(draw: random.Random) -> Drawn:
    """The same by Selberg's polynomials, which sigstats takes where laws are too wide to be summed."""
    with patch.multiple(law, MOST_BITS=0, MOST_MULTIPLIED=0, MOST_SUMS=0, MOST_TERMS=0, MOST_ENUMERATED=0):
        return signs(draw)


def _share_of_signs(values: list[int]) -> Any:
    sizes = [abs(each) for each in values if each]
    counts = np.zeros(sum(sizes) + 1, dtype=np.int64)  # at most 2**60 in all
    counts[0] = 1
    for size in sizes:
        counts[size:] += counts[: len(counts) - size].copy()
    return _ratio(int(counts[sum(each for each in values if each > 0) :].sum()), 2 ** len(sizes))


def reals(draw: random.Random) -> Drawn:
    """Sign flips of real numbers, too many to be listed by sigstats: all sums, by two halves of whole numbers."""
    # Multiples of 2**-40 that share no larger fraction: sums are exact in doubles, and whole numbers here.
    whole = [draw.randrange(1, 2**40) * draw.choice((-1, 1, 1)) for _ in range(41)]
    found = sigstats.sign_flip_test([each * 2.0**-40 for each in whole], alternative="greater")
    sizes = np.abs(np.array(whole, dtype=np.int64))
    threshold = sum(each for each in whole if each > 0)
    one, other = (_all_sums(sizes[start::2]) for start in (0, 1))
    other.sort()
    one.sort()  # numbers in order are found sooner
    count = int((len(other) - np.searchsorted(other, threshold - one)).sum())
    return Drawn(found.pvalue, found.error_bound or 0.0, _ratio(count, 2**41), f"sign flips of reals {whole}")


def _all_sums(sizes: Any) -> Any:
    sums = np.zeros(1, dtype=np.int64)
    for each in sizes:
        sums = np.concatenate([sums, sums + each])
    return sums


def two_samples(draw: random.Random) -> Drawn:
    """Homogeneity of two, three or four classes, exactly and in bounds."""
    k = draw.choice((2, 2, 3, 4))
    size = {2: draw.choice((30, 3000)), 3: 120, 4: 40}[k]
    weights = [draw.random() + 0.05 for _ in range(k)]
    other = (
        [each * draw.uniform(0.5, 1.5) for each in weights]
        if draw.random() < 0.7
        else [draw.random() for _ in range(k)]
    )
    samples = [_counts(draw, draw.randint(1, size), each) for each in (weights, other)]
    method = draw.choice(("exact", "bounds"))
    try:
        found = sigstats.homogeneity_test(*samples, method=method)
    except ValueError:  # all in one class
        return Drawn(1.0, 0.0, flint.arb(1), "")
    totals, n = [a + b for a, b in zip(*samples, strict=True)], sum(samples[0])
    tables = [_binomials(each) for each in totals]
    observed = math.prod(table[each] for table, each in zip(tables, samples[0], strict=True))
    weight = everything = 0
    for head in product(*(range(min(t, n) + 1) for t in totals[:-1])):
        last = n - sum(head)
        if 0 <= last <= totals[-1]:
            ways = math.prod([table[each] for table, each in zip(tables, (*head, last), strict=True)])
            everything += ways
            weight += ways if ways <= observed else 0
    return Drawn(found.pvalue, found.error_bound or 0.0, _ratio(weight, everything), f"{method} {samples}")


def _counts(draw: random.Random, n: int, weights: list[float]) -> list[int]:
    drawn = draw.choices(range(len(weights)), weights=weights, k=n)
    return [drawn.count(j) for j in range(len(weights))]


def fit(draw: random.Random) -> Drawn:
    """Goodness of fit of two or three classes whose probabilities are twentieths."""
    k = draw.choice((2, 3))
    n = draw.randint(1, {2: 2000, 3: 90}[k])
    cuts = sorted(draw.sample(range(1, 20), k - 1))
    shares = [b - a for a, b in zip([0, *cuts], [*cuts, 20], strict=True)]
    counts = _counts(draw, n, [share * draw.uniform(0.3, 1.7) for share in shares])
    found = sigstats.goodness_of_fit_test(counts, [share / 20 for share in shares])
    powers = [[share**each for each in range(n + 1)] for share in shares]

    def ways(x: tuple[int, ...]) -> int:
        left, found = n, 1
        for power, each in zip(powers, x, strict=True):
            found *= _binomials(left)[each] * power[each] if left > each else power[each]
            left -= each
        return found

    observed = ways(tuple(counts))
    heads = ((*head, n - sum(head)) for head in product(range(n + 1), repeat=k - 1) if sum(head) <= n)
    weight = sum(each for each in map(ways, heads) if each <= observed)
    return Drawn(found.pvalue, found.error_bound or 0.0, _ratio(weight, 20**n), f"fit {counts} {shares}")


def number_correct(draw: random.Random) -> Drawn:
    """Efficiency of up to six classes and some thousand objects."""
    k = draw.randint(2, 6)
    n = int(math.exp(draw.uniform(math.log(draw.choice((5, 1000))), math.log(3000))))
    weights = [draw.random() + 0.02 for _ in range(k)]
    rows, columns = (_counts(draw, n, weights) for _ in range(2))
    table = np.zeros((k, k), dtype=int)
    better = draw.choice((0.0, 0.03, 0.1, 0.5))
    truth = [j for j, each in enumerate(rows) for _ in range(each)]
    names = [j for j, each in enumerate(columns) for _ in range(each)]
    draw.shuffle(names)
    for place in range(n):
        if draw.random() < better and truth[place] in names[place:]:
            other = names.index(truth[place], place)
            names[place], names[other] = names[other], names[place]
    np.add.at(table, (truth, names), 1)
    found = sigstats.efficiency_test(table, method="exact")
    return Drawn(
        found.pvalue, found.error_bound or 0.0, _matches(rows, columns, int(np.trace(table))), f"{table.tolist()}"
    )


def _matches(rows: list[int], columns: list[int], correct: int) -> flint.arb:
    """P(T >= correct), by factorial moments (Riordan 1958, chapter 8)."""
    n, rook = sum(rows), flint.fmpz_poly([1])
    for r, c in zip(rows, columns, strict=True):
        ways = [flint.fmpz(1)]
        for j in range(min(r, c)):
            ways.append(ways[-1] * (r - j) * (c - j) // (j + 1))
        rook *= flint.fmpz_poly(ways)
    if correct == 0:
        return flint.arb(1)
    # The sum of (-1)**(j - correct) binom(j - 1, correct - 1) rook[j] (n - j)!, as Horner's rule has it.
    total, binomial = flint.fmpz(0), flint.fmpz(1)
    for j in range(correct, rook.degree() + 1):
        total = total * (n - j + 1) + (-1) ** (j - correct) * binomial * rook[j]
        binomial = binomial * j // (j - correct + 1)
    return _ratio(total * math.factorial(n - rook.degree()), math.factorial(n))


def stopped(draw: random.Random) -> Drawn:
    """Gandy's rule: the share of paths that end as early, counted."""
    alpha, maximum, risk = draw.choice((0.01, 0.05, 0.2)), draw.choice((60, 250, 600)), draw.choice((1e-3, 0.1))
    rule = sigstats.GandyRule(alpha=alpha, maximum=maximum, risk=risk, reject_at=alpha / draw.choice((1, 7)))
    chance = draw.choice((0.0, 0.02, draw.random() * 2 * alpha, draw.random()))
    found = rule.test([draw.random() < chance for _ in range(maximum)])
    assert found is not None
    n, s = found.n_resamples, found.exceedances
    bounds = rule.boundaries(n)
    paths, low, high = {0: 1}, flint.fmpq(0), flint.fmpq(0)
    for m in range(1, n + 1):
        grown: dict[int, int] = {}
        for at, count in paths.items():
            for up in (at, at + 1):
                grown[up] = grown.get(up, 0) + count
        lower, upper = int(bounds.lower[m - 1]), int(bounds.upper[m - 1])
        for at in [at for at in grown if at <= lower or at >= upper]:
            share = flint.fmpq(grown.pop(at), math.comb(m, at) * (m + 1))
            low, high = (low + share, high) if at <= lower else (low, high + share if m < n else high)
        paths = grown
    inside = sum((flint.fmpq(count, math.comb(n, at) * (n + 1)) for at, count in paths.items() if at <= s), low)
    truth = flint.arb({"reject": low, "keep": 1 - high, "undecided": inside}[found.verdict])
    return Drawn(found.pvalue, found.error_bound or 0.0, truth, f"{rule} {n} {s}")


def looked_at(draw: random.Random) -> Drawn:
    """The e-value of right and wrong, of up to 10**14 rows."""
    n = int(math.exp(draw.uniform(0, math.log(1e14))))
    a = min(max(round((n + draw.uniform(-1, 1) * draw.choice((3, 10, 30)) * math.sqrt(n)) / 2), 0), n)
    found, half = sigstats.anytime_test([1, -1], counts=[a, n - a]), flint.arb(1) / 2
    logarithm = (a + half).lgamma() + (n - a + half).lgamma() - flint.arb(n + 1).lgamma() + n * flint.arb(2).log()
    truth = flint.arb.pi() / logarithm.exp()
    return Drawn(found.pvalue, found.error_bound or 0.0, truth if truth < 1 else flint.arb(1), f"anytime {a} {n - a}")


#: The families, and how many of a hundred cases each has: those that cost much to check are fewer.
FAMILIES: dict[str, tuple[Callable[[random.Random], Drawn], int]] = {
    "binomial": (binomial, 22),
    "anytime": (looked_at, 8),
    "sign flips, whole": (signs, 15),
    "frequencies": (frequencies, 10),
    "two samples": (two_samples, 22),
    "goodness of fit": (fit, 14),
    "number correct": (number_correct, 6),
    "Gandy's rule": (stopped, 3),
}


def main() -> int:
    """Draw the cases and print a line a family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=int)
    parser.add_argument("--seed", type=int, default=0)
    families = {**FAMILIES, "Selberg": (bounded, 0), "sign flips, real": (reals, 0)}
    parser.add_argument("--only", choices=families, help="all cases of one family")
    options = parser.parse_args()
    flint.ctx.prec = PRECISION
    wrong = 0
    if options.only:
        families = {options.only: (families[options.only][0], 100)}
    for name, (family, share) in families.items():
        draw = random.Random(f"{options.seed} {name}")
        found = [family(draw) for _ in range(max(options.cases * share // 100, 3))]
        errors = [error(each) for each in found]
        outside = [each for each, e in zip(found, errors, strict=True) if e > each.bound]
        normal = [(e, each.bound) for each, e in zip(found, errors, strict=True) if each.pvalue > _TINY]
        largest, bound = (max(pair[i] for pair in normal) for i in (0, 1))
        used = max(e / bound if bound else 0.0 for e, bound in normal)
        print(f"{name:20}{len(found):>8}{largest:>12.1e}{bound:>12.1e}{used:>9.3f}{len(outside):>4}", flush=True)
        print(
            "\n".join(f"  outside: {each.about}: {each.pvalue!r}, bound {each.bound}" for each in outside[:5]), end=""
        )
        wrong += len(outside)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
