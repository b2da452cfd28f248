r"""E-values as fractions, for few rows.

The wealth is a polynomial in the stake, the sine of a uniform angle, of which every moment is known: the even ones are
rational, the odd ones rational multiples of :math:`2/\pi`. The latter cancel in a two-sided e-value without a margin.
"""

from fractions import Fraction


def exact_evalue(differences, counts, *, margin=0, alternative):
    """The e-value of rows that are looked at once, of differences from -1 to 1.

    It is exact if it is rational (two-sided, margin 0, differences in pairs of opposite signs or 0), otherwise a
    fraction below it by less than a part of 10**30, which is an e-value as well.
    """
    signs = [sign for sign, other in ((1, "less"), (-1, "greater")) if alternative != other]
    parts = [_parts([sign * fraction for fraction in differences], counts, sign * Fraction(margin)) for sign in signs]
    even, odd = (sum(column, Fraction()) / len(signs) for column in zip(*parts, strict=True))
    return even + odd * _two_by_pi(odd > 0, 8 * sum(counts) + 256) if odd else even


def _parts(values, times, mean):
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
    even, odd = (Fraction(int(total.p), int(total.q)) for total in sums)
    return even, odd


def _two_by_pi(below, bits):
    """2 / pi, rounded down or up to this many bits."""
    from flint import arb, ctx

    with ctx.workprec(bits + 64):
        whole = (2 / arb.pi() * arb(2) ** bits).floor().unique_fmpz()
    return Fraction(int(whole) + (not below), 2**bits)
