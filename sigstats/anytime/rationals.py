r"""E-values as fractions, for few rows.

The wealth is a polynomial in the stake, the sine of a uniform angle, of which every moment is known: the even ones are
rational, the odd ones rational multiples of :math:`2/\pi`. The latter cancel in a two-sided e-value without a margin.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .._common.validation import as_choice, as_count, refuse

#: The largest number of rows that is multiplied out.
MOST_ROWS = 4000


def exact_evalue(
    differences: Sequence[Any],
    counts: Sequence[int],
    *,
    limit: Any = 1,
    margin: Any = 0,
    alternative: str = "two-sided",
) -> Fraction:
    """The e-value of `sigstats.anytime_test` of rows that are looked at once, as a fraction.

    Parameters
    ----------
    differences : sequence of int or Fraction
    counts : sequence of int
        How often each occurred, 4000 in all at most.
    limit, margin : int or Fraction
    alternative : {"two-sided", "greater", "less"}

    Returns
    -------
    Fraction
        The e-value itself where it is rational (two-sided, margin 0, differences in pairs of opposite signs or 0), else
        a fraction below it by less than a part of 10**30, which is an e-value as well.

    Raises
    ------
    ValueError
        If lengths differ, a difference is beyond `limit`, or there are too many rows.

    Examples
    --------
    >>> exact_evalue([1, -1, 0], [9, 1, 40])
    Fraction(2431, 256)
    """
    way = as_choice(alternative, "alternative", ("two-sided", "greater", "less"))
    if len(differences) != len(counts):
        raise refuse("counts (length)", len(counts), f"{len(differences)}, one for each difference")
    values = [Fraction(each) for each in differences]
    times = [as_count(each, "counts") for each in counts]
    if sum(times) > MOST_ROWS:
        raise refuse("counts (total)", sum(times), f"at most {MOST_ROWS}")
    most, null = Fraction(limit), Fraction(margin)
    if not -most < null < most:
        raise refuse("margin", margin, "a number between -limit and limit")
    if any(abs(each) > most for each in values):
        raise refuse("differences", max(values, key=abs), f"at most limit = {most} in size")
    signs = [sign for sign, other in ((1, "less"), (-1, "greater")) if way != other]
    parts = [_parts([sign * each for each in values], times, -most, sign * null) for sign in signs]
    even, odd = (sum(column, Fraction()) / len(signs) for column in zip(*parts, strict=True))
    return even + odd * _two_by_pi(odd > 0, 8 * sum(times) + 256) if odd else even


def _parts(values: list[Fraction], times: list[int], least: Fraction, mean: Fraction) -> tuple[Fraction, Fraction]:
    """The sums of the even terms, and of the odd ones in units of 2 / pi."""
    from flint import fmpq, fmpq_poly

    wealth = fmpq_poly([1])
    for value, often in zip(values, times, strict=True):
        excess = (value - least) / (mean - least) - 1
        wealth *= fmpq_poly([1, fmpq(excess.numerator, excess.denominator)]) ** often
    sums, moments = [fmpq(0), fmpq(0)], [fmpq(1), fmpq(1)]
    for power, coefficient in enumerate(wealth.coeffs()):
        if power > 1:
            moments[power % 2] *= fmpq(power - 1, power)
        sums[power % 2] += coefficient * moments[power % 2]
    return tuple(Fraction(int(each.p), int(each.q)) for each in sums)  # type: ignore[return-value]  # two


def _two_by_pi(below: bool, bits: int) -> Fraction:
    """2 / pi, rounded to so many bits, down or up."""
    from flint import arb, ctx

    with ctx.workprec(bits + 64):
        whole = int(str((2 / arb.pi() * arb(2) ** bits).floor().unique_fmpz()))
    return Fraction(whole if below else whole + 1, 2**bits)
