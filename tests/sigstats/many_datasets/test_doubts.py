"""Tables of scores whose unit, direction or columns may be misread."""

import numpy as np
import pandas as pd
import pytest

import sigstats

SCORES = np.random.default_rng(3).uniform(0.6, 0.9, (12, 2))


def notes(scores, **options):
    return sigstats.compare_over_datasets(scores, rng=0, **options).notes


@pytest.mark.parametrize(
    ("names", "greater", "told"),
    [
        (["a_error", "b_error"], True, "A lower error is better"),
        (["val loss a", "val loss b"], True, "A lower loss is better"),
        (["a", "b"], True, ""),
        (["a_error", "b_loss"], True, ""),  # no name that all share
        (["a_error", "b_error"], False, ""),
        (["acc_1", "acc_2"], False, "A higher accuracy is better"),
        (["error_model", "no_error_model"], True, ""),
    ],
)
def test_names_of_costs_contradict_the_direction(names, greater, told):
    frame = pd.DataFrame(SCORES, columns=names)
    assert [note.startswith(told) for note in notes(frame, greater_is_better=greater)] == [True] * bool(told)
    if greater:
        ranked = [note.name for note in sigstats.rank_models(frame).notes]
        assert ("direction" in ranked) == bool(told)


def test_the_column_of_a_long_table_has_the_name_of_a_cost():
    long = pd.DataFrame(SCORES, columns=["a", "b"]).melt(ignore_index=False, var_name="model", value_name="rmse")
    (note,) = notes(long.reset_index(), models="model", datasets="index")
    assert note.startswith("A lower rmse is better")


def test_data_sets_in_two_units_are_noted_and_models_in_two_units_refused():
    (note,) = notes(SCORES * np.where(np.arange(12) < 6, 1, 100)[:, np.newaxis])
    assert note.startswith("Scores may be in two units")
    assert notes(SCORES * 100) == notes(SCORES) == ()
    assert notes(SCORES * np.geomspace(1, 1e4, 12)[:, np.newaxis], greater_is_better=False) == ()  # losses may differ
    with pytest.raises(ValueError, match="look like two units; expected scores of all models in one unit"):
        notes(SCORES * [1, 100])


@pytest.mark.parametrize("other", ["a_std", "n", "n_features"])
def test_columns_of_spreads_and_sizes_are_no_models(other):
    frame = pd.DataFrame(SCORES, columns=["a", "b"]).assign(**{other: 3.0})
    with pytest.raises(ValueError, match=f"the column '{other}' is not a model"):
        notes(frame)
    assert notes(frame, models=["a", "b"]) == ()
