"""Tables in which some models have no score on some data sets: by the same tables without holes, and by SciPy."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sigstats import compare_over_datasets, friedman_test

WHOLE = np.random.default_rng(0).uniform(0.5, 0.9, (12, 3))
MODELS = ["svm", "forest", "tree"]
HOLES = WHOLE.copy()
HOLES[5, 1] = HOLES[2, 2] = np.nan
FRAME = pd.DataFrame(HOLES, columns=MODELS, index=pd.Index([f"d{i}" for i in range(12)], name="data")).reset_index()
OPTIONS = {"n_resamples": 100, "rng": 1}


def test_a_missing_score_is_named_with_the_ways_on():
    with pytest.raises(ValueError, match=r"no score of tree on d2, forest on d5; missing='drop' .*'worst' .*'pairs'"):
        compare_over_datasets(FRAME, datasets="data")
    with pytest.raises(ValueError, match="no score of 3 on 3, 2 on 6;"):
        compare_over_datasets(HOLES)


def test_drop_is_the_table_without_the_data_set():
    result = compare_over_datasets(FRAME, datasets="data", missing="drop", **OPTIONS)
    without = compare_over_datasets(np.delete(WHOLE, [2, 5], axis=0), models=MODELS, **OPTIONS)
    assert result.pairs == without.pairs
    assert result.datasets == 10
    assert result.notes == ("No score of tree on d2, forest on d5: d2, d5 left out.",)
    assert result.notes[0] in str(result)


@pytest.mark.parametrize("greater", [True, False])
def test_worst_is_the_table_with_the_worst_score_of_the_data_set(greater):
    how = {**OPTIONS, "greater_is_better": greater}
    table, worst = HOLES.copy(), min if greater else max
    table[5, 1], table[2, 2] = worst(HOLES[5, [0, 2]]), worst(HOLES[2, [0, 1]])
    result = compare_over_datasets(HOLES, missing="worst", **how)
    assert (result.pairs, result.ranks) == (lambda of: (of.pairs, of.ranks))(compare_over_datasets(table, **how))


def test_pairs_are_compared_where_both_have_a_score():
    result = compare_over_datasets(FRAME, datasets="data", missing="pairs", adjust="none", **OPTIONS)
    raw = {frozenset((pair.a, pair.b)): (pair.pvalue, pair.wins + pair.ties + pair.losses) for pair in result.pairs}
    for a, b in combinations(range(3), 2):
        difference = HOLES[:, a] - HOLES[:, b]
        difference = difference[~np.isnan(difference)]
        pvalue, count = raw[frozenset((MODELS[a], MODELS[b]))]
        assert count == difference.size
        assert pvalue == pytest.approx(stats.wilcoxon(difference, method="exact").pvalue, rel=1e-9)
    assert result.friedman == friedman_test(np.delete(WHOLE, [2, 5], axis=0))


def test_a_long_table_is_the_wide_one():
    long = FRAME.melt("data", var_name="model", value_name="score")
    for rows in (long, long.dropna()):
        result = compare_over_datasets(rows, models="model", datasets="data", missing="drop", **OPTIONS)
        assert result == compare_over_datasets(FRAME, datasets="data", missing="drop", **OPTIONS)
    whole = pd.DataFrame(WHOLE, columns=MODELS).assign(data=FRAME["data"]).melt("data", var_name="model")
    result = compare_over_datasets(whole, models="model", datasets="data", **OPTIONS)
    assert result == compare_over_datasets(WHOLE, models=MODELS, **OPTIONS)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda long: compare_over_datasets(long, datasets="data"), "'model' contains text; .* models='model'"),
        (
            lambda long: compare_over_datasets(pd.concat([long, long]), datasets="data", models="model"),
            "'svm' has several scores on 'd0'; give one",
        ),
        (
            lambda long: compare_over_datasets(long.assign(time=1.0), datasets="data", models="model"),
            "one column of scores",
        ),
        (lambda long: compare_over_datasets(WHOLE, models="model"), "one column of a data frame"),
        (lambda long: compare_over_datasets(HOLES[[2, 5]], missing="drop"), "all models have a score.*two or more"),
        (lambda long: compare_over_datasets(HOLES, missing="first"), "missing: 'first' is not valid"),
        (lambda long: compare_over_datasets(np.where(HOLES > 0.8, np.inf, HOLES), missing="drop"), "finite numbers"),
        (
            lambda long: compare_over_datasets(np.vstack([HOLES, [np.nan] * 3]), missing="worst"),
            "no model has a score on 13",
        ),
    ],
)
def test_what_cannot_be_compared_is_one_line(call, message):
    with pytest.raises(ValueError, match=message) as raised:
        call(FRAME.melt("data", var_name="model", value_name="score"))
    assert "\n" not in str(raised.value)
