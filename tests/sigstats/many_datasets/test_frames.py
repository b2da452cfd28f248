"""Data frames of scores: the same answers as from arrays, with the names of their columns."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sigstats import compare_over_datasets, friedman_test, rank_models, signed_rank_test
from sigstats._common.repeats import check_end_rows
from sigstats.ranking.rank_sets import rank_sets

SCORES = np.random.default_rng(0).uniform(0.5, 1, (9, 3)).round(3)
COLUMNS = {"data": [f"set {i}" for i in range(9)], **dict(zip("abc", SCORES.T, strict=True))}
FORMS = [pd.DataFrame, pa.table]


@pytest.mark.parametrize("form", FORMS)
def test_a_frame_of_scores_is_what_its_columns_are(form):
    frame = form(COLUMNS)
    found = compare_over_datasets(frame, datasets="data", n_resamples=100, rng=1)
    assert found == compare_over_datasets(SCORES, models=list("abc"), n_resamples=100, rng=1)
    two = compare_over_datasets(frame, models=["c", "a"], n_resamples=100, rng=1)
    assert two == compare_over_datasets(SCORES[:, [2, 0]], models=["c", "a"], n_resamples=100, rng=1)
    assert friedman_test(frame, models=["a", "b", "c"]) == friedman_test(SCORES)
    assert rank_sets(frame, models=["a", "b", "c"]) == rank_sets(SCORES, models=list("abc"))


@pytest.mark.parametrize("form", FORMS)
def test_groups_are_a_column_by_name(form):
    correct, groups = SCORES > 0.7, np.repeat([0, 1, 2], 3)
    frame = form({**dict(zip("abc", correct.T, strict=True)), "site": np.array(["x", "y", "z"])[groups]})
    assert rank_sets(frame, groups="site") == rank_sets(correct, models=list("abc"), groups=groups)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda frame: compare_over_datasets(frame), "scores"),
        (lambda frame: compare_over_datasets(frame, datasets="date"), "no column 'date'; did you mean 'data'"),
        (lambda frame: friedman_test(frame, models=["a", "b", "d"]), "models: no column 'd'"),
        (lambda frame: rank_sets(frame, groups="site"), "groups: no column 'site'"),
        (lambda frame: rank_sets(SCORES, groups="site"), "only a data frame has names"),
        (lambda frame: compare_over_datasets(pd.concat([frame, frame]), datasets="data"), "datasets"),
        (lambda frame: compare_over_datasets(frame.set_index("data").iloc[[0, *range(9)]]), "datasets: 'set 0'"),
        (lambda frame: friedman_test(frame.set_index("data").rename({"set 8": "Mean"})), "'Mean' .*; remove totals"),
    ],
)
def test_a_column_that_does_not_fit_is_one_line(call, message):
    with pytest.raises(ValueError, match=message) as raised:
        call(pd.DataFrame(COLUMNS))
    assert "\n" not in str(raised.value)


SUMMARIES = {
    "mean": (SCORES.mean(axis=1), "is the mean of the other columns"),
    "avg": (SCORES.mean(axis=1).round(3), "is the mean of the other columns"),
    "std": (SCORES.std(axis=1, ddof=1).round(4), r"is the standard deviation \(ddof=1\) of the other columns"),
    "row": (np.arange(9), "numbers the rows"),
    "fold": (np.arange(9) % 3 + 1, "numbers the rows"),
    "part": (np.arange(9) // 3, "numbers the rows"),
    "rank": (np.argsort(SCORES[:, 0]) + 1, "numbers the rows"),
}


def test_a_column_of_seeds_is_no_model():
    frame = pd.DataFrame(dict(zip("abc", SCORES.T, strict=True)) | {"seed": 7})
    with pytest.raises(ValueError, match="'seed' is not a model; list the models, or remove it from the table"):
        friedman_test(frame)
    assert friedman_test(frame, models=["a", "b", "c"]).pvalue == friedman_test(SCORES).pvalue


@pytest.mark.parametrize("call", [friedman_test, compare_over_datasets, rank_sets, rank_models])
@pytest.mark.parametrize("name", SUMMARIES)
def test_a_column_that_summarises_others_is_no_model_unless_it_is_named(call, name):
    """Its values show it, so that its name is any: ``x``."""
    column, told = SUMMARIES[name]
    frame = pd.DataFrame(dict(zip("abc", SCORES.T, strict=True)) | {"x": column})
    with pytest.raises(ValueError, match=f"'x' {told}; drop it, or list the models"):
        call(frame)
    if name in ("mean", "avg", "std"):
        call(frame, models=list("abcx"))


@pytest.mark.parametrize("call", [friedman_test, compare_over_datasets, rank_sets, rank_models])
@pytest.mark.parametrize("statistic", ["mean", "sum"])
@pytest.mark.parametrize("end", ["first", "last"])
def test_a_row_that_summarises_the_others_is_refused_with_or_without_names(call, statistic, end):
    frame = pd.DataFrame(dict(zip("abc", SCORES.T, strict=True)))
    row = frame.agg([statistic]).round(3)
    whole = pd.concat([row, frame] if end == "first" else [frame, row], ignore_index=True)
    for table in (whole, whole.to_numpy()):
        with pytest.raises(ValueError, match=f"the {end} row is the {statistic} of the others; remove it"):
            call(table)


def test_a_row_of_means_of_any_name_is_refused_also_below_zeros_and_ones():
    frame = pd.DataFrame(COLUMNS)
    named = pd.concat([frame, frame.mean(numeric_only=True).round(3).to_frame().T.assign(data="Mittelwert")])
    for table in (named, named.melt("data", var_name="model")):
        with pytest.raises(ValueError, match="the last row is the mean of the others; remove it"):
            compare_over_datasets(table, datasets="data", models="model" if "model" in table else None)
    correct = np.random.default_rng(2).random((97, 2)) < (0.8, 0.6)
    with pytest.raises(ValueError, match="the last row is the mean of the others; remove it"):
        rank_models(np.vstack([correct, correct.mean(axis=0).round(3)]))
    assert rank_models(np.vstack([correct, [0.5, 1]]), score_range=(0, 1)).n == 98  # a row with half a mark


@pytest.mark.long
def test_rows_of_few_values_are_no_means():
    """300 tables each of right and wrong, of stars and of thirds, with rows of different difficulty."""
    rng = np.random.default_rng(1)
    for n, k in [(25, 3), (50, 20), (50, 6)] * 100:
        level = rng.normal(0, 1, (n, 1))
        stars = np.clip((4 + level + rng.normal(0, 0.7, (n, k))).round(), 1, 5)
        for table in ((level > rng.normal(-1, 1, (n, k))), stars, rng.integers(0, 4, (n, k)) / 3):
            check_end_rows([*table.T], "scores")


@pytest.mark.long
@pytest.mark.parametrize(
    ("tables", "n", "difficulty", "quality", "noise", "decimals"),
    [
        (300, 20, (50, 90), np.zeros(10), 0.3, 0),  # models that differ by less than their rounding: if one equals
        (300, 20, (50, 90), np.zeros(10), 0.3, 1),  # a mean, most do
        (1000, 20, (0.5, 0.9), np.zeros(3), 0.01, 2),  # each table has two ends
        (200, 10, (60, 90), np.zeros(5), 0.3, 0),  # middle difficulty is near the mean of the data sets,
        (200, 10, (60, 90), np.array([-9, 0, 9]), 0.3, 0),  # and middle quality near that of the models
    ],
)
def test_scores_of_nearly_equal_models_are_no_summaries(tables, n, difficulty, quality, noise, decimals):
    rng = np.random.default_rng(4)
    for _ in range(tables):
        of_sets, errors = rng.uniform(*difficulty, (n, 1)), rng.normal(0, noise, (n, len(quality)))
        rank_sets((of_sets + quality + errors).round(decimals))


def test_a_series_of_differences_has_no_mean_and_no_runs():
    differences = SCORES[:, 0] - SCORES[:, 1]
    series = pd.Series(differences.round(3), [*"abcdefgh", "iris"])
    assert signed_rank_test(series).pvalue == signed_rank_test(series.to_numpy()).pvalue
    for index, message in (([*"abcdefgh", "Avg. acc."], "remove totals and means"), ("seed", "a run on one data set")):
        odd = series.set_axis(index) if isinstance(index, list) else series.set_axis(range(9)).rename_axis(index)
        with pytest.raises(ValueError, match=message):
            signed_rank_test(odd)


def test_a_long_table_has_no_mean_among_its_models():
    wide = pd.DataFrame(COLUMNS).assign(avg=SCORES.mean(axis=1))
    with pytest.raises(ValueError, match="'avg' is the mean of the other columns"):
        compare_over_datasets(wide.melt("data", var_name="model"), models="model", datasets="data")


@pytest.mark.parametrize("call", [friedman_test, compare_over_datasets])
def test_numbers_of_data_sets_are_scores_of_another_unit(call):
    frame = pd.DataFrame(dict(zip("abc", SCORES.T, strict=True)) | {"x": [3, 6, 11, 12, 14, 16, 18, 22, 23]})
    with pytest.raises(ValueError, match="and 3 to 23 of 'x' look like two units"):
        call(frame)
    assert "may be in two units" in friedman_test(frame.assign(x=frame.x * 40), models=list("abcx")).reason


@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_scores_of_models_are_no_summaries(decimals):
    """Models of equal quality, percentages of few digits, ranks, and the same order on each of many data sets."""
    rng = np.random.default_rng(1)
    for n in (2, 3, 5, 30):
        scores = (rng.uniform(50, 90, (n, 1)) + rng.normal(0, 2, (n, 5))).round(decimals)
        for table in (scores, np.argsort(scores, axis=1) + 1.0, np.tile([[1.0, 2.0, 3.0]], (n, 1))):
            friedman_test(pd.DataFrame(table))
