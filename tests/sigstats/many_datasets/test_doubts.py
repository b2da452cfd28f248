"""Tables of scores whose unit, direction or columns may be misread."""

import re

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats._common.scores import unlike_units

SCORES = np.random.default_rng(3).uniform(0.6, 0.9, (12, 2))


def notes(scores, **options):
    return sigstats.compare_over_datasets(scores, rng=0, **options).notes


@pytest.mark.parametrize(
    ("names", "greater", "told"),
    [
        (["a_error", "b_error"], True, "A lower error is better"),
        (["val loss a", "val loss b"], True, "A lower loss is better"),
        (["Loss/A", "loss/B"], True, "A lower loss is better"),
        (["a", "b"], True, ""),
        (["a_error", "b_loss_ms"], True, "A lower error is better"),
        (["error_a", "loss_b"], True, ""),  # may be models
        (["a_error", "b"], True, ""),
        (["a_error", "b_error"], False, ""),
        (["acc_1", "acc_2"], False, "A higher accuracy is better"),
        (["error_model", "no_error_model"], True, ""),
    ],
)
def test_names_of_costs_contradict_the_direction(names, greater, told):
    frame = pd.DataFrame(SCORES, columns=names)
    assert [note.startswith(told) for note in notes(frame, greater_is_better=greater)] == [True] * bool(told)
    if greater and told:
        for measure in ("p95", "mean-score", None):
            with pytest.raises(ValueError, match=f"^models: a{told[1:]}, but higher counts as better here; "):
                sigstats.rank_models(frame, measure=measure)
            if measure != "p95":
                assert sigstats.rank_models(-frame, measure=measure).models[0].model in names
        if "error" not in told:  # may be names of models that are right or wrong
            assert "direction" in [note.name for note in sigstats.rank_models(frame > 0.75).notes]
    elif greater:
        assert "direction" not in [note.name for note in sigstats.rank_models(frame).notes]


@pytest.mark.parametrize("kind", [bool, int])
@pytest.mark.parametrize("word", ["wrong", "Errors", "hallucinated"])
def test_truth_values_with_the_names_of_errors_are_not_ranked(word, kind):
    frame = pd.DataFrame(SCORES > 0.75, columns=[f"a_{word}", f"b {word}"]).astype(kind)
    with pytest.raises(ValueError, match=rf"^models: 'a_{word}' seems to mark wrong answers; give right answers"):
        sigstats.rank_models(frame)
    assert sigstats.rank_models(frame.set_axis(["a", f"b_{word}"], axis=1)).models


@pytest.mark.parametrize(
    ("names", "note"),
    [
        (["focal loss", "dice"], ""),
        (["no errors", "1 error"], "'no errors' may mark wrong"),
        (["x loss", "y loss"], "a lower"),
    ],
)
def test_stated_names_of_models_that_are_right_or_wrong_are_at_most_noted(names, note):
    answers = SCORES > 0.75
    plain = sigstats.rank_models(answers, models=["a", "b"])
    items = np.r_[0 : len(answers), 0], np.r_[answers, [[1, np.nan]]]
    for ranking in (
        sigstats.rank_models(answers * 1, models=names),
        sigstats.rank_models(items[1], items=items[0], models=names),
    ):
        assert [each.startswith(note) for each in ranking.notes if each.name == "direction"] == [True] * bool(note)
    assert [pair.pvalue for pair in sigstats.rank_models(answers, models=names).pairs] == [
        p.pvalue for p in plain.pairs
    ]
    with pytest.raises(ValueError, match=r"^models: "):
        sigstats.rank_models(SCORES, models=names)


@pytest.mark.parametrize("names", [["a_acc", "a_loss"], ["a f1", "b (latency_ms)"]])
def test_costs_and_qualities_in_one_table_are_refused(names):
    frame = pd.DataFrame(SCORES, columns=names)
    for call in (notes, sigstats.rank_models):
        with pytest.raises(ValueError, match=r"^models: a higher \w+ and a lower \w+ are better; give scores of one"):
            call(frame)


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


@pytest.mark.parametrize(("factor", "code", "told"), [(1, -1, True), (100, -999, True), (1, -0.4, False)])
@pytest.mark.parametrize("named", [True, False])
def test_a_single_code_of_a_missing_score_is_noted(factor, code, told, named):
    table = np.column_stack([SCORES, SCORES[::-1]]) * factor
    table[3, 1] = code
    scores, name = (pd.DataFrame(table, columns=list("abcd")), "b") if named else (table, "2")
    results = [sigstats.friedman_test(scores).reason, *notes(scores), *sigstats.rank_models(scores).notes]
    wanted = f"1 of 12 for {name} is {code} and all others {SCORES.min() * factor:g} to .*if it means no score"
    assert sum(bool(re.search(wanted, text)) for text in results) == 3 * told


@pytest.mark.parametrize("other", ["a_std", "n", "n_features", "support", "n_images", "Num examples"])
def test_columns_of_spreads_and_sizes_are_no_models(other):
    frame = pd.DataFrame(SCORES, columns=["a", "b"]).assign(**{other: 3.0})
    with pytest.raises(ValueError, match=f"the column '{other}' is not a model"):
        notes(frame)
    assert notes(frame, models=["a", "b"]) == ()


SIZES = {"rows": [100, 768, 150] * 4, "classes": [2, 5, 3] * 4, "IR": [1, 8.3, 1.9] * 4, "year": range(2001, 2013)}


@pytest.mark.parametrize("name", SIZES)
def test_a_column_of_sizes_next_to_scores_from_0_to_1_is_in_another_unit(name):
    frame = pd.DataFrame(SCORES, columns=["a", "b"]).assign(x=SIZES[name])
    least, most = min(SIZES[name]), max(SIZES[name])
    for call in (sigstats.compare_over_datasets, sigstats.friedman_test, sigstats.rank_models):
        with pytest.raises(ValueError, match=rf"'a' and {least:g} to {most:g} of 'x' look like two units; expected"):
            call(frame)
    assert notes(frame, models=["a", "b", "x"]) != ()
    notes(frame, greater_is_better=False)  # losses may be of any size
    assert sigstats.rank_models(frame, score_range=(0, 2500)).n == 12


@pytest.mark.long
@pytest.mark.parametrize("n", [3, 5, 10, 30])
def test_points_and_speedups_of_models_are_in_one_unit(n):
    """At most 3 of 300 tables are refused."""
    rng, refused = np.random.default_rng(0), 0
    for _ in range(150):
        ability = rng.uniform(0.1, 0.6, 4) + rng.normal(0, 0.1, (n, 1))
        speedups = np.exp(rng.normal(0, 0.3, 4) + rng.normal(0, 0.3, (n, 1)) + rng.normal(0, 0.2, (n, 4)))
        for table in (rng.binomial(3, ability.clip(0, 1)) * 1.0, speedups):
            try:
                unlike_units([*table.T], "abcd", wanted="one unit")
            except ValueError:
                refused += 1
    assert refused <= 3


FOLD_NAMES = [
    [f"fold{i}" for i in range(12)],
    [f"split{i}_test_score" for i in range(12)],
    [f"cv {i}" for i in range(12)],
    [f"repeat {i // 4} fold {i % 4}" for i in range(12)],
    [f"pima_kfold-{i}" for i in range(12)],
    *([name.format(i) for i in range(12)] for name in ("iris/fold{}", "iris (fold {})", "iris_bootstrap{}")),
    [*(f"split{i}_test_score" for i in range(9)), "mean_test_score", "std_test_score", "rank_test_score"],
]


RUNS = ["seed_{}", "seed={}", "run {}", "trial_{}", "Epoch {}", "random_state={}", "iris-seed{}", "seed{}/iris"]
RUNS += ["iris:seed={}"]
FOLD, RUN = "part of cross-validation, not a data set.*corrected_resampled_test", "run on one data set, not a data set"
NAMES = [(names, FOLD) for names in FOLD_NAMES] + [([run.format(i) for i in range(12)], RUN) for run in RUNS]
COLUMNS = {
    FOLD: ["fold", "Split", "cv_fold", "repeat", "repeats", "CV", "fold_id", "kfold"],
    RUN: ["seed", "Run", "run_id", "trial", "random_state", "random seed", "seeds", "epoch"],
}


def all_refuse(calls, message):
    for call in calls:
        with pytest.raises(ValueError, match=message) as raised:
            call()
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("names", "kind"), NAMES, ids=[names[0] for names, _ in NAMES])
def test_folds_and_runs_on_one_data_set_are_no_data_sets(names, kind):
    scores = np.column_stack([SCORES, SCORES[:, 0] / 2])
    frame = pd.DataFrame(scores, columns=list("abc"), index=names)
    calls = (
        lambda: sigstats.compare_over_datasets(frame),
        lambda: sigstats.friedman_test(frame),
        lambda: sigstats.compare_over_datasets(scores, datasets=names),
        lambda: sigstats.compare_over_datasets(frame.reset_index(names="data"), datasets="data"),
    )
    all_refuse(calls, f"datasets: '{re.escape(names[0])}' is a {kind}")


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (["dataset", "seed"], "'seed 0' is a run on one data set"),
        (["fold", "dataset"], "'fold a' is a part of cross-validation"),
        ([None, None], r"scores \(levels of the index\): .* expected a name for each level"),
        (["suite", "task"], None),
    ],
)
def test_levels_of_an_index_are_columns(levels, message):
    rows = [[*"abcd"] * 3, [0, 1, 2] * 4] if levels[0] != "fold" else [[*"abcd"] * 3, [*"uvw"] * 4]
    index = pd.MultiIndex.from_arrays(rows, names=levels)
    frame = pd.DataFrame(np.column_stack([SCORES, SCORES[:, 0] / 2]), columns=list("abc"), index=index)
    calls = [
        *(lambda: sigstats.compare_over_datasets(frame), lambda: sigstats.compare_over_datasets({**frame})),
        *(lambda: sigstats.friedman_test(frame), lambda: sigstats.signed_rank_test(frame.a - frame.b)),
    ]
    if message is not None:
        all_refuse(calls, message)
    else:
        assert all(call() is not None for call in calls)


@pytest.mark.parametrize(("column", "kind"), [(column, kind) for kind, of in COLUMNS.items() for column in of])
def test_rows_of_a_column_of_folds_or_runs_are_no_data_sets(column, kind):
    frame = pd.DataFrame(SCORES, columns=["a", "b"]).assign(c=0.5, **{column: range(12)})
    wide, long = frame.set_index(column), frame.melt(id_vars=column, var_name="model", value_name="f1")
    calls = (
        lambda: sigstats.compare_over_datasets(wide),
        lambda: sigstats.friedman_test(wide),
        lambda: sigstats.compare_over_datasets(frame, datasets=column),
        lambda: sigstats.compare_over_datasets(long, models="model", datasets=column),
    )
    all_refuse(calls, f"datasets: '{column} 0' is a {kind}")


SUMMARY_NAMES = [
    *("mean_test_score", "std_fit_time", "rank_test_f1", "Avg.", "Average accuracy", "Avg. acc.", "All datasets"),
    *(
        "Mean (std)",
        "Mean \u00b1 std",
        "Mean over sets",
        "Avg. rank",
        "avg_rank",
        "Overall mean",
        "Average of 5 data sets",
    ),
    *("Macro average", "Sum of ranks", "All (5 datasets)", "# wins", "Win/tie/loss", "p-value", "Average:"),
]


@pytest.mark.parametrize("name", SUMMARY_NAMES)
def test_rows_that_are_computed_from_others_are_no_data_sets(name):
    frame = pd.DataFrame(SCORES, columns=["a", "b"], index=[*"cdefghijklm", name]).assign(c=0.5)
    for call in (sigstats.compare_over_datasets, sigstats.friedman_test):
        with pytest.raises(ValueError, match=rf"datasets: '{re.escape(name)}' is not valid; .*; remove totals"):
            call(frame)


def test_names_of_data_sets_may_contain_such_words():
    names = ["banana-split", "fold", "repeat", "cv", "covid", "fold3", "mean-shift", "manifold 2", "a", "b", "c", "d"]
    words = [
        "All Beauty",
        "All of Us",
        "allbp",
        "Average Localization Error",
        "median house value",
        "total_sulfur",
        "d",
    ]
    expected = sigstats.compare_over_datasets(SCORES, models=["a", "b"], rng=0).pairs
    for index in (
        names,
        [*words, *names[3:8]],
        [f"manifold {i}" for i in range(12)],
        range(12),
        [f"split-cifar{i}" for i in range(12)],
    ):
        frame = pd.DataFrame(SCORES, columns=["a", "b"], index=index)
        assert sigstats.compare_over_datasets(frame, rng=0).pairs == expected
