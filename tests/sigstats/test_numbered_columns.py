"""Data frames whose columns are numbered, as `pd.DataFrame(array)` has them, are those with names."""

import numpy as np
import pandas as pd
import pytest

import sigstats

SCORES = np.random.default_rng(0).random((12, 3))
CORRECT = np.random.default_rng(1).integers(0, 2, (40, 3))


@pytest.mark.parametrize(
    ("call", "values"),
    [
        (sigstats.rank, CORRECT),
        (sigstats.rank_sets, CORRECT),
        (lambda table: sigstats.compare_over_datasets(table, rng=0), SCORES),
        (sigstats.friedman_test, SCORES),
        (lambda X: sigstats.permutation_test("1-nn", X, [0, 1] * 6, cv=2, n_resamples=19, rng=0), SCORES),
    ],
)
def test_numbers_are_names(call, values):
    numbered = pd.DataFrame(values)
    assert repr(call(numbered)) == repr(call(numbered.rename(columns=str)))


@pytest.mark.parametrize("call", [sigstats.rank_sets, sigstats.friedman_test])
def test_names_that_are_equal_as_text_are_refused(call):
    with pytest.raises(ValueError, match=r"columns: .* expected names that differ as text"):
        call(pd.DataFrame(SCORES.round(), columns=[0, "0", 1]))


def test_numbered_categories_are_codes():
    rows = {0: ["u", "v", "u", "w"] * 3, 1: np.arange(12.0)}
    found = [
        sigstats.permutation_test("decision-tree", frame, [0, 1] * 6, cv=2, n_resamples=19, rng=0).pvalue
        for frame in (pd.DataFrame(rows), pd.DataFrame(rows).rename(columns={0: "a", 1: "b"}))
    ]
    assert found[0] == found[1]
