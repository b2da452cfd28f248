"""`sigstats compare`: verdicts against other libraries, planted and absent regressions, and what is refused."""

import json
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    matthews_corrcoef,
    roc_auc_score,
)
from sklearn.model_selection import train_test_split
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from sigstats.comparison.answer import reasons
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.result import rule_in_words
from sigstats.comparison.rule import ComparisonRule
from sigstats.flows.commands import compare as command
from sigstats.flows.commands import main
from sigstats.flows.commands._options import rule_of
from sigstats.flows.commands._predictions import SECOND_FILE
from sigstats.flows.comparison.page import as_html
from sigstats.mcnemar.sample_size import detectable_difference

from ...paired import paired_codes
from ...random_weights import NEAR, not_worse


def frames(n=600, seed=1, k=3):
    """Two models that are equally good, on rows with a region."""
    rng = np.random.default_rng(seed)
    label = rng.integers(k, size=n)

    def model():
        return np.where(rng.random(n) < 0.8, label, rng.integers(k, size=n))

    base = pd.DataFrame(
        {"id": np.arange(n), "label": label, "prediction": model(), "region": rng.choice(list("NS"), n)}
    )
    return base, base.assign(prediction=model())


def written(tmp_path, base, cand, form="csv"):
    paths = tmp_path / f"base.{form}", tmp_path / f"cand.{form}"
    for path, frame in zip(paths, (base, cand), strict=True):
        if form == "csv":
            frame.to_csv(path, index=False)
        elif form == "parquet":
            frame.to_parquet(path, index=False)
        else:
            frame.to_json(path, orient="records", lines=True)
    return [str(path) for path in paths]


def compared(tmp_path, *arguments, code=None):
    """The exit code and the JSON of a comparison."""
    target = tmp_path / "found.json"
    found = main(["compare", *map(str, arguments), "--json", str(target)])
    assert code is None or found == code
    return found, json.loads(target.read_text())


def test_measures_tests_and_adjustment_are_those_of_other_libraries(tmp_path):
    base, cand = frames()
    paths = written(tmp_path, base, cand)
    measures = ["accuracy", "macro-f1", "balanced-accuracy", "mcc"]
    options = [argument for name in measures for argument in ("--measure", name)]
    _, found = compared(tmp_path, *paths, "--slice", "region", *options)
    functions = {
        "accuracy": accuracy_score,
        "macro-f1": lambda y, p: f1_score(y, p, average="macro"),
        "balanced-accuracy": balanced_accuracy_score,
        "mcc": matthews_corrcoef,
    }
    assert [row["slice"] for row in found["rows"][::4]] == ["all rows", "region = N", "region = S"]
    for row in found["rows"]:
        part = np.ones(len(base), bool) if row["slice"] == "all rows" else base["region"] == row["slice"][-1]
        y, a, b = base["label"][part], base["prediction"][part], cand["prediction"][part]
        measure = functions[row["measure"]]
        assert (row["n"], row["baseline"]) == (part.sum(), pytest.approx(measure(y, a)))
        assert row["candidate"] == pytest.approx(measure(y, b))
        assert row["difference"] == pytest.approx(measure(y, b) - measure(y, a))
        assert row["low"] <= row["difference"] <= row["high"]
        if row["measure"] == "accuracy":
            right_a, right_b = (a == y).to_numpy(), (b == y).to_numpy()
            table = [[(right_a & right_b).sum(), (right_a & ~right_b).sum()], [(~right_a & right_b).sum(), 0]]
            assert row["p_differs"] == pytest.approx(mcnemar(table, exact=True).pvalue)
            only_a, only_b = table[0][1], table[1][0]
            assert row["p_worse"] == pytest.approx(binom.sf(only_a - 1, only_a + only_b, 0.5))
    raw = [row["p_worse"] for row in found["rows"]]
    assert [row["p_adjusted"] for row in found["rows"]] == pytest.approx(multipletests(raw, method="holm")[1])


def test_a_planted_regression_is_found_and_its_slice_named(tmp_path, capsys):
    X, y = load_digits(return_X_y=True)
    part = np.arange(len(y)) % 5
    X_train, X_test, y_train, y_test, _, slice_test = train_test_split(X, y, part, test_size=0.6, random_state=0)
    model = LogisticRegression(max_iter=2000).fit(X_train, y_train)
    predicted = model.predict(X_test)
    # The candidate sees slice 3 with two of the image's rows swapped, as after a change of a pipeline.
    changed = X_test.copy()
    changed[slice_test == 3] = changed[slice_test == 3].reshape(-1, 8, 8)[:, [0, 1, 2, 4, 3, 5, 6, 7]].reshape(-1, 64)
    base = pd.DataFrame({"id": np.arange(len(y_test)), "label": y_test, "prediction": predicted, "site": slice_test})
    paths = written(tmp_path, base, base.assign(prediction=model.predict(changed)))
    code, found = compared(tmp_path, *paths, "--slice", "site")
    assert (code, found["verdict"]) == (1, "fail")
    assert [row["slice"] for row in found["rows"] if row["verdict"] == "fail"] == ["all rows", "site = 3"]
    assert [row["p_worse"] for row in found["rows"] if row["slice"] in ("site = 0", "site = 1")] == [1, 1]
    said = capsys.readouterr().out
    assert said.startswith("FAIL: accuracy on site = 3 fell by ")
    assert re.search(r"site = 3 .* fail *$", said, flags=re.M)


@pytest.mark.long
def test_the_rule_asks_for_significance_and_for_an_effect_that_matters(tmp_path):
    base, _ = frames(n=10_000)
    right = np.flatnonzero(base["prediction"] == base["label"])[:20]
    worse = base.copy()
    worse.loc[right, "prediction"] = (worse.loc[right, "label"] + 1) % 3  # certain, but 0.2 points
    paths = written(tmp_path, base, worse)
    assert compared(tmp_path, *paths)[1]["verdict"] == "pass"
    assert compared(tmp_path, *paths, "--minimum-effect", "0.001")[0] == 1
    assert compared(tmp_path, *paths, "--margin", "0.001")[1]["verdict"] == "inconclusive"
    few = written(tmp_path, base[:60], base[:60].assign(by="b"))
    # equal predictions of few rows: nothing speaks for a drop, and nothing excludes one
    code, found = compared(tmp_path, *few)
    assert (code, found["verdict"]) == (0, "inconclusive")
    (reason,) = found["reasons"]
    assert reason.startswith(
        "accuracy on all rows did not change, but 60 rows do not exclude a drop of more than 0.5 points"
    )
    assert reason.endswith("(−6.02 points is possible); about 765 rows without a difference would settle it")


def test_copies_of_a_file_decide_nothing_and_are_told_first(tmp_path, capsys, refused):
    base, _ = frames(n=800)
    other = written(tmp_path, base, base.assign(by="b"))
    of_other = compared(tmp_path, *other, "--slice", "region")[1]
    paths = written(tmp_path, base, base)
    capsys.readouterr()
    code, found = compared(
        tmp_path, *paths, "--slice", "region", "--report", str(tmp_path / "c.md"), "--report", str(tmp_path / "c.xml")
    )
    assert (code, found["rows"], found["identical"]) == (0, of_other["rows"], True)
    beware = "Beware: both inputs have the same content"
    first, _, _ = capsys.readouterr().out.partition(" against ")
    assert beware in first
    assert beware in (tmp_path / "c.md").read_text()
    assert 'name="beware" value="both inputs have the same content' in (tmp_path / "c.xml").read_text()
    assert not of_other["answer"]["also"]
    for path in (paths[0], str(tmp_path / "." / Path(paths[0]).name)):
        assert refused("compare", paths[0], path).endswith(
            "is both BASELINE and CANDIDATE; expected " + SECOND_FILE + "\n"
        )


def test_groups_are_drawn_whole(tmp_path):
    rng = np.random.default_rng(3)
    base, cand = frames(n=2000)
    people = np.arange(2000) // 50
    base = base.assign(person=people)
    # forty people; the candidate is wrong on all rows of two of them
    cand = base.assign(prediction=np.where(np.isin(people, [3, 17]), (base["label"] + 1) % 3, base["prediction"]))
    paths = written(tmp_path, base, cand)
    _, rows = compared(tmp_path, *paths)
    _, grouped = compared(tmp_path, *paths, "--group", "person")
    (alone,), (together,) = rows["rows"], grouped["rows"]
    assert together["difference"] == alone["difference"]
    assert alone["p_worse"] < 1e-9 < 0.01 < together["p_worse"]
    assert together["test"] == "unseen group of any kind beside 40 groups"
    assert together["note"] == "groups that differ: 2 of 40"
    # the interval holds what people drawn anew give, and more: those who were not seen might differ
    right = [(frame["prediction"] == frame["label"]).to_numpy().reshape(40, 50) for frame in (base, cand)]
    advantage = right[1].sum(axis=1).astype(int) - right[0].sum(axis=1)
    assert together["p_worse"] == pytest.approx(not_worse(advantage, 50), abs=NEAR)
    drawn = np.quantile(advantage[rng.integers(40, size=(20_000, 40))].sum(axis=1) / 2000, [0.025, 0.975])
    assert together["low"] < drawn[0]
    assert together["high"] >= drawn[1]
    assert together["high"] - together["low"] < 3 * (drawn[1] - drawn[0])


def zipped(path, header, samples, name="header.json"):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, json.dumps(header))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))


def test_eval_files_of_inspect_are_read_with_marks_between(tmp_path, refused):
    header = {"version": 2, "status": "success", "eval": {"task": "t"}}

    def samples(marks):
        return [{"id": n, "epoch": 1, "scores": {"judge": {"value": mark}}} for n, mark in enumerate(marks)]

    zipped(tmp_path / "a.eval", header, samples("C" * 40))
    zipped(tmp_path / "b.eval", header, samples("C" * 25 + "I" * 15), name="_journal/start.json")
    code, found = compared(tmp_path, tmp_path / "a.eval", tmp_path / "b.eval")
    assert (code, found["rows"][0]["difference"]) == (1, pytest.approx(-15 / 40))
    marks = np.random.default_rng(1).integers(0, 5, size=40) / 4
    zipped(tmp_path / "c.eval", header, samples(["P"] * 40))
    zipped(tmp_path / "d.eval", header, samples(marks.tolist()))
    _, found = compared(tmp_path, tmp_path / "c.eval", tmp_path / "d.eval", "--score-range", 0, 1)
    (row,) = found["rows"]
    assert (row["measure"], row["p_worse"]) == ("mean-score", pytest.approx(not_worse(marks - 0.5, 1), abs=NEAR))
    assert "marks between right and wrong; expected one of" in refused(
        "compare", tmp_path / "c.eval", tmp_path / "d.eval", "--measure", "accuracy"
    )
    zipped(tmp_path / "e.eval", {**header, "version": 9}, samples("C" * 40))
    (tmp_path / "f.eval").write_bytes((tmp_path / "a.eval").read_bytes()[:300])
    zipped(tmp_path / "g.eval", header, samples("C" * 40), name="other.json")
    for name, complaint in (
        ("e", "version: 9 is not valid"),
        ("f", "cannot be read as"),
        ("g", "a ZIP with 'other.json'"),
    ):
        said = refused("compare", tmp_path / "a.eval", tmp_path / f"{name}.eval")
        assert complaint in said
        assert said.count("\n") == 1


def test_scores_are_measured_as_scikit_learn_measures_them(tmp_path, capsys):
    base, cand = frames(n=500, k=2)
    rng = np.random.default_rng(4)
    for frame in (base, cand):
        frame["score"] = np.clip(0.3 * frame["label"] + 0.7 * rng.random(500), 0.001, 0.999)
    paths = written(tmp_path, base, cand)
    names = ("auc", "neg-log-loss", "neg-brier", "accuracy")
    options = [word for name in names for word in ("--measure", name)]
    _, found = compared(tmp_path, *paths, "--score", "score", "--slice", "region", *options)
    functions = {
        "auc": roc_auc_score,
        "neg-log-loss": lambda y, s: -log_loss(y, s),
        "neg-brier": lambda y, s: -brier_score_loss(y, s),
    }
    assert len(found["rows"]) == 12
    for row in found["rows"]:
        if row["measure"] in functions:
            part = np.ones(500, bool) if row["slice"] == "all rows" else base["region"] == row["slice"][-1]
            function = functions[row["measure"]]
            assert row["baseline"] == pytest.approx(function(base["label"][part], base["score"][part]))
            assert row["candidate"] == pytest.approx(function(cand["label"][part], cand["score"][part]))
            assert row["baseline_interval"][0] < row["baseline"] < row["baseline_interval"][1]
    # without predictions; the other class is positive if a person says so
    alone = written(tmp_path, base.drop(columns="prediction"), cand.drop(columns="prediction"))
    _, area = compared(tmp_path, *alone, "--score", "score", "--measure", "auc")
    assert [(row["measure"], row["baseline"]) for row in area["rows"]] == [("auc", found["rows"][0]["baseline"])]
    ends = [f"{100 * end:.2f}%" for side in ("baseline", "candidate") for end in area["rows"][0][f"{side}_interval"]]
    told = "auc on all rows, 95% intervals: baseline {} to {}, candidate {} to {}"
    assert told.format(*ends) in capsys.readouterr().out
    _, turned = compared(tmp_path, *alone, "--score", "score", "--measure", "auc", "--positive", "0")
    assert turned["rows"][0]["baseline"] == pytest.approx(1 - found["rows"][0]["baseline"])


@pytest.mark.parametrize("group", [[], ["--group", "patient"]])
def test_a_slice_of_one_class_is_named(tmp_path, group):
    base, cand = frames(n=600)
    base["patient"] = np.arange(600) // 4
    for frame in (base, cand):
        frame.loc[:49, "label"] = frame.loc[:49, "prediction"] = 1
    base["part"] = np.where(np.arange(600) < 50, "same", "rest")
    options = ["--slice", "part", "--measure", "macro-f1", *group]
    _, found = compared(tmp_path, *written(tmp_path, base, cand), *options)
    notes = {row["slice"]: row["note"] for row in found["rows"]}
    assert notes["part = same"] == "only one class: nothing can be tested"
    assert "one class" not in notes["all rows"] + notes["part = rest"]


def changed(**columns):
    return lambda base, cand: (base, cand.assign(**columns))


BAD = {
    "twice": (lambda b, c: (b, c.assign(id=[0, *c["id"][:-1]])), [], "cand.csv: 1 of 60 rows repeat an id: id '0'"),
    "unmatched": (lambda b, c: (b, c[:-2]), [], "base.csv: ids '58', '59' are only in this file"),
    "no common": (lambda b, c: (b, c.assign(id=c["id"] + 1000)), [], "shares no id with"),
    "labels": (
        lambda b, c: (b, c.assign(label=[(c["label"][0] + 1) % 3, *c["label"][1:]])),
        [],
        "cand.csv: id '0': label",
    ),
    "no column": (lambda b, c: (b, c.rename(columns={"prediction": "predictoin"})), [], "did you mean 'predictoin'?"),
    "a gap": (
        lambda b, c: (b, c.assign(prediction=[None, *c["prediction"][1:]])),
        [],
        "cand.csv: 1 of 60 rows have no 'prediction': id '0'; add --unscored wrong",
    ),
    "no rows": (lambda b, c: (b, c[:0]), [], "cand.csv: has no rows"),
    "slice": (lambda b, c: (b, c), ["--slice", "country"], "column 'country' was not found, nor in"),
    "measure": (lambda b, c: (b, c), ["--measure", "best"], "--measure: 'best' is not valid"),
    "no scores": (lambda b, c: (b, c), ["--measure", "auc"], "'auc' is not valid without scores"),
    "text for scores": (
        lambda b, c: (b.assign(s=0.5), c.assign(s=["0.5", "high", *["0"] * 58])),
        ["--score", "s"],
        "cand.csv, line 3: column 's': 'high' is not valid; expected a number",
    ),
    "infinite scores": (
        lambda b, c: (b.assign(s=0.5), c.assign(s=[0.5, np.inf, *[0.1] * 58])),
        ["--score", "s"],
        "cand.csv, line 3: column 's': inf is not finite; expected a number",
    ),
    "three classes": (
        lambda b, c: (b.assign(s=0.5), c.assign(s=0.5)),
        ["--score", "s", "--measure", "auc"],
        "3 classes are not valid for measures of scores; expected two",
    ),
    "which is positive": (
        lambda b, c: (b.assign(s=0.5, label="x", prediction="y"), c.assign(s=0.5, label="x", prediction="y")),
        ["--score", "s", "--measure", "auc"],
        "positive: is missing; expected one of 'x', 'y'",
    ),
    "no probabilities": (
        lambda b, c: (b.assign(s=0.5, label=0, prediction=1), c.assign(s=2.5, label=0, prediction=1)),
        ["--score", "s", "--measure", "neg-brier"],
        "scores: 0.5 to 2.5 are not valid for neg-brier; expected probabilities",
    ),
    "scores alone": (
        lambda b, c: (b.assign(s=0.5).drop(columns="prediction"), c.assign(s=0.5).drop(columns="prediction")),
        ["--score", "s", "--measure", "accuracy"],
        "'accuracy' is not valid for scores without predictions",
    ),
    "alpha": (lambda b, c: (b, c), ["--alpha", "2"], "alpha: 2.0 is not valid"),
    "adjust": (lambda b, c: (b, c), ["--adjust", "bonferoni"], "adjust: 'bonferoni' is not valid"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_nothing_is_written(tmp_path, capsys, case):
    change, options, complaint = BAD[case]
    paths = written(tmp_path, *change(*frames(n=60)))
    assert main(["compare", *paths, *options, "--json", str(tmp_path / "found.json")]) == 2
    said = capsys.readouterr()
    assert complaint in said.err
    assert (len(said.err.splitlines()), said.out) == (1, "")
    assert not (tmp_path / "found.json").exists()


def test_unmatched_rows_may_be_dropped_and_are_counted(tmp_path, capsys):
    base, cand = frames()
    paths = written(tmp_path, base, cand[5:].assign(prediction=lambda frame: frame["prediction"].replace(0, 7)))
    _, found = compared(tmp_path, *paths, "--unmatched", "drop")
    assert found["n"] == 595
    assert [note["text"] for note in found["notes"]] == [
        f"{paths[0]}: ids '0', '1', '2' and 2 more are only in this file",
        f"5 rows left out, as {paths[1]} lacks them: {paths[0]} has 5 of them right (100%; 85% of the others)",
        f"{paths[1]}: predictions of classes that no row has: '7' ({(cand['prediction'][5:] == 0).sum()} rows)",
    ]
    assert f"note: {paths[0]}" in capsys.readouterr().out


def test_an_inconclusive_row_says_where_the_evidence_leans_and_what_the_rows_could_show():
    def reason(only_a, only_b, n=200):
        label = np.zeros(n, dtype=np.int64)
        a, b = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        b[:only_a], a[n - only_b :] = 1, 1
        paired = paired_codes(label, a, b, classes=("right", "wrong"), graded=True)
        found = compare_pair(paired, ComparisonRule())
        (text,) = reasons(found)
        return found, text

    found, text = reason(10, 10)
    assert "no evidence either way" in text
    assert (found.rows[0].pd, round(found.rows[0].nsd, 2)) == (1, 0.18)
    shown = 100 * detectable_difference(200, 20 / 200, alpha=0.05, alternative="greater")
    assert f"200 rows detect a drop of {shown:.2g} points with a power of 0.8" in text
    assert found.rows[0].pvalue == pytest.approx(binom.sf(9, 20, 0.5))
    assert "the candidate looks worse, but not significantly" in reason(14, 7)[1]
    assert "the candidate looks no worse" in reason(7, 10)[1]


@pytest.mark.parametrize(("n", "options"), [(9, []), (40, ["--group", "region"])], ids=["too few rows", "one group"])
def test_where_nothing_can_be_tested_there_is_no_verdict(tmp_path, capsys, n, options):
    base, cand = frames(n=n)
    paths = written(tmp_path, base.assign(region="N"), cand.assign(region="N", prediction=(cand["label"] + 1) % 3))
    assert main(["compare", *paths, *options, "--json", str(tmp_path / "found.json")]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"sigstats: rows: {n} are not enough; nothing can be tested (")
    assert (said.out, len(said.err.splitlines())) == ("", 1)
    assert not (tmp_path / "found.json").exists()


def test_a_measure_that_cannot_be_tested_on_all_rows_is_inconclusive(tmp_path):
    base, _ = frames(k=2)
    base["label"] = [1, *[0] * 599]
    base["prob"] = np.linspace(0, 1, 600)
    code, found = compared(
        tmp_path, *written(tmp_path, base, base.assign(by="b")), "--score", "prob", "--margin", "0.05"
    )
    assert (code, found["verdict"]) == (0, "inconclusive")
    (reason,) = found["reasons"]
    assert reason.startswith("auc on all rows was not tested: too few of one class")


def test_as_many_weights_are_drawn_as_the_adjusted_level_needs(tmp_path, monkeypatch):
    """The smallest p of 99 resamples, 0.01, times six tests is above 0.05: it could reject nothing."""
    monkeypatch.setattr(command, "rule_of", lambda options: replace(rule_of(options), n_resamples=99))
    base, cand = frames(n=3000)
    base["region"] = cand["region"] = np.arange(3000) % 5
    cand["prediction"] = (cand["label"] + (np.arange(3000) % 2)) % 3
    options = ["--measure", "macro-f1", "--slice", "region"]
    _, found = compared(tmp_path, *written(tmp_path, base, cand), *options, code=1)
    assert {row["verdict"] for row in found["rows"]} == {"fail"}
    assert found["rule"]["resamples"] >= 6 / 0.05 - 1
    assert max(row["p_adjusted"] for row in found["rows"]) <= 0.05
    monkeypatch.setattr("sigstats.comparison.rule._MAX_RESAMPLES", 10**4)
    _, found = compared(tmp_path, *written(tmp_path, base, cand), *options, "--alpha", "0.01%", code=0)
    assert found["rule"]["resamples"] == 10**4
    assert "too few random weights for a fail: p is at least 0.0001, above 1.7\xa0×\xa010⁻⁵" in [
        note["text"] for note in found["notes"]
    ]


def test_a_drop_that_is_shown_but_too_small_is_not_said_to_be_unshown():
    label, a = np.zeros(50_000, dtype=np.int64), np.zeros(50_000, dtype=np.int64)
    b = a.copy()
    b[:180], a[-60:] = 1, 1
    found = compare_pair(paired_codes(label, a, b), ComparisonRule(margin=0.002))
    (row,), (reason,) = found.rows, reasons(found)
    assert (found.verdict, row.adjusted_pvalue < 1e-12) == ("inconclusive", True)
    assert "; a drop of more than 0.2 points is not excluded; " in reason
    assert "; the candidate is worse, though by less than 0.5 points; " in reason
    assert found.answer.advice.endswith("Set --minimum-effect to a drop that matters.")
    assert "not shown" not in reason


def test_a_drop_is_called_less_than_the_effect_only_where_the_interval_ends_before_it():
    label, a = np.zeros(4_000, dtype=np.int64), np.zeros(4_000, dtype=np.int64)
    b = a.copy()
    b[:16] = 1
    (row,) = (found := compare_pair(paired_codes(label, a, b), ComparisonRule(margin=0.001))).rows
    assert (row.verdict, row.adjusted_pvalue <= 0.05, -row.difference < 0.005 < -row.low) == (
        "inconclusive",
        True,
        True,
    )
    assert "the candidate is worse; whether by 0.5 points or more is open" in reasons(found)[0]


def test_an_interval_beyond_the_margin_is_not_said_to_leave_the_drop_open():
    label, a = np.zeros(200, dtype=np.int64), np.zeros(200, dtype=np.int64)
    b = a.copy()
    b[:10], a[-1:] = 1, 1
    (row,) = (found := compare_pair(paired_codes(label, a, b), ComparisonRule(alpha=0.001))).rows
    assert (row.verdict, -row.high > 0.005) == ("inconclusive", True)
    told = "adjusted p is above 0.001, the level of this decision, although the interval lies beyond 0.5 points"
    assert told in reasons(found)[0]
    assert "not excluded" not in reasons(found)[0]


def test_a_p_value_beyond_floats_is_no_zero():
    label, a = np.zeros(2000, dtype=np.int64), np.zeros(2000, dtype=np.int64)
    found = compare_pair(paired_codes(label, a, np.r_[np.ones(1100, dtype=np.int64), a[1100:]]), ComparisonRule())
    assert found.rows[0].pvalue == 0  # 2 ** -1100
    assert "adjusted p < 10⁻³⁰⁰" in reasons(found)[0]


def test_the_drop_that_the_rows_could_show_is_at_the_level_of_one_test_among_all():
    """Ten tests by Holm: the first to be rejected needs p <= 0.005."""
    label, a = np.zeros(1000, dtype=np.int64), np.zeros(1000, dtype=np.int64)
    b = a.copy()
    b[::20], a[1::20] = 1, 1
    slices = {"part": (tuple("abcdefghi"), np.arange(1000) % 9)}
    found = compare_pair(paired_codes(label, a, b, slices=slices), ComparisonRule())
    shown = 100 * detectable_difference(1000, 0.1, alpha=0.005, alternative="greater")
    assert any(
        f"1,000 rows detect a drop of {shown:.2g} points with a power of 0.8" in reason for reason in reasons(found)
    )


def test_losses_and_marks_are_drawn_on_a_scale_of_their_own(tmp_path):
    rng = np.random.default_rng(5)
    label = rng.integers(2, size=500)
    a, b = (np.where(rng.random(500) < 0.8, label, 1 - label) for _ in range(2))
    marks = rng.integers(1, 11, size=500).astype(float)
    joined = paired_codes(label, a, b, scores=(marks, np.maximum(marks - rng.integers(0, 2, 500), 1)))
    found = compare_pair(joined, ComparisonRule(), ["accuracy", "mean-score"])
    page = as_html(found, "base.csv", "cand.csv")
    assert [re.search(r"candidate − baseline, (.*?)<", part)[1] for part in page.split("<svg")[1:]] == [
        "mean-score",
        "points",
    ]
    lowest = f"−{abs(found.rows[1].difference):.4f}, mean-score on all rows"
    assert f"the lowest is {lowest}" in page
    part = "5% of the baseline of mean-score"
    assert f"and by at least 0.5 points of accuracy or {part}; " in rule_in_words(found)


@pytest.mark.long
def test_the_example_of_the_readme_finds_the_planted_fault(tmp_path, repository, printed):
    subprocess.run([sys.executable, repository / "tools" / "example_predictions.py", tmp_path], check=True)
    files = [str(tmp_path / f"{name}.csv") for name in ("baseline", "candidate")]
    assert re.search(r"stroke = faint .* fail *$", printed("compare", *files, "--slice", "stroke", code=1), flags=re.M)


def test_columns_of_one_file_are_compared_as_two_files_are(tmp_path, printed, refused):
    base, cand = frames()
    wide = base.rename(columns={"prediction": "old"}).assign(new=cand["prediction"], same=base["prediction"])
    wide.to_csv(tmp_path / "wide.csv", index=False)
    _, of_two = compared(tmp_path, *written(tmp_path, base, cand))
    path, named = str(tmp_path / "wide.csv"), ("--prediction", "old", "--prediction", "new")
    for files in ((path,), (path, path), (path, "--id", "id", path)):
        _, found = compared(tmp_path, *files, *named)
        assert found["rows"] == of_two["rows"]
        assert not found["identical"]
        assert found["subjects"] == {"baseline": {"prediction": "old"}, "candidate": {"prediction": "new"}}
    assert "new against old" in (said := printed("compare", path, *named, "--prediction", "same"))
    assert "same against old" in said
    for arguments, message in (
        ((), "CANDIDATE: is missing; expected a second file, or the --prediction or --model of each model in one file"),
        (["--prediction", "old"] * 2, "--prediction: 'old' is named twice; name the column of each model once"),
        ((path, *named, "--prediction", "same"), "--prediction: 3 were given; expected one, or one for each of 2"),
        (
            ["--score", "old", "--score", "new"],
            "--score: 'old' and 'new' are columns of one file; write a file for each",
        ),
    ):
        assert message in refused("compare", path, *arguments)
