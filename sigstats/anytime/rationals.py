r"""E-values as fractions, for who cannot take a rounded one.

The wealth is a polynomial in the stake, the sine of a uniform angle, of which every moment is known: the even ones are
rational, the odd ones rational multiples of :math:`2/\pi`. The latter cancel in a two-sided e-value without a margin.

When not to use: thousands of rows that differ, with a margin (the fractions grow with the square of their number).
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any


def exact_evalue(
    differences: Sequence[Fraction | int], counts: Sequence[int], *, margin: Fraction | int = 0, alternative: str
) -> Fraction:
    """The e-value of rows that are looked at once, of differences from -1 to 1.

    It is itself where it is rational (two-sided, margin 0, differences in pairs of opposite signs or 0), else a
    fraction below it by less than a part of 10**30, which is an e-value as well.

    >>> exact_evalue([1, -1], [9, 2], margin=0, alternative="two-sided")
    Fraction(663, 256)
    """
    signs = [sign for sign, other in ((1, "less"), (-1, "greater")) if alternative != other]
    parts = [_parts([sign * each for each in differences], counts, sign * Fraction(margin)) for sign in signs]
    even, odd = (sum(column, Fraction()) / len(signs) for column in zip(*parts, strict=True))
    return even + odd * _two_by_pi(odd > 0, 8 * sum(counts) + 256) if odd else even


def _parts(values: Sequence[Fraction | int], times: Sequence[int], mean: Fraction) -> tuple[Fraction, Fraction]:
    """The sums of the even terms, and of the odd ones in units of 2 / pi."""
    from flint import fmpq, fmpq_poly

    wealth = fmpq_poly([1])
    for value, often in zip(values, times, strict=True):
        excess = Fraction(value + 1) / (mean + 1) - 1
        wealth *= fmpq_poly([1, fmpq(excess.numerator, excess.denominator)]) ** often
    sums, moments = [fmpq(0), fmpq(0)], [fmpq(1), fmpq(1)]
    for power, coefficient in enumerate(wealth.coeffs()):
        if power > 1:
            moments[power % 2] *= fmpq(power - 1, power)
        sums[power % 2] += coefficient * moments[power % 2]
    even, odd = (Fraction(int(each.p), int(each.q)) for each in sums)
    return even, odd


def _two_by_pi(below: bool, bits: int) -> Fraction:
    """2 / pi, rounded to so many bits, down or up."""
    from flint import arb, ctx

    with ctx.workprec(bits + 64):
        whole = (2 / arb.pi() * arb(2) ** bits).floor().unique_fmpz()
    assert whole is not None
    return Fraction(int(whole) + (not below), 2**bits)


def as_written(value: Any) -> Fraction:
    """The decimal fraction by which a number is written.

    >>> as_written(0.02), as_written(Fraction(1, 3))
    (Fraction(1, 50), Fraction(1, 3))
    """
    return Fraction(value) if isinstance(value, int | Fraction) else Fraction(repr(float(value)))
