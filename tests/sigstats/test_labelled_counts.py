"""Counts of pandas objects belong to the classes of their labels, or are refused."""

import numpy as np
import pandas as pd
import pytest

import sigstats

TRUTH = pd.Series(list("abcabcabca") * 6, name="truth")
GUESS = pd.Series(list("abcbbcabaa") * 6, name="guess")


def test_a_cross_table_is_read_by_its_labels():
    table = pd.crosstab(TRUTH, GUESS)
    expected = sigstats.efficiency_test(table.to_numpy())
    assert sigstats.efficiency_test(table) == expected
    assert sigstats.efficiency_test(table[["c", "a", "b"]]) == expected
    assert sigstats.efficiency_test(table.loc[["b", "c", "a"]]).pvalue == pytest.approx(expected.pvalue)
    named = table.set_axis(["is a", "is b", "is c"]).set_axis(["said a", "said b", "said c"], axis=1)
    assert sigstats.efficiency_test(named) == expected


@pytest.mark.parametrize(
    "table",
    [
        pd.crosstab(TRUTH, GUESS, margins=True),
        pd.crosstab(TRUTH, GUESS.replace("c", "d")),
        pd.crosstab(TRUTH, GUESS.replace("c", "b")),
    ],
)
def test_margins_and_other_classes_are_refused(table):
    with pytest.raises(
        ValueError, match=r"^table \(columns\): .* is not valid; expected the (table without|classes of)"
    ):
        sigstats.efficiency_test(table)


@pytest.mark.parametrize(
    "call",
    [
        sigstats.homogeneity_test,
        lambda a, b: sigstats.goodness_of_fit_test(a, b / b.sum()),
        lambda a, b: sigstats.stratified_paired_test(a, a, b * 9),
        lambda a, b: sigstats.sign_flip_test(a, sizes=b),
    ],
)
def test_counts_of_other_classes_or_in_another_order_are_refused(call):
    first = pd.Series([7, 5, 2], index=["a", "b", "c"])
    for other in (["b", "a", "c"], ["a", "b", "d"]):
        with pytest.raises(ValueError, match="reindex aligns them"):
            call(first, pd.Series([6, 4, 3], index=other))
    second = pd.Series([6, 4, 3], index=first.index)
    assert call(first, second) == call(first.to_numpy(), second.to_numpy())


def test_counts_by_value_are_aligned_by_reindexing():
    first, second = pd.Series(list("bbbbbaaac")), pd.Series(list("aaaaabbccccccc"))
    counts_a, counts_b = first.value_counts(), second.value_counts()
    with pytest.raises(ValueError, match="reindex aligns them"):
        sigstats.homogeneity_test(counts_a, counts_b)
    both = pd.crosstab(np.repeat([1, 2], [9, 14]), pd.concat([first, second], ignore_index=True).to_numpy())
    found = sigstats.homogeneity_test(counts_a, counts_b.reindex(counts_a.index))
    assert found.pvalue == pytest.approx(sigstats.homogeneity_test(*both.to_numpy()).pvalue)
