"""What the programs of the reference set share: a case, its two values, and the file that is written.

None of these programs imports `sigstats`. Each value is found by two methods that have nothing in common, and written
only if they agree: a fraction of whole numbers, and a ball (python-flint) or another fraction.
"""

import json
import math
from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import flint

#: Significant digits that are written, and those to which a ball must be known.
DIGITS, CERTAIN = 40, 45
flint.ctx.prec = 600


class Case(NamedTuple):
    """The arguments of a test, and its values by both methods."""

    difficulty: str
    arguments: dict[str, Any]
    values: dict[str, tuple[Any, Any]]
    note: str = ""


def ball(value: Fraction | int) -> flint.arb:
    """A fraction as a ball."""
    exact = Fraction(value)
    return flint.arb(flint.fmpz(exact.numerator)) / flint.arb(flint.fmpz(exact.denominator))


def agree(first: Any, second: Any) -> bool:
    """Whether two values of one number are the same: equal fractions, or balls that meet and are small."""
    if isinstance(first, Fraction | int) and isinstance(second, Fraction | int):
        return Fraction(first) == Fraction(second)
    balls = [value if isinstance(value, flint.arb) else ball(value) for value in (first, second)]
    limit = flint.arb(10) ** -CERTAIN
    small = all(value.rad() <= abs(value.mid()) * limit or value == 0 for value in balls)
    return small and balls[0].overlaps(balls[1])


def written(value: Any) -> dict[str, str]:
    """A value as its digits, and as a fraction where it is one that is not too long."""
    if isinstance(value, flint.arb):
        mantissa = value.mid().str(DIGITS + 5, radius=False)
        return {"digits": str(_rounded(Decimal(mantissa)))}
    exact = Fraction(value)
    context = Context(prec=DIGITS + 10, rounding=ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9)
    digits = _rounded(context.divide(Decimal(exact.numerator), Decimal(exact.denominator)))
    text = f"{exact.numerator}/{exact.denominator}" if exact.denominator.bit_length() < 400 else ""
    return {"digits": str(digits), **({"fraction": text} if text else {})}


def _rounded(value: Decimal) -> Decimal:
    return (
        Context(prec=DIGITS, Emin=-(10**9), Emax=10**9)
        .plus(value)
        .normalize(Context(prec=DIGITS, Emin=-(10**9), Emax=10**9))
    )


def write(folder: Path, test: str, source: str, methods: tuple[str, str], cases: Iterable[Case]) -> int:
    """Write the cases of a test; ValueError where the two methods differ."""
    found = []
    for number, case in enumerate(cases, 1):
        values = {}
        for name, (first, second) in case.values.items():
            if not agree(first, second):
                raise ValueError(f"{test} {case.arguments}: {name}: {first} by the one method, {second} by the other")
            values[name] = written(first)
        found.append(
            {
                "case": f"{test}-{number:03d}",
                "difficulty": case.difficulty,
                "arguments": case.arguments,
                "values": values,
                **({"note": case.note} if case.note else {}),
            }
        )
    if len(found) < 30:
        raise ValueError(f"{test}: {len(found)} cases; expected 30 or more")
    head = {"schema": 1, "test": test, "source": source, "methods": list(methods)}
    lines = [f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}," for name, value in head.items()]
    each = ",\n".join(f"  {json.dumps(case, ensure_ascii=False)}" for case in found)  # a case a line
    text = "\n".join(["{", *lines, ' "cases": [', each, " ]", "}", ""])
    (folder / f"{test}.json").write_text(text, encoding="utf-8")
    return len(found)


def upper_tail(k: int, n: int) -> int:
    """The sum of the binomial coefficients of n from k on."""
    term, total = math.comb(n, k), 0
    for i in range(k, n + 1):
        total += term
        term = term * (n - i) // (i + 1)
    return total


def tail_in_balls(k: int, n: int) -> flint.arb:
    """P(X >= k) for X binomial (n, 1/2): the first term by gamma functions, the rest by ratios of terms."""
    if k <= 0:
        return flint.arb(1)
    if 2 * k <= n:
        return 1 - tail_in_balls(n - k + 1, n)
    one, two = flint.arb(1), flint.arb(2)
    first = flint.arb(n + 1).gamma() / flint.arb(k + 1).gamma() / flint.arb(n - k + 1).gamma() / two**n
    ratio, total = one, one
    for i in range(k, n):
        ratio = ratio * (n - i) / (i + 1)
        total += ratio
    return first * total


def law_of_sums(magnitudes: Iterable[Any]) -> dict[Any, int]:
    """How many of all choices of signs give each sum of the magnitudes with a positive sign."""
    law: dict[Any, int] = {0: 1}
    for each in magnitudes:
        grown: dict[Any, int] = dict(law)
        for total, count in law.items():
            grown[total + each] = grown.get(total + each, 0) + count
        law = grown
    return law


def sums_one_by_one(magnitudes: list[Any]) -> dict[Any, int]:
    """The same by listing every choice of signs."""
    law: dict[Any, int] = {}
    for signs in range(2 ** len(magnitudes)):
        total = sum(each for place, each in enumerate(magnitudes) if signs >> place & 1)
        law[total] = law.get(total, 0) + 1
    return law


def tail_of_law(law: dict[Any, int], positive: Any, total: Any, alternative: str) -> Fraction:
    """The p-value of a sum of positive magnitudes, given the law under random signs."""
    all_ = sum(law.values())
    if alternative == "two-sided":
        reach = abs(2 * positive - total)
        return Fraction(sum(count for s, count in law.items() if abs(2 * s - total) >= reach), all_)
    observed = positive if alternative == "greater" else total - positive
    return Fraction(sum(count for s, count in law.items() if s >= observed), all_)


ALTERNATIVES = ("two-sided", "greater", "less")
Program = Callable[[], Iterable[Case]]
