"""The distribution of the number correct against enumeration, whole numbers, the literature and itself."""

import math
import threading
from collections import Counter
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from itertools import accumulate, permutations

import numpy as np
import pytest
import scipy.stats
from flint import fmpq, fmpz, fmpz_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.fixed_margins import rook_polynomial, saddle_point, two_dominant_classes
from sigstats.fixed_margins.distribution import number_correct
from sigstats.fixed_margins.rook_factor import DIGITS, factor, log_factorial, log_series, log_value
from sigstats.fixed_margins.two_dominant_classes import hypergeometric_tail
from sigstats.fixed_margins.upper_tail import correct_range, upper_tail

from ...examples import examples, thorough


def enumerated(rows, columns):
    """P(T = t) over all distinct ways of dealing the names, in rational arithmetic."""
    truth = [i for i, r in enumerate(rows) for _ in range(r)]
    names = [i for i, c in enumerate(columns) for _ in range(c)]
    counts = Counter(sum(a == b for a, b in zip(truth, deal, strict=True)) for deal in permutations(names))
    return {t: Fraction(n, math.factorial(len(truth))) for t, n in counts.items()}


def margins(draw, total, k):
    cuts = sorted(draw(st.lists(st.integers(0, total), min_size=k - 1, max_size=k - 1)))
    return np.diff([0, *cuts, total]).tolist()


@st.composite
def tables(draw, most=60, classes=6):
    total, k = draw(st.integers(1, most)), draw(st.integers(2, classes))
    return margins(draw, total, k), margins(draw, total, k)


def whole_numbers(rows, columns):
    """Tails and point counts of all N! matchings, in integers."""
    classes = Counter((r, c) for r, c in zip(rows, columns, strict=True) if r and c)
    counts = rook_polynomial.counts(sum(rows), classes)
    return list(accumulate(counts[::-1]))[::-1], counts


@settings(deadline=None, derandomize=True, max_examples=examples(150))
@given(tables(most=7, classes=4))
def test_equals_full_enumeration(table):
    rows, columns = table
    truth = enumerated(rows, columns)
    distribution = number_correct(rows, columns)
    assert sum(truth.values()) == 1
    least, most = correct_range(np.array(rows), np.array(columns))
    assert (least, most) == (min(truth), max(truth))
    for t, p in zip(distribution.numbers, distribution.pmf, strict=True):
        assert p == pytest.approx(float(truth.get(int(t), 0)), rel=1e-13)
    for t in range(least, most + 1):
        exact = sum(p for number, p in truth.items() if number >= t)
        tail = upper_tail(rows, columns, t)
        assert tail.pvalue == pytest.approx(float(exact), rel=1e-13)
        assert tail.mid_pvalue == pytest.approx(float(exact - truth.get(t, 0) / 2), rel=1e-13)


def test_riordans_card_matchings():
    # OEIS A059068, four suits of two.
    assert [n // 2**4 for n in rook_polynomial.counts(8, {(2, 2): 4})][:3] == [297, 672, 736]
    # OEIS A059059, two suits of three: an even number of cards matches, and the counts are squared binomials.
    assert rook_polynomial.counts(6, {(3, 3): 2}) == [36, 0, 324, 0, 324, 0, 36]
    # One card of each suit: the derangement numbers 44, 45, 20, 10, 0, 1.
    assert rook_polynomial.counts(5, {(1, 1): 5}) == [44, 45, 20, 10, 0, 1]


def test_figures_of_the_paper():
    # Nyssen, section 3.2; recomputed where he prints a 30,000-replicate estimate (7.7e-4 for 1100 right).
    assert upper_tail([5] * 5, [5] * 5, 10).pvalue == pytest.approx(0.019530237198, rel=1e-10)
    assert upper_tail([1000] * 10, [1000] * 10, 1050).pvalue == pytest.approx(0.05024637019785, rel=1e-12)
    assert upper_tail([1000] * 10, [1000] * 10, 1100).pvalue == pytest.approx(5.302561019e-4, rel=1e-9)
    # Figure 2, uniform tables: he prints 0.61, 0.58, 0.57; 0.59, 0.55 (recomputed 0.57); 0.58.
    for k, n, p in ((3, 1, 0.6131), (3, 2, 0.5840), (3, 3, 0.5699), (4, 1, 0.5893), (4, 2, 0.5656), (5, 1, 0.5760)):
        assert round(upper_tail([k * n] * k, [k * n] * k, k * n).pvalue, 4) == p


@pytest.mark.long
def test_far_below_the_smallest_double():
    # The last 901 coefficients of the rook polynomial, in whole numbers, are the truth: -7825.88294763085286...
    with localcontext(DIGITS):
        exact = rook_polynomial.tail_from_above(10_000, {(1000, 1000): 10}, 9100).upper
    tail = upper_tail([1000] * 10, [1000] * 10, 9100)
    assert tail.pvalue == 0.0
    assert tail.log10_pvalue == pytest.approx(float(exact) / math.log(10), rel=1e-14)
    assert tail.log10_pvalue == pytest.approx(-7825.882947630853, abs=1e-9)
    # All right: the one deal out of N! / (1000!)^10, a closed form.
    everything = upper_tail([1000] * 10, [1000] * 10, 10_000)
    closed = (10 * math.lgamma(1001) - math.lgamma(10_001)) / math.log(10)
    assert everything.log10_pvalue == pytest.approx(closed, rel=1e-13)


SHAPES = {
    "equal": ([120] * 10, [120] * 10),
    "many small classes": ([3] * 400, [3] * 400),
    "unequal": ([600, 300, 150, 150], [300, 300, 500, 100]),
    "rows without columns": ([500, 500, 200, 0], [400, 450, 0, 350]),
    "diagonal in a minority": ([900, 200, 100], [100, 200, 900]),
    "one dominant class": ([1100, 60, 40], [1050, 90, 60]),
    "almost two classes": ([700, 480, 20], [600, 560, 40]),
}


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
def test_integral_equals_whole_numbers(shape):
    rows, columns = SHAPES[shape]
    classes = Counter((r, c) for r, c in zip(rows, columns, strict=True) if r and c)
    total = sum(rows)
    tails, counts = whole_numbers(rows, columns)
    mean = sum(r * c for r, c in classes.elements()) / total
    answered = 0
    for t in range(1, len(tails), 37):
        with localcontext(DIGITS):
            found = saddle_point.tail(total, classes, t)
            if found is None:
                continue
            answered += 1
            exact = rook_polynomial.log_ratio(tails[t], tails[0])
            assert abs(found.upper - exact) < 1e-12
            if t > mean:
                assert abs(found.point - rook_polynomial.log_ratio(counts[t], tails[0])) < 1e-12
    # The integral knows where it cannot be trusted, and is trusted wherever it is needed.
    assert (answered == 0) == (shape == "one dominant class")


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
def test_public_tail_above_the_small_sizes_equals_whole_numbers(shape):
    rows, columns = SHAPES[shape]
    tails, counts = whole_numbers(rows, columns)
    least, most = correct_range(np.array(rows), np.array(columns))
    for t in np.linspace(least, most, 12).astype(int):
        tail = upper_tail(rows, columns, t)
        exact = Fraction(tails[t], tails[0])
        mid = exact - Fraction(counts[t], 2 * tails[0])
        assert tail.pvalue == pytest.approx(float(exact), rel=1e-12, abs=0)
        assert tail.mid_pvalue == pytest.approx(float(mid), rel=1e-12, abs=0)


@pytest.mark.long
@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([700, 285, 15], [690, 300, 10]) if thorough() else ([350, 142, 8], [345, 150, 5]),
        ([600, 400, 0], [580, 390, 30]),  # names of a class that has no objects
        ([400, 95, 3, 2], [395, 97, 3, 5]) if thorough() else ([160, 35, 3, 2], [155, 37, 3, 5]),
        ([970, 20, 5, 5], [965, 25, 5, 5]) if thorough() else ([485, 10, 3, 2], [482, 13, 3, 2]),
        ([30, 950, 20], [940, 30, 30]),
    ],
)
def test_two_main_classes_equal_whole_numbers(rows, columns):
    classes = Counter((r, c) for r, c in zip(rows, columns, strict=True) if r and c)
    tails, counts = whole_numbers(rows, columns)
    mean = sum(r * c for r, c in classes.elements()) / sum(rows)
    least, most = correct_range(np.array(rows), np.array(columns))
    for t in (least + 2, round(mean), round(mean) + 9, (round(mean) + most) // 2, most - 1, most):
        with localcontext(DIGITS):
            found = two_dominant_classes.tail(sum(rows), classes, t)
            assert found is not None
            assert abs(found.upper - rook_polynomial.log_ratio(tails[t], tails[0])) < 1e-11
            if t >= mean:
                exact = rook_polynomial.log_ratio(counts[t], tails[0])
                assert found.point == exact if counts[t] == 0 else abs(found.point - exact) < 1e-11


def test_steps_of_two_are_recognised():
    # The integral leaves out the part of the distribution that alternates; it answers only where there is none.
    found = 0
    for rest in (0, 3, 8, 60):
        rows, columns = [760 - rest, 440, rest], [720, 480 - rest, rest]
        classes = Counter((r, c) for r, c in zip(rows, columns, strict=True) if r and c)
        tails, counts = whole_numbers(rows, columns)
        with localcontext(DIGITS):
            answer = saddle_point.tail(1200, classes, 700)
            found += answer is not None
            if answer is not None:
                assert abs(answer.point - rook_polynomial.log_ratio(counts[700], tails[0])) < 1e-12
    assert found == 1


def test_large_tables_of_two_main_classes_by_another_way():
    # 50,000 answers yes or no, a few invalid: the integral refuses, and whole numbers would take minutes. With no
    # invalid object, the number correct is hypergeometric given where the invalid names fell, by SciPy.
    rows, columns, t = [45_000, 5_000, 0], [45_100, 4_880, 20], 41_150
    yes = scipy.stats.hypergeom(50_000, 45_000, 20)
    total = 0.0
    for taken in range(21):
        # T = 2 n11 + 49,980 - (45,000 - taken) - 45,100
        least = -(-(t - 49_980 + 45_000 - taken + 45_100) // 2)
        total += yes.pmf(taken) * scipy.stats.hypergeom(49_980, 45_000 - taken, 45_100).sf(least - 1)
    assert upper_tail(rows, columns, t).pvalue == pytest.approx(total, rel=1e-8)


@pytest.mark.long
def test_thousands_of_objects_equal_whole_numbers():
    unit = 100 if thorough() else 25
    rows, columns = ([unit * n for n in total] for total in ([40, 30, 20, 9, 1], [35, 35, 15, 15, 0]))
    classes = Counter(zip(rows[:4], columns[:4], strict=True))
    with localcontext(DIGITS):
        exact = rook_polynomial.tail(sum(rows), classes, 31 * unit)
        found = saddle_point.tail(sum(rows), classes, 31 * unit)
        assert found is not None
        assert abs(found.upper - exact.upper) < 1e-12
        assert abs(found.point - exact.point) < 1e-12


@pytest.mark.long
def test_a_million_objects_sum_to_one():
    # No other method reaches this size: the probabilities must add up, and the tails must fit them.
    distribution = number_correct([100_000] * 10, [100_000] * 10)
    pmf = distribution.pmf
    assert math.fsum(pmf) == pytest.approx(1, abs=2e-11)
    mean = math.fsum(pmf * distribution.numbers)
    assert mean == pytest.approx(100_000, rel=1e-11)
    # The variance of a count of fixed margins, from its first two factorial moments.
    variance = math.fsum(pmf * (distribution.numbers - mean) ** 2)
    n, r = 10**6, 10**5
    pairs = 90 * r**4 + 10 * (r * (r - 1)) ** 2
    assert variance == pytest.approx(pairs / (n * (n - 1)) + r - r**2, rel=1e-8)
    for t in (99_000, 99_950, 100_000, 100_500, 102_000):
        above = math.fsum(pmf[distribution.numbers >= t])
        assert upper_tail([r] * 10, [r] * 10, t).pvalue == pytest.approx(above, rel=1e-10)


@pytest.mark.parametrize(("rows", "columns"), [([520_000, 480_000], [300_000, 700_000]), ([30, 0, 70], [25, 75, 0])])
def test_one_cell_decides(rows, columns):
    total = sum(rows)
    cell = scipy.stats.hypergeom(total, rows[0], columns[0])
    mean = rows[0] * columns[0] / total
    for cell_count in (math.ceil(mean) + 3, math.ceil(mean), math.floor(mean) - 2):
        correct = 2 * cell_count + total - rows[0] - columns[0] if len(rows) == 2 else cell_count
        expected = cell.sf(cell_count - 1)
        # SciPy's own sum is good to about nine digits at this size.
        assert upper_tail(rows, columns, correct).pvalue == pytest.approx(expected, rel=2e-9)


def log10_of(ratio):
    """Of a positive fraction, to some 15 digits, however small."""
    with localcontext(DIGITS):
        return float(rook_polynomial.log_ratio(ratio.numerator, ratio.denominator) / Decimal(10).ln())


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([15_000, 10_000], [14_000, 11_000]),
        ([24_990, 10], [20_000, 5_000]),
        ([700, 500], [600, 600]),
        ([20_000, 0, 5_000], [300, 24_700, 0]),
        ([0, 30, 24_970], [0, 24_000, 1_000]),
    ],
)
def test_the_whole_law_of_one_cell_is_hypergeometric(rows, columns):
    found, total = number_correct(rows, columns), sum(rows)
    (r, c), *others = [pair for pair in zip(rows, columns, strict=True) if min(pair)]
    cells = [(t - total + r + c) / 2 if others else t for t in found.numbers.tolist()]

    def exact(cell):
        return Fraction(math.comb(r, cell) * math.comb(total - r, c - cell), math.comb(total, c))

    whole = [position for position, cell in enumerate(cells) if cell == int(cell)]
    assert whole == list(range(0, len(cells), 2 if others else 1))
    assert (found.log10_pmf[np.setdiff1d(np.arange(len(cells)), whole)] == -np.inf).all()
    for position in {whole[0], *whole[:: len(whole) // 9 + 1], whole[-1]}:
        assert found.log10_pmf[position] == pytest.approx(log10_of(exact(int(cells[position]))), abs=1e-11)
    # Listed is what has 1e-300 or more.
    for beyond in (int(cells[0]) - 1, int(cells[-1]) + 1):
        if max(0, r + c - total) <= beyond <= min(r, c):
            assert log10_of(exact(beyond)) < -300
    assert math.fsum(found.pmf) == pytest.approx(1, abs=1e-11)


def test_a_large_law_of_two_classes_is_scipys():
    found = number_correct([600_000, 400_000], [300_000, 700_000])
    law = scipy.stats.hypergeom(10**6, 600_000, 300_000)
    cells = (found.numbers[::2] - 100_000) // 2
    near = np.flatnonzero(np.abs(cells - law.mean()) < 12 * law.std())
    assert len(near) > 4000
    np.testing.assert_allclose(found.pmf[::2][near], law.pmf(cells[near]), rtol=1e-6)  # SciPy's has some nine digits


def test_one_card_of_each_of_thirty_thousand():
    # P(T = t) is 1/t! times an alternating series of 1/k! (de Montmort), of which 40 terms are enough.
    found = number_correct([1] * 30_000, [1] * 30_000)
    assert found.numbers.tolist() == list(range(167))  # 1/167! is below 1e-300
    series = sum(Fraction((-1) ** k, math.factorial(k)) for k in range(200))
    for t in range(0, 167, 7):
        assert found.log10_pmf[t] == pytest.approx(log10_of(series / math.factorial(t)), abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(("cards", "suits"), [(2, 11_000), (5, 5_000), ("mixed", 4_000)])
def test_a_law_of_few_correct_has_the_moments_and_the_tail_it_should(cards, suits):
    rows = [9, 3] * (suits // 2) if cards == "mixed" else [cards] * suits
    columns = [4, 8] * (suits // 2) if cards == "mixed" else rows
    total = sum(rows)
    assert total > 20_000
    found = number_correct(rows, columns)
    first = Fraction(sum(r * c for r, c in zip(rows, columns, strict=True)), total)
    products = [r * c for r, c in zip(rows, columns, strict=True)]
    # E T (T - 1) over ordered pairs of objects, of one class or of two.
    same = sum(r * (r - 1) * c * (c - 1) for r, c in zip(rows, columns, strict=True))
    second = Fraction(same + sum(products) ** 2 - sum(p * p for p in products), total * (total - 1))
    pmf, numbers = found.pmf, found.numbers
    assert math.fsum(pmf) == pytest.approx(1, abs=1e-13)
    assert math.fsum(pmf * numbers) == pytest.approx(float(first), rel=1e-12)
    assert math.fsum(pmf * numbers * (numbers - 1)) == pytest.approx(float(second), rel=1e-12)
    for t in (1, int(first), 3 * int(first), 100):
        assert found.log10_sf[t] == pytest.approx(upper_tail(rows, columns, t).log10_pvalue, rel=1e-10)


@pytest.mark.parametrize(
    ("rows", "columns", "number"),
    [([30_000, 0], [30_000, 0], 30_000), ([30_000, 0], [0, 30_000], 0), ([9_000, 21_000], [0, 30_000], 21_000)],
)
def test_margins_that_leave_one_number(rows, columns, number):
    found = number_correct(rows, columns)
    assert (found.numbers.tolist(), found.pmf.tolist()) == ([number], [1.0])


@pytest.mark.parametrize("rows", [[60_000, 59_990, 10], [10**15, 10**15]])
def test_a_law_that_is_not_listed_is_refused_in_one_line(rows):
    with pytest.raises(ValueError, match=r"^row_totals: the total is \d+; expected ") as caught:
        number_correct(rows, rows)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("total", "classes", "correct"), [(3000, {(6, 6): 500}, 30), (2500, {(5, 900): 3, (4, 2): 1}, 12)]
)
def test_from_below_and_from_above_agree_with_all_of_it(total, classes, correct):
    with localcontext(DIGITS):
        whole = rook_polynomial.tail(total, classes, correct)
        below = rook_polynomial.tail_from_below(total, classes, correct, 19 if total == 2500 else 150)
        assert below is not None
        assert abs(below.upper - whole.upper) < 1e-15
        assert abs(below.point - whole.point) < 1e-15
        assert rook_polynomial.tail_from_below(3000, {(6, 6): 500}, 30, 33) is None
        most = rook_polynomial.most_correct(classes)
        high = most - 8
        above, all_of_it = (f(total, classes, high) for f in (rook_polynomial.tail_from_above, rook_polynomial.tail))
        assert abs(above.upper - all_of_it.upper) < 1e-15
        assert abs(above.point - all_of_it.point) < 1e-15


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=examples(60))
@given(tables(), st.randoms(use_true_random=False))
def test_laws(table, random):
    rows, columns = table
    least, most = correct_range(np.array(rows), np.array(columns))
    order = random.sample(range(len(rows)), len(rows))
    shuffled = [rows[i] for i in order], [columns[i] for i in order]
    previous = 1.0
    for t in range(least, most + 1):
        p = upper_tail(rows, columns, t).pvalue
        assert upper_tail(columns, rows, t).pvalue == p  # transposing
        assert upper_tail(*shuffled, t).pvalue == p  # permuting classes
        assert upper_tail([*rows, 0], [*columns, 0], t).pvalue == p  # an empty class
        assert p <= previous  # monotone
        previous = p
    assert upper_tail(rows, columns, least).pvalue == 1
    distribution = number_correct(rows, columns)
    mean = sum(r * c for r, c in zip(rows, columns, strict=True)) / sum(rows)
    assert math.fsum(distribution.pmf * distribution.numbers) == pytest.approx(mean, rel=1e-12, abs=1e-12)
    assert 10.0 ** distribution.log10_sf[-1] == pytest.approx(upper_tail(rows, columns, most).pvalue, rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(("r", "c"), [(1, 1), (3, 50), (399, 500), (400, 400), (401, 9000), (2000, 2000)])
@pytest.mark.parametrize("place", [-0.5, 0.02, 1.0, 30.0])
def test_factor_equals_its_definition(r, c, place):
    # Whole numbers and rationals of the definition, at y0 and at three points about it.

    each = factor(r, c)
    edge = 1 / each.largest_zero
    coefficients = list(accumulate(range(min(r, c)), lambda a, j: a * (r - j) * (c - j) // (j + 1), initial=fmpz(1)))
    polynomial = fmpz_poly(coefficients)

    def exact(y):
        value = polynomial(fmpq(*y.as_integer_ratio()))
        return rook_polynomial.log_ratio(int(value.p), int(value.q))

    with localcontext(DIGITS):
        y0 = place * edge
        at = exact(y0)
        assert abs(log_value(each, y0) - at) < (1e-13 if y0 > 0 else 1e-12)
        series = log_series(each, y0, edge, 80)
        for w in (-0.7, 0.01, 0.9):
            y = (y0 + edge) * math.exp(w) - edge
            # A double y is off by its last bit, and log R by that times its slope.
            slack = 1e-13 + 4e-16 * abs(float(exact(y) - at)) + 4e-16 * abs(series[1])
            assert abs(float(exact(y) - at) - np.polynomial.polynomial.polyval(w, series)) < slack


def test_log_factorial():
    with localcontext(DIGITS):
        for n in (0, 1, 499, 500, 501, 3000):
            assert abs(log_factorial(n) - rook_polynomial.log_ratio(math.factorial(n), 1)) < 1e-20
        assert abs(log_factorial(10**9) - log_factorial(10**9 - 1) - (9 * rook_polynomial.log_ratio(10, 1))) < 1e-25


def test_hypergeometric_tail_equals_rationals():
    for total, marked, drawn in ((20, 8, 9), (30, 30, 4), (25, 3, 20), (40, 0, 7)):
        p = [Fraction(math.comb(marked, m) * math.comb(total - marked, drawn - m), math.comb(total, drawn))
             if drawn >= m else Fraction(0) for m in range(drawn + 1)]  # fmt: skip
        with localcontext(DIGITS):
            for least in range(drawn + 2):
                tail = hypergeometric_tail(total, marked, drawn, least)
                assert float(tail[0].exp()) == pytest.approx(float(sum(p[least:])), rel=1e-14)
                assert float(tail.point.exp()) == pytest.approx(float(p[least]) if least <= drawn else 0.0, rel=1e-14)


def test_leaves_the_callers_arithmetic_alone_in_threads():
    before = getcontext().prec
    expected = upper_tail([1000] * 4, [1000] * 4, 1100)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(upper_tail([1000] * 4, [1000] * 4, 1100))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4
    assert getcontext().prec == before


@pytest.mark.parametrize(
    ("rows", "columns", "correct", "named"),
    [
        ([1, 2], [1, 1], 1, "column_totals"),
        ([1, 2], [3], 1, "column_totals"),
        ([0, 0], [0, 0], 0, "row_totals"),
        ([5, 5], [5, 5], 11, "correct"),
        ([9, 1], [9, 1], 3, "8 to 10"),
        ([1.5, 1.5], [1, 2], 1, "row_totals"),
    ],
)
def test_bad_input_is_named(rows, columns, correct, named):
    with pytest.raises(ValueError, match=named):
        upper_tail(rows, columns, correct)


def test_many_unequal_classes_against_plain_multiplication_and_exact_moments():
    rng = np.random.default_rng(3)
    rows = rng.integers(1, 40, 200)
    columns = rng.permutation(rows)
    classes = Counter(zip(rows.tolist(), columns.tolist(), strict=True))
    polynomial = fmpz_poly([1])
    for r, c in classes.elements():
        factor = fmpz_poly([math.comb(r, j) * math.perm(c, j) for j in range(min(r, c, 60) + 1)])
        polynomial = fmpz_poly((polynomial * factor).coeffs()[:61])
    product = [int(each) for each in polynomial.coeffs()]
    assert [int(found) for found in rook_polynomial.rook_coefficients(classes, 61)] == product
    # E T and E T (T - 1) from the first two coefficients, as Riordan has them.
    total = int(rows.sum())
    mean, pairs = Fraction(product[1], total), Fraction(2 * product[2], total * (total - 1))
    found = number_correct(rows, columns)
    assert (found.pmf * found.numbers).sum() == pytest.approx(float(mean), rel=1e-11)
    assert (found.pmf * found.numbers * (found.numbers - 1)).sum() == pytest.approx(float(pairs), rel=1e-11)
