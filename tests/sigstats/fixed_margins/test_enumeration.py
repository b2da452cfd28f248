"""The number of tables of equal margins, against their listing and Nyssen's figure 2."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.fixed_margins import distribution
from sigstats.fixed_margins.distribution import number_of_tables, number_of_terms

from ...examples import examples


@pytest.mark.parametrize(
    ("k", "n", "terms"), [(3, 1, 30), (3, 2, 204), (3, 3, 748), (4, 1, 5532), (4, 2, 501_394), (5, 1, 11_809_690)]
)
def test_the_terms_of_figure_2(k, n, terms):
    assert number_of_terms([[n] * k] * k) == terms


def test_the_terms_of_five_classes_with_ten_of_25_right():
    table = [[2, 3, 0, 0, 0], [0, 2, 3, 0, 0], [0, 0, 2, 3, 0], [0, 0, 0, 2, 3], [3, 0, 0, 0, 2]]
    assert number_of_terms(table) == 1_254_250  # section 3.2


@settings(deadline=None, derandomize=True, max_examples=examples(60))
@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=3, max_size=3), st.integers(0, 9))
def test_equals_a_listing_of_all_tables(table, least):
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    listed = 0
    for a, b, c, d in product(range(max(rows, default=0) + 1), repeat=4):
        first, second = (a, b, rows[0] - a - b), (c, d, rows[1] - c - d)
        third = tuple(total - x - y for total, x, y in zip(columns, first, second, strict=True))
        if min(*first, *second, *third) >= 0:
            listed += a + d + third[2] >= least
    assert number_of_tables(rows, columns, least) == listed


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ([1, 2], [1, 1], "column_totals"),
        ([1, 2], [1, 1, 1], "column_totals"),
        ([1, -2], [1, 1], "row_totals"),
        ([1000] * 10, [1000] * 10, "at most 5,000 steps"),
    ],
)
def test_bad_margins_are_named(monkeypatch, rows, columns, message):
    monkeypatch.setattr(distribution, "_MOST_STEPS", 5000)
    with pytest.raises(ValueError, match=message):
        number_of_tables(rows, columns)
