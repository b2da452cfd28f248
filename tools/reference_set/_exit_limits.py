"""The interval of p after the end of a sequential rule: where a tail of the ordered ends is half of 1 - confidence."""

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

import flint

from ._cases import ball
from ._exits import Ends
from .clopper_pearson import between

#: Values of whole numbers are cut off below these bits; limits are found and held to these.
_VALUE, _STEP, _WIDTH = 500, 230, 210
_HALVED, _SECANTS = 16, 12

End = tuple[int, int]


class Tail(NamedTuple):
    """These ends, or all others."""

    ends: list[End]
    others: bool

    def of(self, chance: Any) -> Any:
        """The chance of this tail from that of the ends that it names."""
        return 1 - chance if self.others else chance


def limits(paths: Ends, shares: Ends, size: int, at: End, confidence: Fraction) -> tuple[Any, Any]:
    """Both limits, each by counted paths and by chances passed on in balls."""
    share = (1 - confidence) / 2
    by_paths = _counts(paths, size)

    def limit(tail: Tail, where: int) -> tuple[Any, Any]:
        if tail.of(_in_whole_numbers(by_paths, tail.ends, Fraction(where))) >= share:
            return where, where
        return (
            _crossing(lambda p: tail.of(_in_whole_numbers(by_paths, tail.ends, p)) - share),
            _crossing(lambda p: tail.of(_passed_on(shares, size, tail.ends, p)) - ball(share)),
        )

    above, below = _tails(paths, size, at)
    return limit(above, 0), limit(below, 1)


def _tails(found: Ends, size: int, at: End) -> tuple[Tail, Tail]:
    """All ends from this one on, and all up to it: first the sooner below, then inside, then the later above."""
    low, high = ([end[:2] for end in ends] for ends in (found.low, found.high))
    if at in low:
        place = low.index(at)
        return Tail(low[:place], True), Tail(low[: place + 1], False)
    if at in high:
        place = high.index(at)
        return Tail(high[: place + 1], False), Tail(high[:place], True)
    inside = [(size, s) for s in sorted(found.inside)]
    place = inside.index(at)
    return Tail([*high, *inside[place:]], False), Tail([*low, *inside[: place + 1]], False)


def _counts(found: Ends, size: int) -> dict[End, int]:
    """How many paths go to each end, from their shares."""
    inside = [(size, s, share) for s, share in found.inside.items()]
    return {(n, s): int(share * (n + 1) * comb(n, s)) for n, s, share in (*found.low, *found.high, *inside)}


def _in_whole_numbers(counts: dict[End, int], ends: list[End], p: Fraction) -> Fraction:
    """The chance of these ends at p = a / b: a count of b**longest, cut off below 2**-500."""
    if not ends:
        return Fraction(0)
    a, b = p.numerator, p.denominator
    longest = max(n for n, _ in ends)
    total = sum(counts[n, s] * a**s * (b - a) ** (n - s) * b ** (longest - n) for n, s in ends)
    return Fraction((total << _VALUE) // b**longest, 1 << _VALUE)


def _passed_on(found: Ends, size: int, ends: list[End], p: Fraction) -> Any:
    """The same in balls: what is inside is passed on from replicate to replicate, and leaves at an end."""
    up, stops = ball(p), {end[:2] for end in (*found.low, *found.high)}
    wanted, now, total = set(ends), {0: flint.arb(1)}, flint.arb(0)
    for n in range(1, max((m for m, _ in ends), default=0) + 1):
        after: dict[int, Any] = {}
        for s, chance in now.items():
            risen = chance * up
            after[s] = after.get(s, 0) + chance - risen
            after[s + 1] = after.get(s + 1, 0) + risen
        now = after
        for s in [s for s in now if (n, s) in stops or n == size]:
            chance = now.pop(s)
            total += chance if (n, s) in wanted else 0
    return total


def _crossing(excess: Callable[[Fraction], Any]) -> Any:
    """Where a monotone function is 0: halved, then secants, then held between two numbers of unlike signs."""
    low, high = Fraction(0), Fraction(1)
    rising = excess(high) > 0
    for _ in range(_HALVED):
        middle = (low + high) / 2
        low, high = (low, middle) if (excess(middle) > 0) == rising else (middle, high)
    at, now = (low, high), (_middle(excess(low)), _middle(excess(high)))
    for _ in range(_SECANTS):
        if now[0] == now[1]:
            break
        new = at[1] - now[1] * (at[1] - at[0]) / (now[1] - now[0])
        new = Fraction(round(min(max(new, low), high) * 2**_STEP), 2**_STEP)
        at, now = (at[1], new), (now[1], _middle(excess(new)))
    half = Fraction(1, 2**_WIDTH)
    signs = [excess(at[1] - half), excess(at[1] + half)]
    if not (signs[0] < 0 < signs[1] if rising else signs[1] < 0 < signs[0]):
        raise ValueError(f"no change of sign about {float(at[1])}")
    return between((at[1] - half, at[1] + half))


def _middle(value: Any) -> Fraction:
    """The middle of a ball, or a fraction as it is."""
    if isinstance(value, Fraction):
        return value
    mantissa, exponent = value.mid().man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)
