"""Published numbers that belong to no single module, and where the others are asserted.

Airway reactivity of Bentur (1 against 7), Cavo, Ezra: `test_paired`, `test_effects`. Mendel's peas:
`test_goodness_of_fit`. The simulated error rates and powers of a user of lm-evaluation-harness, and the 9595 scenarios
of Fagerland, Lydersen and Laake: `test_power`. Riordan's card matchings: `test_card_matching`. Tables of more than two
rows (job satisfaction, p = 0.782684938966, and the sixth example of Mehta and Patel, p = 0.0392896436553) are no
question of this package; here each of their rows is compared with the sum of the others.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from sigstats.efficiency import efficiency_test
from sigstats.fixed_margins.distribution import number_correct
from sigstats.homogeneity.homogeneity_test import homogeneity_test

JOB = [[1, 3, 10, 6], [2, 3, 10, 7], [1, 6, 14, 12], [0, 1, 9, 11]]
MEHTA_PATEL = [
    [1, 2, 2, 1, 1, 0, 1],
    [2, 0, 0, 2, 3, 0, 0],
    [0, 1, 1, 1, 2, 7, 3],
    [1, 1, 2, 0, 0, 0, 1],
    [0, 1, 1, 1, 1, 0, 0],
]


def test_tea_and_convictions():
    # R's help page of fisher.test: Fisher's lady, "greater"; his criminal twins, "less", with the columns exchanged.
    assert efficiency_test([[3, 1], [1, 3]]).pvalue == pytest.approx(17 / 70, rel=1e-14)
    assert round(17 / 70, 4) == 0.2429
    assert efficiency_test([[10, 2], [3, 15]]).pvalue == pytest.approx(0.0004652, abs=5e-8)


@pytest.mark.parametrize(
    ("table", "expected"),
    # R 4.2.2: fisher.test(rbind(m[i, ], colSums(m) - m[i, ]))$p.value for each row i, 15 digits
    [
        (JOB, [0.839457881709295, 0.592815716540361, 0.802006872443255, 0.294435642463031]),
        (
            MEHTA_PATEL,
            [0.667237519404703, 0.0342228825200958, 0.00381941802577731, 0.34467144993461, 0.887405624247732],
        ),
    ],
)
def test_rows_of_larger_tables_against_the_rest(table, expected):
    rest = np.sum(table, axis=0) - table
    found = [homogeneity_test(row, others).pvalue for row, others in zip(table, rest, strict=True)]
    assert found == pytest.approx(expected, rel=1e-10)


def laguerre(n):
    """The coefficients of the Laguerre polynomial of degree n."""
    return [Fraction((-1) ** k * math.comb(n, k), math.factorial(k)) for k in range(n + 1)]


@pytest.mark.parametrize("suits", [(1,) * 8, (2,) * 6, (3,) * 4, (4, 4, 4), (5, 3, 2, 2), (1, 2, 3, 4, 5), (7, 2, 1)])
def test_no_card_matches_as_often_as_the_integral_says(suits):
    # Even and Gillis (1976): the generalised derangements number plus or minus the integral of exp(-x) times the
    # product of the Laguerre polynomials of all suits (cards of a suit alike); the moments of exp(-x) are factorials.
    product = [Fraction(1)]
    for n in suits:
        product = [
            sum(product[i] * c for i, c in ((k - j, c) for j, c in enumerate(laguerre(n))) if 0 <= i < len(product))
            for k in range(len(product) + n)
        ]
    integral = abs(sum(c * math.factorial(k) for k, c in enumerate(product)))
    deals = math.factorial(sum(suits)) / math.prod(map(math.factorial, suits))
    distribution = number_correct(suits, suits)
    none = dict(zip(distribution.numbers.tolist(), distribution.pmf.tolist(), strict=True)).get(0, 0.0)
    assert none == pytest.approx(float(integral) / deals, rel=1e-12, abs=0)


def test_one_card_of_each_kind_gives_the_rencontres_numbers():
    # Montmort (1708): 265, 264, 135, 40, 15, 0, 1 of the 720 orders of six cards have 0, 1, ..., 6 in their place.
    pmf = number_correct([1] * 6, [1] * 6).pmf
    assert [round(720 * p) for p in pmf] == [265, 264, 135, 40, 15, 0, 1]
    assert 720 * pmf == pytest.approx([265, 264, 135, 40, 15, 0, 1], rel=1e-12)
