"""What the rows show is a note: clustered errors, one class for all rows, labels as predictions, dropped rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

import sigstats
from sigstats.comparison.notes import clusters
from sigstats.comparison.paired_predictions import OtherColumns
from tests.examples import examples

PATIENTS, ROWS = 100, 10


def named(found, name):
    """The notes of this name."""
    return [note for note in found.notes if note.name == name]


@pytest.fixture
def patients():
    """Two models, of which the candidate is wrong on whole patients; the features are independent of the errors."""
    rng = np.random.default_rng(8)
    n = PATIENTS * ROWS
    y, patient = rng.integers(0, 2, n), np.repeat(rng.permutation(PATIENTS), ROWS)
    a = np.where(rng.random(n) < 0.9, y, 1 - y)
    b = np.where((rng.random(PATIENTS) < 0.1)[patient], 1 - y, a)
    rows = {"id": range(n), "label": y, "patient_id": patient, "age": rng.integers(20, 90, n), "site": patient % 5}
    frames = [pd.DataFrame({**rows, "prediction": said, "score": np.round(rng.random(n), 2)}) for said in (a, b)]
    return [frame.sample(frac=1, random_state=1) for frame in frames]


def test_a_column_that_clusters_errors_is_named_with_p_of_its_groups(patients):
    found = sigstats.compare(*patients)
    (note,) = named(found, "clustered-errors")
    grouped = sigstats.compare(*patients, groups="patient_id").rows[0].pvalue
    assert "'patient_id'" in note
    assert "100 values" in note
    assert "--group patient_id (groups)" in note
    assert float(note.rpartition("p is ")[2]) == pytest.approx(grouped, rel=0.01)
    assert grouped > 1000 * found.rows[0].pvalue
    assert not named(sigstats.compare(*patients, groups="patient_id"), "clustered-errors")
    assert not named(sigstats.compare(*patients, slices=["patient_id"]), "clustered-errors")


@pytest.mark.long
def test_the_verdict_in_groups_of_a_column_is_that_of_these_groups(patients):
    """On all rows and on slices; with more measures and slices than are tested again, only on all rows."""
    base, worse = (frame.sort_values("id", ignore_index=True) for frame in patients)
    for frame in (base, worse):
        frame["age"] = frame["id"] % 150
    rng, patient = np.random.default_rng(3), base["patient_id"]
    change = rng.choice(["none", "better", "worse"], PATIENTS, p=[0.8, 0.12, 0.08])[patient]
    right = np.select([change == "better", change == "worse"], [True, False], base["prediction"] == base["label"])
    better = worse.assign(prediction=np.where(right, base["label"], 1 - base["label"]))
    ages = {"slices": ["age"], "rule": sigstats.ComparisonRule(smallest_slice=2)}
    for candidate in (worse, better):
        for options, same in (({}, {}), ({"slices": ["site"]}, {"slices": ["site"]}), (ages, {})):
            found = sigstats.compare(base, candidate, **options)
            alone = sigstats.compare(base, candidate, **same)
            grouped = sigstats.compare(base, candidate, groups="patient_id", **same)
            (note,) = named(found, "clustered-errors")
            row, verdict = grouped.ranked[0], grouped.verdict.upper()
            ends = " to ".join(f"{100 * end:+.2f}".replace("-", "−") for end in (row.low, row.high))
            assert f"the interval of accuracy on {row.slice} is {ends}, the verdict is {verdict}" in note
            differs = grouped.verdict != alone.verdict == found.verdict
            assert (f", but {verdict} in groups by 'patient_id' (" in found.answer.headline) == differs
            assert found.answer.advice.startswith("Repeat with these groups (--group). If all rows are") == differs


@pytest.mark.long
def test_few_passes_without_a_doubt_are_wrong_if_all_rows_of_a_patient_are_equal():
    """The accuracy is the bar: a pass has a chance of 2.5%, and 8 or more of 80 one of 0.1%."""
    rng, passes, doubtless = np.random.default_rng(5), 0, 0
    for _ in range(80):
        right, y = np.repeat(rng.random(60) < 0.75, 5), rng.integers(0, 2, 300)
        frame = pd.DataFrame(
            {"patient": np.repeat(np.arange(60), 5), "label": y, "prediction": np.where(right, y, 1 - y)}
        )
        answer = sigstats.check(frame, at_least=0.75).answer
        passes += answer.verdict == "pass"
        doubtless += answer.verdict == "pass" and "INCONCLUSIVE in groups by 'patient' (" not in answer.finding
    assert passes > 8 > doubtless


@pytest.mark.long
@pytest.mark.parametrize(
    "form", ["doc{:03}_q{}", "{} / {}", "clinic-{}-visit:{}", "a/b{}.{}", "doc{}q{}", "P{:03}visit{}"]
)
def test_groups_that_only_the_ids_name_are_noted(patients, form):
    grouped = sigstats.compare(*patients, groups="patient_id").rows[0].pvalue
    frames = []
    for frame in patients:
        ids = [form.format(patient, row) for patient, row in zip(frame["patient_id"], frame["id"] % ROWS, strict=True)]
        frames.append(frame.assign(id=ids))
    for columns in (["age", "site", "patient_id"], ["patient_id"]):
        (note,) = named(sigstats.compare(*(frame.drop(columns=columns) for frame in frames)), "clustered-errors")
        assert "rows with equal starts of ids differ alike: sums over its 100 values" in note
        assert "--group COLUMN, a column of these starts, (groups)" in note
        assert float(note.rpartition("p is ")[2]) == pytest.approx(grouped, rel=0.01)
    (note,) = named(sigstats.compare(*frames), "clustered-errors")  # a column with the same groups
    assert "rows with equal 'patient_id'" in note
    independent = [frame.drop(columns="patient_id").sort_values("site", ignore_index=True) for frame in frames]
    numbers = np.random.default_rng(3).permutation(PATIENTS * ROWS)
    other = [frame.assign(id=[form.format(k // ROWS, k % ROWS) for k in numbers]) for frame in independent]
    assert not named(sigstats.compare(*other), "clustered-errors")


def test_columns_that_are_outputs_of_a_model_are_not_named(patients):
    rng = np.random.default_rng(1)
    for frame in patients:
        own = (frame["prediction"] == frame["label"]) * 50 + rng.integers(0, 50, len(frame))
        frame["output"], frame["probability"] = own, own / 100
        del frame["patient_id"]
    assert not named(sigstats.compare(*patients), "clustered-errors")
    for frame in patients:
        frame["probability"] = patients[0]["probability"]
    assert not named(sigstats.compare(*patients), "clustered-errors")


@pytest.mark.parametrize("columns", [1, 4])
def test_columns_are_named_by_chance_in_one_of_a_hundred_inputs(columns):
    """Rare differences and those without variance, in groups of one row and of most. The chance of 10 or more of 300
    is 0.1% where each has 1%."""
    rng, n, alarms = np.random.default_rng(columns), 60, 0
    for trial in range(300):
        few = rng.choice([-1.0, 0, 1], n, p=[0.02, 0.97, 0.01])
        values = [few, rng.standard_cauchy(n), rng.choice([-1.0, 1], n)][trial % 3]
        sizes = rng.zipf(1.4, (columns, n)).clip(1, n // 2)
        codes = {str(i): np.unique(np.repeat(np.arange(n), s)[:n], return_inverse=True)[1] for i, s in enumerate(sizes)}
        alarms += any(
            True
            for _ in clusters(
                values, OtherColumns(columns=codes, numbers=codes), classes=2, seed=trial, in_groups=lambda *_: ("", "")
            )
        )
    assert alarms < 10


@pytest.mark.long
@given(
    seed=st.integers(0, 10**6),
    kinds=st.integers(16, 60),
    rise=st.sampled_from([lambda mark: mark, lambda mark: 1 - mark, lambda mark: mark > 0.6, lambda mark: mark**4]),
)
@settings(max_examples=examples(40))
def test_marks_and_lengths_that_errors_rise_or_fall_with_are_not_groups_but_numbers_of_groups_are(seed, kinds, rise):
    rng, n = np.random.default_rng(seed), 1_500
    mark = rng.integers(kinds, size=n)
    chance = 0.15 + 0.7 * rise(mark / (kinds - 1))
    of_group = np.clip(chance + rng.choice([-0.4, 0.4], kinds)[mark], 0, 1)  # a group may have a trend as well
    label = rng.integers(0, 2, n)
    for right, groups in ((rng.random(n) < chance, False), (rng.random(n) < of_group, True)):
        frame = pd.DataFrame({"label": label, "prediction": np.where(right, label, 1 - label), "mark": mark})
        assert bool(named(sigstats.check(frame, at_least=0.1), "clustered-errors")) == groups
        frame["mark"] = "m" + frame["mark"].astype(str)  # names have no order
        assert named(sigstats.check(frame, at_least=0.1), "clustered-errors")


def test_one_class_for_all_rows_and_labels_as_predictions_are_told():
    rng = np.random.default_rng(1)
    y = (rng.random(300) < 0.1).astype(int)
    a = np.where(rng.random(300) < 0.9, y, 1 - y)
    assert [note.name for note in sigstats.compare(y, a, a.copy()).notes] == ["identical-models"]
    (constant,) = sigstats.compare(y, a, np.zeros(300, int)).notes
    assert (constant.name, constant) == ("constant-predictions", "the candidate predicts '0' in all 300 rows")
    (perfect,) = sigstats.compare(y, a, y.copy()).notes
    assert perfect.name == "perfect-predictions"
    ranked = sigstats.rank_models(
        np.column_stack([a, y, 0 * y]), label=y, models=["the baseline", "the candidate", "c"]
    )
    assert [str(note) for note in ranked.notes] == [perfect, "c predicts '0' in all 300 rows"]
    of_arrays = sigstats.assert_at_least(y, np.zeros(300, int), at_least=0.5).notes
    frame = pd.DataFrame({"label": y, "prediction": 0})
    assert [note.name for note in of_arrays] == ["class-never-predicted", "constant-predictions"]
    assert [note.name for note in sigstats.check(frame, at_least=0.5).notes if note.name != "joined-by-position"] == [
        note.name for note in of_arrays
    ]


@pytest.mark.long
def test_probabilities_of_only_0_and_1_are_noted():
    rng = np.random.default_rng(4)
    y = rng.integers(2, size=300)
    soft = np.clip(y * 0.4 + 0.7 * rng.random(300), 0.01, 0.99)
    hard = (soft > 0.5).astype(float)
    for scores, models in ((soft, hard), ["the candidate"]), ((hard, hard[::-1]), ["the baseline and the candidate"]):
        for measure in ("auc", "neg-brier", "average-precision"):
            notes = named(sigstats.compare(y, y, y, measures=measure, scores=list(scores)), "hard-scores")
            assert [f"all 300 scores of {model} are 0 or 1" in note for model, note in zip(models, notes)] == [True]  # noqa: B905
    assert not named(sigstats.compare(y, y, y, measures="auc", scores=[soft, soft[::-1]]), "hard-scores")


def test_answers_that_agree_in_all_rows_are_told_if_other_columns_differ():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"id": range(60), "label": rng.integers(0, 3, 60), "prediction": rng.integers(0, 3, 60)})
    frame["f1"] = rng.random(60)
    for kept, options in ((["label", "prediction"], {}), (["f1"], {"score": "f1"})):
        base = frame[["id", *kept]]
        other = base.sample(frac=1, random_state=1).assign(note=frame["f1"])
        (copy,) = named(sigstats.compare(base, other, **options), "identical-models")
        assert copy == "the candidate and the baseline have the same answers in all 60 rows; one may be a copy"
        assert not named(sigstats.compare(base, base.copy(), **options), "identical-models")  # another line tells
        other.loc[7, kept[-1]] = frame[kept[-1]].max() - frame.loc[7, kept[-1]]
        assert not named(sigstats.compare(base, other, **options), "identical-models")


@pytest.mark.parametrize("prediction", [[0, 1] * 30, [1] * 60])
def test_models_that_are_right_in_all_rows_or_constant_need_not_be_copies_to_agree(prediction):
    base = pd.DataFrame(
        {"id": range(60), "label": [0, 1] * 30, "prediction": prediction, "f1": 1.0, "words": range(60)}
    )
    other = base.assign(note=1)
    marks = base.drop(columns=["label", "prediction"]), other.drop(columns=["label", "prediction"])
    for result in (sigstats.compare(base, other), sigstats.compare(*marks, score="f1")):
        assert not named(result, "identical-models")
    assert not named(sigstats.compare(*marks, ratio="f1/words", higher_is_better="f1/words"), "identical-models")
    assert not sigstats.rank_models(np.ones((30, 2), dtype=bool), models=["a", "b"]).notes


@pytest.mark.parametrize("options", [{"unscored": "drop"}, {"unmatched": "drop"}])
def test_what_the_other_model_does_on_dropped_rows_is_told(options):
    n, lost = 200, 8
    y = np.arange(n) % 2
    a = np.where((np.arange(n) < 7) | (np.arange(n) % 10 == 9), 1 - y, y)  # wrong on 7 of the first 8, and on 19 others
    baseline = pd.DataFrame({"id": range(n), "label": y, "prediction": a.astype(str)})
    candidate = baseline.assign(prediction=[None] * lost + [*a[lost:].astype(str)])
    if "unmatched" in options:
        candidate = candidate.iloc[lost:]
    (note,) = named(sigstats.compare(baseline, candidate, **options), "dropped-rows")
    assert note.startswith("8 rows left out, as candidate lacks them: baseline has 1 of them right (12%; 90% of the o")
    (turned,) = named(sigstats.compare(candidate, baseline, **options), "dropped-rows")
    assert "as baseline lacks them: candidate has 1 of them right" in turned
    marks = [
        side[["id"]].assign(f1=(side["id"] < 4).where(side["prediction"].notna())) for side in (baseline, candidate)
    ]
    (of_marks,) = named(sigstats.compare(*marks, score="f1", **options), "dropped-rows")
    assert "the mean of baseline is 0.5 on them and 0 on the others" in of_marks


def test_neighbouring_rows_that_differ_alike_are_noted():
    rng = np.random.default_rng(2)
    y, loss = np.arange(400) % 2, rng.random(400)
    rows = {"id": np.arange(400), "label": y, "prediction": y, "loss": loss}
    base = pd.DataFrame(rows)
    cand = base.assign(loss=loss + 0.2 * np.repeat(rng.normal(size=80), 5) + 0.1 * rng.normal(size=400))
    ways = {"score": "loss", "lower_is_better": "loss"}
    (note,) = named(sigstats.compare(base, cand, **ways), "ordered-errors")
    assert "autocorrelation 0." in note
    mixed = rng.permutation(400)
    assert not named(sigstats.compare(base.iloc[mixed], cand.iloc[mixed], **ways), "ordered-errors")
    base["hour"] = cand["hour"] = np.arange(400) // 5
    assert not named(sigstats.compare(base, cand, **ways, groups="hour"), "ordered-errors")


def test_files_sorted_by_class_have_no_ordered_errors():
    rng = np.random.default_rng(3)
    y = np.sort(rng.integers(0, 3, 2000))
    b = np.where(rng.random(2000) < np.array([0.3, 0.05, 0.0])[y], (y + 1) % 3, y)
    assert not named(sigstats.compare(y, y, b), "ordered-errors")


@pytest.mark.parametrize("flipped", [0.5, 0.62, 0.75, 1.0])
@pytest.mark.parametrize("codes", [(0, 1), ("no", "yes")])
def test_models_of_two_classes_that_are_right_less_often_than_by_chance_are_noted(flipped, codes):
    """Four standard deviations of the hypergeometric law; independent predictions are noted in 3e-5 of inputs."""
    rng, n = np.random.default_rng(5), 400
    label = rng.integers(0, 2, n)
    a, b = (np.where(rng.random(n) < share, 1 - label, label) for share in (flipped, 0.14))
    right = ((label == 1) & (a == 1)).sum()
    law = hypergeom(n, (label == 1).sum(), (a == 1).sum())
    found = sigstats.compare(*(np.array(codes)[column] for column in (label, a, b)))
    assert bool(named(found, "below-chance")) == (right < law.mean() - 4 * law.std())


def test_three_classes_and_answers_that_are_right_or_wrong_are_no_exchanged_pair():
    rng = np.random.default_rng(6)
    label = rng.integers(0, 3, 300)
    assert not named(sigstats.compare(label, (label + 1) % 3, label), "below-chance")
    assert not named(sigstats.compare(np.ones(300), rng.random(300) < 0.1, rng.random(300) < 0.2), "below-chance")


@pytest.mark.parametrize(
    ("form", "refused"), [("{}.0", True), ("{:05}", True), ("{} ", True), ("P{}", False), ("{}a", False)]
)
def test_groups_in_two_spellings_are_seen_however_few_their_rows(form, refused):
    """Two eyes of each of 150 patients, and the second table spells them otherwise."""
    first = "p{}" if form == "P{}" else "{}"
    groups = [template.format(patient) for template in (first, form) for patient in range(150)]
    b = np.tile(np.where(np.arange(150) < 4, 0, 1), 2)
    a = np.ones_like(b)
    if refused:
        for test in (
            sigstats.compare,
            lambda y, a, b, groups: sigstats.mean_score_test(1.0 * a, 1.0 * b, groups=groups),
        ):
            with pytest.raises(ValueError, match=r"one group|each group"):
                test(np.ones_like(a), a, b, groups=groups)
    else:
        assert bool(named(sigstats.compare(np.ones_like(a), a, b, groups=groups), "spelled-twice")) == (form == "P{}")
