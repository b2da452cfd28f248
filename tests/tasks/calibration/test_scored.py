"""Populations of scores: rows drawn over all files without replacement, their truth, what is wrong with files."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, hypergeom
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from sigstats.measures.table import SCORE_MEASURES
from sigstats.scores.auc import auc_test
from sigstats.subsampling import draw_subsamples
from sigstats.tasks.calibration.populations import scored as score_populations
from sigstats.tasks.calibration.populations import tests as score_trials
from sigstats.tasks.calibration.populations.scored import read_scores
from sigstats.tasks.calibration.work import AppliedTest
from sigstats.tasks.storage.data import write_data
from sigstats.tasks.storage.store import Store

COLUMNS = {"label": "label", "a": "score_a", "b": "score_b"}


def table(n=900, seed=1):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    truth = np.where(positive, 0.65, 0.35)
    scores = [np.clip(truth + rng.normal(0, spread, n), 0, 1).round(2) for spread in (0.25, 0.3)]
    label = np.where(positive, "ill", "well")
    return pd.DataFrame({"label": label, "score_a": scores[0], "score_b": scores[1], "patient": rng.integers(0, 90, n)})


@pytest.fixture
def folder(tmp_path):
    frame = table()
    (tmp_path / "data").mkdir()
    for part, rows in enumerate((slice(0, 250), slice(250, 251), slice(251, 900))):
        frame[rows].to_parquet(tmp_path / "data" / f"{part}.parquet", index=False, row_group_size=100)
    return tmp_path / "data"


def read(folder, **options):
    given = {"columns": COLUMNS, "positive": "ill", "measures": SCORE_MEASURES} | options
    return read_scores("patients", str(folder), folder, **given)


@pytest.mark.parametrize("kept", [True, False], ids=["in memory", "file by file"])
def test_rows_are_those_of_the_files_in_their_order(folder, monkeypatch, kept):
    if not kept:
        monkeypatch.setattr(score_populations, "ROWS_IN_MEMORY", 0)
    frame = table()
    population = read(folder, columns={**COLUMNS, "group": "patient"})
    numbers = np.array([0, 99, 100, 249, 250, 251, 350, 351, 899])
    rows = population.take(numbers)
    chosen = frame.iloc[numbers]
    assert rows.positive.tolist() == (chosen["label"] == "ill").tolist()
    assert rows.a.tolist() == chosen["score_a"].tolist()
    assert rows.b.tolist() == chosen["score_b"].tolist()
    same = np.equal.outer(chosen["patient"].to_numpy(), chosen["patient"].to_numpy())
    assert (np.equal.outer(rows.group, rows.group) == same).all()


def test_the_truth_is_that_of_scikit_learn(folder):
    frame, population = table(), read(folder)
    y, a, b = frame["label"] == "ill", frame["score_a"], frame["score_b"]
    assert population.truth["auc"] == pytest.approx(roc_auc_score(y, b) - roc_auc_score(y, a))
    assert population.truth["neg-log-loss"] == pytest.approx(log_loss(y, a) - log_loss(y, b))
    assert population.truth["neg-brier"] == pytest.approx(brier_score_loss(y, a) - brier_score_loss(y, b))


def test_rows_and_counts_are_drawn_by_the_same_law(folder):
    """Which answers are right, told row by row, is distributed as the counts of joint outcomes are drawn."""
    frame, population = table(), read(folder)
    right = [(frame[side] >= 0.5) == (frame["label"] == "ill") for side in ("score_a", "score_b")]
    only_a, only_b = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
    n, size = 40, 3000
    sets = population.draw(n, np.random.default_rng(3), size)
    by_row = [(side >= 0.5) == sets.positive for side in (sets.a, sets.b)]
    found = (by_row[0] & ~by_row[1]).sum(axis=1)
    drawn = draw_subsamples([only_a, only_b, 900 - only_a - only_b], n, rng=4, size=size)[:, 0]
    most = 8
    counts = [np.bincount(np.minimum(each, most), minlength=most + 1) for each in (found, drawn)]
    kept = np.sum(counts, axis=0) > 10
    assert chi2_contingency(np.array(counts)[:, kept]).pvalue > 1e-3
    law = hypergeom(900, only_a, n)
    assert abs(found.mean() - law.mean()) < 5 * law.std() / np.sqrt(size)
    assert np.isclose(found.var(), law.var(), rtol=0.15)


def test_no_row_is_in_a_test_set_twice(folder):
    population = read(folder)
    everything = population.draw(900, np.random.default_rng(1), 2)
    for index in range(2):
        assert sorted(everything.a[index].tolist()) == sorted(table()["score_a"].tolist())


def test_an_exchange_of_scores_keeps_pairs_and_makes_both_alike(folder):
    plain, swapped = (
        each.draw(60, np.random.default_rng(8), 400) for each in (read(folder), replace(read(folder), swapped=True))
    )
    assert (plain.positive == swapped.positive).all()
    assert (np.sort([plain.a, plain.b], axis=0) == np.sort([swapped.a, swapped.b], axis=0)).all()
    share = (plain.a == swapped.b)[plain.a != plain.b].mean()
    assert abs(share - 0.5) < 0.02


def scores_test(measure, **options):
    options |= {"alternative": "two-sided", "confidence": 0.95}
    return AppliedTest(test="scores", measure=measure, options=options)


@pytest.mark.parametrize("measure", SCORE_MEASURES)
def test_each_test_set_is_tested_as_the_library_does(folder, measure):
    population = read(folder)
    sets = population.draw(80, np.random.default_rng(2), 5)
    test = scores_test(measure)
    answers, better = score_trials.run_score_test(test, sets, population.truth[measure])
    for index in range(5):
        y, a, b = sets.positive[index], sets.a[index], sets.b[index]
        if measure == "auc":
            expected = auc_test(y, a, b)
            of_few = score_trials.run_score_test(scores_test("auc", method="t"), sets, 0.0)[0]
            assert of_few.p_value[index] == auc_test(y, a, b, method="t").pvalue
            assert answers.p_value[index] == expected.pvalue
            assert better[index] == pytest.approx(roc_auc_score(y, b) - roc_auc_score(y, a))
        else:
            loss = log_loss if measure == "neg-log-loss" else brier_score_loss
            assert better[index] == pytest.approx(loss(y, a) - loss(y, b))


def test_a_test_set_of_one_class_says_nothing(folder):
    population = read(folder)
    sets = population.draw(2, np.random.default_rng(2), 50)
    test = scores_test("auc")
    answers, better = score_trials.run_score_test(test, sets, 0.0)
    assert (answers.p_value == 1).all()
    assert answers.covers.all()
    assert (better == 0).all()
    assert (sets.lacking == [not row.any() for row in sets.positive]).all()
    for measure in SCORE_MEASURES:
        one, _ = score_trials.run_score_test(scores_test(measure), sets.part((slice(None), slice(1))), 0.0)
        assert (one.p_value == 1).all()


def test_rows_that_lie_elsewhere_are_the_same_population(folder, tmp_path):
    before = read(folder)
    shutil.move(str(folder), str(tmp_path / "elsewhere"))
    after = read(tmp_path / "elsewhere")
    assert before.digest() == after.digest()
    store = Store(str(tmp_path / "store"))
    write_data(store, before)
    write_data(store, after)
    name = f"data/{next(iter(store.files.names('data')))}"
    assert score_populations.ScorePopulation.from_table(
        store.read_table(name, kind="data", fingerprint=after.digest())
    ).path == str(tmp_path / "elsewhere")


def test_rows_are_found_from_every_working_folder(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder.parent)
    given = {"columns": COLUMNS, "positive": "ill", "measures": SCORE_MEASURES}
    kept = read_scores("patients", folder.name, Path(), **given).to_table()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    rows = score_populations.ScorePopulation.from_table(kept).all()
    assert rows.a.tolist() == table()["score_a"].tolist()


def test_files_that_have_changed_are_named(folder, monkeypatch):
    monkeypatch.setattr(score_populations, "ROWS_IN_MEMORY", 0)
    population = read(folder)
    table(700).to_parquet(folder / "2.parquet", index=False, row_group_size=90)
    with pytest.raises(ValueError, match=r"2\.parquet, row group \d: has 90 rows, but had 100 at"):
        population.draw(600, np.random.default_rng(0), 1)


@pytest.mark.parametrize(
    ("column", "value", "complaint"),
    [
        ("score_a", 1.5, r"1\.parquet, row group 0: column 'score_a': 1.5 is not valid; expected probabilities of the"),
        ("score_b", np.inf, r"1\.parquet, row group 0: column 'score_b': inf is not valid; expected finite numbers"),
        ("score_b", "x", r"column 'score_b' has the type \w+; expected numbers"),
        ("label", None, r"1\.parquet, row group 0: column 'label': a value is missing \(null\)"),
        ("label", 3, r"1\.parquet, row group 0: column 'label' has the type int64; expected labels like 'ill'"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_row_group(folder, column, value, complaint):
    frame = table(1)
    frame[column] = [value]
    if value is None:
        frame = pd.concat([table(3), frame])
    frame.to_parquet(folder / "1.parquet", index=False)
    with pytest.raises(ValueError, match=complaint) as caught:
        read(folder)
    assert "\n" not in str(caught.value)


def test_a_column_or_a_class_that_is_not_there_is_named(folder):
    with pytest.raises(ValueError, match=r"column 'score_c' was not found; expected one of .*'score_a', 'score_b'"):
        read(folder, columns={**COLUMNS, "b": "score_c"})
    with pytest.raises(
        ValueError, match=r"positive: 'sick' is not valid; expected a label that some but not all rows have"
    ):
        read(folder, positive="sick")


def test_a_label_that_looks_missing_is_not_the_other_class(tmp_path):
    frame = table().assign(label=["NA" if row < 40 else "ill" if row % 3 else "well" for row in range(900)])
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    with pytest.raises(ValueError, match="column 'label': 40 of 900 labels are 'NA'; leave out these rows"):
        read_scores("rows", str(tmp_path / "rows.parquet"), Path(), columns=COLUMNS, positive="ill", measures=["auc"])
