"""Columns by number, as in `pd.DataFrame(array)`, or by name in a mapping, are those of a data frame with names."""

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.ranking.rank_sets import rank_sets

SCORES = np.random.default_rng(0).random((12, 3))
CORRECT = np.random.default_rng(1).integers(0, 2, (40, 3))


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "values"),
    [
        (sigstats.rank_models, CORRECT),
        (rank_sets, CORRECT),
        (lambda table: sigstats.compare_over_datasets(table, rng=0), SCORES),
        (sigstats.friedman_test, SCORES),
        (lambda X: sigstats.permutation_test("1-nn", X, [0, 1] * 6, cv=2, n_resamples=19, rng=0), SCORES),
    ],
)
def test_numbers_are_names(call, values):
    numbered = pd.DataFrame(values)
    assert repr(call(numbered)) == repr(call(numbered.rename(columns=str)))


@pytest.mark.parametrize(
    ("call", "values"),
    [
        (lambda table, name: sigstats.rank_models(table, label=name(0)), CORRECT),
        (lambda table, name: sigstats.rank_models(table, groups=name(0), models=[name(1), name(2)]), CORRECT),
        (lambda table, name: sigstats.rank_models(table, slices=[name(0)]), CORRECT),
        (lambda table, name: rank_sets(table, groups=name(0)), CORRECT),
        (lambda table, name: sigstats.compare_over_datasets(table, control=name(2), rng=0), SCORES),
        (lambda table, name: sigstats.compare_over_datasets(table, datasets=name(0), rng=0), SCORES),
        (lambda table, name: sigstats.friedman_test(table, models=[name(2), name(0), name(1)]), SCORES),
    ],
)
def test_a_column_is_named_by_its_number(call, values):
    numbered = pd.DataFrame(values)
    assert repr(call(numbered, int)) == repr(call(numbered.rename(columns=str), str)) == repr(call(numbered, np.int64))


@pytest.mark.parametrize(
    ("call", "values"),
    [
        (sigstats.rank_models, CORRECT),
        (lambda table: sigstats.rank_models(table, cost=table), CORRECT),
        (lambda table: sigstats.rank_models(table, label="0"), CORRECT),
        (rank_sets, CORRECT),
        (lambda table: sigstats.compare_over_datasets(table, rng=0), SCORES),
        (sigstats.friedman_test, SCORES),
    ],
)
def test_a_mapping_of_names_to_columns_is_a_data_frame(call, values):
    columns = {str(place): column for place, column in enumerate(values.T)}
    assert repr(call(columns)) == repr(call({name: list(column) for name, column in columns.items()}))
    assert repr(call(columns)) == repr(call(pd.DataFrame(columns)))


@pytest.mark.parametrize("call", [sigstats.rank_models, rank_sets, sigstats.friedman_test])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({1: [1, 0], "1": [0, 1], "b": [1, 1]}, r"expected names that differ as text"),
        ({"a": [1, 0, 1], "b": [1, 0]}, r"\['b'\]: the length is 2; expected 3"),
        ({"a": pd.Series([1, 0]), "b": pd.Series([1, 0], index=[1, 0])}, r"\['b'\] \(index\).* is not valid"),
    ],
)
def test_columns_of_a_mapping_have_the_same_rows(call, columns, message):
    with pytest.raises(ValueError, match=message):
        call(columns)


@pytest.mark.parametrize(
    "call", [sigstats.rank_models, rank_sets, sigstats.compare_over_datasets, sigstats.friedman_test]
)
def test_columns_of_one_name_are_refused(call):
    with pytest.raises(ValueError, match=r"^columns: .* whose columns have different names"):
        call(pd.DataFrame(SCORES.round(), columns=["a", "a", "b"]))


@pytest.mark.parametrize("call", [rank_sets, sigstats.friedman_test])
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
