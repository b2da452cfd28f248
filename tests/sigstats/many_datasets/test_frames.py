"""Data frames of scores: the same answers as from arrays, with the names of their columns."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sigstats import compare_over_datasets, friedman_test
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
