"""What pandas objects hold belongs to the labels of their index, or is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sigstats
from sigstats.ranking.rank_sets import rank_sets

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


CELLS = np.array([[30, 2, 1], [3, 25, 2], [1, 2, 28]])


def columns_only(names, form):
    """The table without labels of rows."""
    frame = pd.DataFrame(CELLS, columns=list(names))
    forms = {"pandas": frame, "polars": pl.from_pandas(frame), "arrow": pa.Table.from_pandas(frame)}
    return forms.get(form, [row for _, row in frame.iterrows()])


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "series"])
@pytest.mark.parametrize(
    ("names", "known"),
    [
        ("abc", True),
        ("cab", False),
        (["low", "mid", "high"], False),
        (["3", "9", "10"], True),
        (["10", "3", "9"], False),
    ],
)
def test_columns_are_matched_with_rows_without_labels_only_in_sorted_order(form, names, known):
    if known:
        assert sigstats.efficiency_test(columns_only(names, form)) == sigstats.efficiency_test(CELLS)
    else:
        with pytest.raises(
            ValueError, match=r"^table \(columns\): .* names in sorted order, since rows have no labels"
        ):
            sigstats.efficiency_test(columns_only(names, form))


def test_rows_and_columns_whose_names_differ_in_a_prefix_are_in_one_order():
    table = pd.DataFrame(CELLS, ["true a", "true b", "true c"], ["said c", "said a", "said b"])
    with pytest.raises(ValueError, match=r"expected the order of the rows, \['true a', 'true b', 'true c'\]$"):
        sigstats.efficiency_test(table)
    for unnamed in (pl.DataFrame(CELLS, orient="row"), pd.DataFrame(CELLS), [pd.Series(row) for row in CELLS]):
        assert sigstats.efficiency_test(unnamed) == sigstats.efficiency_test(CELLS)


def test_a_list_of_rows_of_a_frame_is_read_by_their_labels():
    table = pd.DataFrame(CELLS, list("cab"), list("cab"))
    assert sigstats.efficiency_test([table.loc[name] for name in "bca"]) == sigstats.efficiency_test(CELLS)


WIDE = pd.DataFrame(np.tile([[1, 0, 0], [0, 1, 0]], (6, 1)), columns=list("abc"))


def in_turns(frame):
    """The rows of a frame as Series, every second one in reversed order."""
    return [row[:: 1 - 2 * (place % 2)] for place, row in frame.iterrows()]


@pytest.mark.parametrize(
    "call",
    [
        lambda rows: sigstats.friedman_test(rows).pvalue,
        lambda rows: sigstats.rank_models(rows).models,
        lambda rows: sigstats.fuzzy.efficiency_test(WIDE, rows),
        lambda rows: sigstats.JointEvents.from_indicators(WIDE, WIDE, rows),
    ],
)
def test_a_list_of_series_in_several_orders_is_refused(call):
    assert call([row for _, row in WIDE.iterrows()]) == call(WIDE.to_numpy())
    with pytest.raises(ValueError, match=r"\[1\] \(index\): .* expected the index of \w+\[0\], in its order"):
        call(in_turns(WIDE))


def test_costs_of_models_in_another_order_than_a_list_of_their_scores_are_refused():
    scores = [row for _, row in WIDE.iterrows()]
    assert sigstats.rank_models(scores, cost=WIDE) == sigstats.rank_models(WIDE.to_numpy(), cost=WIDE.to_numpy())
    for cost in (WIDE[list("cba")], [row[::-1] for row in scores]):
        with pytest.raises(ValueError, match=r"^cost \(columns\): .* expected the classes of correct, in its order"):
            sigstats.rank_models(scores, cost=cost)


@pytest.mark.parametrize("test", [sigstats.fuzzy.efficiency_test, sigstats.fuzzy.homogeneity_test])
def test_fuzzy_classes_of_a_frame_fit_an_array_only_in_sorted_order(test):
    turned = WIDE[list("cba")]
    assert test(WIDE, WIDE.to_numpy()) == test(WIDE.to_numpy(), WIDE.to_numpy())
    with pytest.raises(
        ValueError, match=r"^(y|first) \(columns\): .* names in sorted order, since another table names no"
    ):
        test(turned, turned.to_numpy())
    with pytest.raises(ValueError, match=r"in its order"):
        test(WIDE, [row for _, row in turned.iterrows()])


@pytest.mark.parametrize(("one", "other"), [("aabbbc", "aaac"), ("xyz", "xyzzy"), ("pqqrrr", "r")])
def test_a_class_that_one_sample_lacks_has_the_count_0(one, other):
    counts_a, counts_b = (pd.Series(list(text) * 9).value_counts() for text in (one, other))
    wanted = (
        r"reindex aligns them, with fill_value=0 for absent classes" if {*one} != {*other} else "reindex aligns them"
    )
    with pytest.raises(ValueError, match=rf"^counts_b \(index\): .*{wanted}"):
        sigstats.homogeneity_test(counts_a, counts_b)
    found = sigstats.homogeneity_test(counts_a, counts_b.reindex(counts_a.index, fill_value=0))
    expected = [9 * other.count(name) for name in counts_a.index]
    assert found == sigstats.homogeneity_test(counts_a.to_numpy(), expected)


@pytest.mark.parametrize("kinds", [(str, int), (int, str), (float, str), (int, float)])
def test_numbers_and_their_texts_are_the_same_classes(kinds):
    """As text, 10 comes before 2."""
    truth, guess = (pd.Series(np.tile([1, 2, 10, *some], 6)) for some in ([1, 2, 10], [10, 2, 1]))
    table = pd.crosstab(truth.astype(kinds[0]), guess.astype(kinds[1]))
    assert sigstats.efficiency_test(table) == sigstats.efficiency_test(pd.crosstab(truth, guess))


@pytest.mark.parametrize(
    "table",
    [
        pd.crosstab(TRUTH, GUESS, margins=True),
        pd.crosstab(TRUTH, GUESS, margins=True, margins_name="total"),
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
        lambda a, b: sigstats.joint_tasks_test(a, a, b * 9, n_resamples=9, rng=1),
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


@pytest.mark.parametrize(
    "call",
    [
        lambda counts: sigstats.goodness_of_fit_test(counts, [0.2, 0.3, 0.5]),
        lambda counts: sigstats.goodness_of_fit_test([4, 6, 9], counts / counts.sum()),
        lambda counts: sigstats.homogeneity_test(counts, [4, 6, 9]),
        lambda counts: sigstats.homogeneity_test([4, 6, 9], counts),
    ],
)
def test_counts_by_frequency_are_refused_with_classes_that_nothing_names(call):
    counts = pd.Series(list("abbcccbcccab")).value_counts()
    assert list(counts.index) != sorted(counts.index)
    with pytest.raises(ValueError, match=r"^(counts|counts_a|counts_b|probabilities) \(index\): .*sort_index"):
        call(counts)
    by_class = counts.sort_index()
    assert call(by_class) == call(by_class.to_numpy())
    assert call(counts.to_numpy()).pvalue > 0
    call(counts.rename("stated order"))


def test_counts_by_value_are_aligned_by_reindexing():
    first, second = pd.Series(list("bbbbbaaac")), pd.Series(list("aaaaabbccccccc"))
    counts_a, counts_b = first.value_counts(), second.value_counts()
    with pytest.raises(ValueError, match="reindex aligns them"):
        sigstats.homogeneity_test(counts_a, counts_b)
    both = pd.crosstab(np.repeat([1, 2], [9, 14]), pd.concat([first, second], ignore_index=True).to_numpy())
    found = sigstats.homogeneity_test(counts_a, counts_b.reindex(counts_a.index))
    assert found.pvalue == pytest.approx(sigstats.homogeneity_test(*both.to_numpy()).pvalue)


ROWS = [f"row {i}" for i in range(40)]
RIGHT = pd.DataFrame(np.random.default_rng(5).random((40, 3)) < [0.9, 0.6, 0.5], columns=list("xyz"), index=ROWS)
GROUPS = pd.Series(np.repeat(np.arange(20), 2), index=ROWS)
CLASSES = pd.Series(["a", "b"] * 20, index=ROWS)
WEIGHTS = pd.DataFrame(np.eye(3)[np.arange(40) % 3], columns=list("xyz"), index=ROWS)
INDICATORS = WEIGHTS.astype(int)
FEATURES = pd.DataFrame(np.random.default_rng(6).normal(size=(40, 2)), index=ROWS)


def _permuted(X, y, groups=None):
    return sigstats.permutation_test("1-nn", X, y, groups=groups, cv=2, n_resamples=9, rng=1)


@pytest.mark.parametrize(
    ("call", "first", "second"),
    [
        (lambda a, b: sigstats.number_correct(a, b).pmf.tolist(), TRUTH.value_counts(), TRUTH.value_counts()),
        (lambda a, b: sigstats.fuzzy.efficiency_test(a, b), WEIGHTS, WEIGHTS),
        (lambda a, b: sigstats.fuzzy.efficiency_test(a.T, b.T), WEIGHTS.T, WEIGHTS.T),
        (lambda a, b: sigstats.fuzzy.homogeneity_test(a.T, b.T, method="chi2"), WEIGHTS.T, WEIGHTS.T),
        (sigstats.fuzzy.goodness_of_fit_test, WEIGHTS, pd.Series([0.2, 0.3, 0.5], index=list("xyz"))),
        (lambda a, b: sigstats.rank_models(a, groups=b), RIGHT, GROUPS),
        (lambda a, b: sigstats.rank_models(a, label=b), RIGHT, RIGHT["x"]),
        (lambda a, b: sigstats.rank_models(a, slices={"part": b}), RIGHT, CLASSES),
        (lambda a, b: rank_sets(a, groups=b).pvalues.tolist(), RIGHT, GROUPS),
        (lambda a, b: sigstats.compare_over_datasets(a, datasets=b, rng=1), FEATURES, pd.Series(ROWS, index=ROWS)),
        (_permuted, FEATURES, CLASSES),
        (lambda a, b: _permuted(FEATURES.to_numpy(), a, groups=b), CLASSES, GROUPS),
        (lambda a, b: sigstats.compare(a, a, b), CLASSES, CLASSES.copy()),
        (lambda a, b: sigstats.JointEvents.from_indicators(a, a, b), INDICATORS, INDICATORS),
        (lambda a, b: sigstats.JointEvents.from_indicators(a.T, b.T, a.T), INDICATORS, INDICATORS),
        (sigstats.possibilistic.dominance, WEIGHTS["x"], WEIGHTS["y"]),
        (lambda a, b: sigstats.paired_power(9, accuracy_a=a, accuracy_b=b), WEIGHTS["x"], WEIGHTS["y"]),
    ],
)
def test_rows_or_classes_in_another_order_are_refused(call, first, second):
    with pytest.raises(ValueError, match="reindex aligns them"):
        call(first, second[::-1])
    aligned = call(first, second[::-1].reindex(second.index))
    assert repr(aligned) == repr(call(first, second))


@pytest.mark.parametrize(
    "call", [sigstats.homogeneity_test, lambda a, b: sigstats.goodness_of_fit_test(a, b / b.sum())]
)
def test_classes_that_look_alike_are_refused(call):
    counts = pd.Series([7, 5, 2], index=["a", "b", "b "])
    with pytest.raises(ValueError, match=r"\(index\): 'b ' and 'b' look alike; expected one spelling of each class"):
        call(counts, counts)
    assert call(counts[["a", "b"]], counts[["a", "b"]]).pvalue == pytest.approx(1)


def test_the_margins_of_a_cross_table_are_no_class():
    table = pd.crosstab(TRUTH, GUESS, margins=True)
    with pytest.raises(ValueError, match=r"row_totals \(index\): 'All' is the total of the others; leave it out"):
        sigstats.number_correct(table["All"], table.loc["All"])
    rows, columns = table["All"].drop("All"), table.loc["All"].drop("All")
    expected = sigstats.number_correct(rows.to_numpy(), columns.to_numpy()).pmf
    np.testing.assert_array_equal(sigstats.number_correct(rows, columns).pmf, expected)


def test_a_class_may_be_called_all_if_its_count_is_not_the_total():
    classes = ["all", "some", "few"]
    counts, shares = pd.Series([25, 8, 3], classes), pd.Series([0.5, 0.3, 0.2], classes)
    expected = sigstats.goodness_of_fit_test([25, 8, 3], [0.5, 0.3, 0.2]).pvalue
    assert sigstats.goodness_of_fit_test(counts, shares).pvalue == expected
    with pytest.raises(ValueError, match=r"probabilities \(index\): 'all' is the total"):
        sigstats.goodness_of_fit_test(counts, 2 * shares)


DIFFERENCES = [0.75, 0.5, 0.25, 0.5, -0.25, 0.5]
OF_DIFFERENCES = {
    "sign-flip": sigstats.sign_flip_test,
    "corrected": lambda values: sigstats.corrected_resampled_test(values, n_train=900, n_test=100),
    "mean score": lambda values: sigstats.mean_score_test(values, values * 0),
    "unpaired": lambda values: sigstats.unpaired_test(values.abs(), [0.5, 0.25, 0.5]),
    "anytime": lambda values: sigstats.anytime_test(values, limit=1),
}


@pytest.mark.parametrize("test", OF_DIFFERENCES)
@pytest.mark.parametrize(
    ("index", "odd"),
    [
        ([*"abcde", "mean"], "mean"),
        (["Total", *"abcde"], "Total"),
        (pd.MultiIndex.from_product([["task"], [*"abcde", "All"]], names=["of", "item"]), "All"),
        ([*"abc", "mean", "sum", "z"], None),  # words that are items
        (pd.MultiIndex.from_product([["accuracy"], range(6)], names=["score", "fold"]), None),
        (pd.date_range("2024-01-01", periods=6), None),
    ],
)
def test_a_mean_or_total_is_not_an_observation(test, index, odd):
    call, values = OF_DIFFERENCES[test], pd.Series(DIFFERENCES, index)
    if odd is None:
        assert call(values).estimate == call(values.reset_index(drop=True)).estimate
        return
    with pytest.raises(ValueError, match=rf"\(index\): '{odd}' is a summary of the others; leave it out"):
        call(values)
    call(values.reset_index(drop=True))
