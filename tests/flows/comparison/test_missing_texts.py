"""Texts that usually mean a missing value are refused by name and number, until someone states what they are."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sigstats
from sigstats._common.class_names import class_notes
from sigstats.flows.commands import main

TEXTS = ["NA", "N/A", "nan", "None", "null", "?", ".", "#N/A", "<NA>", "NaN", "n/a", "NULL", "<na>", "NaT", "#DIV/0!"]
RNG = np.random.default_rng(40)
LABEL = RNG.choice(["a", "b", "c"], 60)
GUESS = np.where(RNG.random(60) < 0.9, LABEL, "a")
GONE = np.arange(60) % 9 == 0


def frame(**columns):
    return pd.DataFrame({"id": range(60), "label": LABEL, "prediction": GUESS, **columns})


def written(folder, **frames):
    for name, each in frames.items():
        each.to_csv(folder / f"{name}.csv", index=False)
    return [str(folder / f"{name}.csv") for name in frames]


def result(folder, *arguments):
    assert main([*arguments, "--json", str(folder / "found.json")]) in (0, 1)
    return json.loads((folder / "found.json").read_text())


@pytest.mark.long
@pytest.mark.parametrize("text", TEXTS[:4])
def test_a_prediction_is_refused_until_it_is_declared(tmp_path, refused, text):
    a, b, empty = written(
        tmp_path,
        a=frame(),
        b=frame(prediction=np.where(GONE, text, GUESS)),
        empty=frame(prediction=np.where(GONE, "", GUESS)),
    )
    for command in (["compare", a, b], ["check", b, "--at-least", "0.8"], ["rank", a, b]):
        for options in ([], ["--unscored", "drop"]):
            assert f"b.csv: column 'prediction': 7 of 60 predictions are {text!r}; add --missing" in refused(
                *command, *options
            )
    declared = ["compare", a, b, "--missing", text]
    assert "b.csv: 7 of 60 rows have no 'prediction': ids '0', '9', '18'" in refused(*declared)
    for option in ("drop", "wrong"):
        own, other = (result(tmp_path, *each, "--unscored", option) for each in (declared, ["compare", a, empty]))
        assert own["rows"] == other["rows"]
        assert own["n"] == (53 if option == "drop" else 60)
    listed = result(tmp_path, "compare", a, b, "--classes", f"a,b,c,{text}")
    assert listed["rows"][0]["candidate"] == np.mean((GUESS == LABEL) & ~GONE)
    assert f"b.csv: predictions of classes that no row has: {text!r} (7 rows)" in listed["notes"][0]["text"]


@pytest.mark.parametrize("column", ["label", "prediction"])
def test_an_empty_text_is_no_class_in_any_format(tmp_path, refused, column):
    values = frame(**{column: np.where(GONE, "", LABEL)})
    path, table = tmp_path / "a.jsonl", tmp_path / "a.csv"
    values.to_json(path, orient="records", lines=True)
    values.to_csv(table, index=False)
    assert f"7 of 60 {column}s are ''; add --missing '' if they are missing" in refused(
        "check", path, "--at-least", "0.5"
    )
    with pytest.raises(ValueError, match=f"7 of 60 {column}s are ''"):
        sigstats.check(values, at_least=0.5)
    stated, other = (
        result(tmp_path, "check", str(file), "--at-least", "0.5", "--unscored", "drop", *options)
        for file, options in ((path, ["--missing", ""]), (table, []))
    )
    assert stated["rows"] == other["rows"]


def test_rows_without_a_label_are_dropped_or_refused(tmp_path, refused):
    unlabelled = np.arange(60) % 4 == 3
    label = np.where(unlabelled, "NA", LABEL)
    b = np.where(RNG.random(60) < 0.7, LABEL, "b")
    paths = written(tmp_path, a=frame(label=label), b=frame(label=label, prediction=b))
    for command in (["compare", *paths], ["check", paths[0], "--at-least", "0.8"], ["rank", *paths]):
        assert "a.csv: column 'label': 15 of 60 labels are 'NA'; add --missing 'NA' if" in refused(*command)
    assert "a.csv: 15 of 60 rows have no 'label': ids '3', '7', '11'" in refused("compare", *paths, "--missing", "NA")
    assert "; add --unscored drop, which leaves them out" in refused(
        "compare", *paths, "--missing", "NA", "--unscored", "wrong"
    )
    found = result(tmp_path, "compare", *paths, "--missing", "NA", "--unscored", "drop")
    known = ~unlabelled
    expected = sigstats.compare(LABEL[known], GUESS[known], b[known])
    assert found["n"] == 45
    assert found["rows"][0]["p_worse"] == expected.rows[0].pvalue
    listed = result(tmp_path, "compare", *paths, "--classes", "NA")
    assert listed["notes"] == [
        {"name": "class-never-predicted", "text": "labels of classes that no model predicts: 'NA' (15 rows)"}
    ]


def test_marks_are_declared_missing(tmp_path, refused):
    marks = RNG.random(60).round(3)
    a, b = written(
        tmp_path,
        a=pd.DataFrame({"id": range(60), "grade": marks}),
        b=pd.DataFrame({"id": range(60), "grade": np.where(GONE, "NA", marks.astype(str))}),
    )
    command = ["compare", a, b, "--higher-is-better", "grade", "--unscored", "drop"]
    assert "b.csv: column 'grade': 7 of 60 scores are 'NA'; add --missing 'NA' if they are missing" in refused(*command)
    found = result(tmp_path, *command, "--missing", "NA")
    assert found["n"] == 53
    assert found["rows"][0]["difference"] == 0
    numbered = frame(grade=np.where(GONE, -99, 0.25)).drop(columns=["label", "prediction"])
    numbered.to_parquet(tmp_path / "c.parquet")
    found = result(tmp_path, "compare", str(tmp_path / "c.parquet"), a, *command[3:], "--missing", "-99")
    assert found["rows"][0]["baseline"] == 0.25


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "labels"])
def test_other_files_are_read_alike(tmp_path, refused, kind):
    lacking = frame(label=np.where(GONE, "None", LABEL))
    paths = [str(tmp_path / f"{name}.{kind}") for name in "ab"]
    if kind == "labels":
        paths = [*written(tmp_path, a=frame().drop(columns="label"), b=frame().drop(columns="label")), "--labels"]
        paths += written(tmp_path, truth=lacking[["id", "label"]])
    for path in paths if kind != "labels" else ():
        lacking.to_json(path, orient="records", lines=True) if kind == "jsonl" else lacking.to_parquet(path)
    assert "column 'label': 7 of 60 labels are 'None'" in refused("compare", *paths)
    assert result(tmp_path, "compare", *paths, "--classes", "None")["n"] == 60
    assert result(tmp_path, "compare", *paths, "--missing", "None", "--unscored", "drop")["n"] == 53


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_take_the_same_options(tmp_path, library):
    a, b = (library(each.to_dict("list")) for each in (frame(), frame(prediction=np.where(GONE, "NA", GUESS))))
    for call in (
        lambda: sigstats.compare(a, b),
        lambda: sigstats.assert_no_regression(a, b, unscored="drop"),
        lambda: sigstats.assert_at_least(b, at_least=0.1),
    ):
        with pytest.raises(
            ValueError, match=r"7 of 60 predictions are 'NA'; add missing='NA' if .* or list 'NA' in classes=\[...\] if"
        ):
            call()
    dropped = sigstats.compare(a, b, missing=["NA", "-"], unscored="drop")
    assert (dropped.rows[0].n, dropped.rows[0].difference) == (53, 0)
    assert sigstats.compare(a, b, classes=["NA"]).rows[0].n == 60
    value = np.mean(GUESS[~GONE] == LABEL[~GONE])
    assert sigstats.assert_at_least(b, at_least=0.1, missing="NA", unscored="drop").rows[0].value == value
    path = written(tmp_path, b=frame(prediction=np.where(GONE, "NA", GUESS)))
    assert len(sigstats.read_predictions(path, missing="NA", unscored="drop")) == 53
    with pytest.raises(ValueError, match="7 of 60 predictions are 'NA'"):
        sigstats.read_predictions(path)


@pytest.mark.parametrize("text", TEXTS)
def test_arrays_are_refused_unless_the_class_is_listed(text):
    y = np.where(GONE, text, LABEL)
    for call in (
        lambda: sigstats.compare(y, GUESS, GUESS.copy()),
        lambda: sigstats.compare(LABEL, y, GUESS),
        lambda: sigstats.assert_at_least(y, GUESS, at_least=0.1),
        lambda: sigstats.mcnemar_test.from_predictions(y, GUESS, LABEL),
        lambda: sigstats.bootstrap_test.from_predictions(LABEL, y, GUESS, measure="macro-f1"),
        lambda: sigstats.JointOutcomes.from_predictions(y, GUESS, LABEL, positive="a"),
        lambda: sigstats.efficiency_test.from_predictions(y, GUESS),
        lambda: sigstats.rank_models(np.column_stack([LABEL, y]), label=LABEL),
        lambda: sigstats.rank_votes(LABEL, y, ["tie"] * 60),
        lambda: sigstats.permutation_test("lda", np.zeros((60, 1)), y, n_resamples=1),
        lambda: sigstats.permutation_test("lda", np.zeros((60, 1)), y.astype(object), n_resamples=1),
    ):
        with pytest.raises(ValueError, match=r": 7 of 60 labels are '.*'; (leave out rows|give missing=).*, or give"):
            call()
    found = sigstats.compare(y, GUESS, np.roll(GUESS, 1), classes=["a", "b", "c", text])
    assert found.notes == (f"labels of classes that no model predicts: {text!r} (7 rows)",)
    assert sigstats.JointEvents.from_predictions(y, GUESS, LABEL, classes=["a", "b", "c", text]).n == 60
    assert sigstats.efficiency_test.from_predictions(y, GUESS, labels=["a", "b", "c", text], method="chi2").pvalue < 1


def test_minus_one_stays_a_class_with_a_note():
    y = np.where(GONE, -1, RNG.integers(0, 3, 60))
    said = np.where(GONE, 0, y)
    assert sigstats.compare(y, said, said[::-1]).notes[0] == "labels of classes that no model predicts: '-1' (7 rows)"
    assert "class" not in " ".join(note.name for note in sigstats.compare(y, y, said).notes)


def test_notes_count_rows_by_class():
    def notes(labels, **models):
        classes = sorted({*labels, *"".join(models.values())})
        label, *said = ([classes.index(text) for text in column] for column in (labels, *models.values()))
        return class_notes(
            [(name, classes, np.array(label), np.array(of)) for name, of in zip(models, said, strict=True)]
        )

    assert [*map(str, notes("vvvvvwwwxx", A="vvvvyyyyyy", B="vvvvvyyyyz"))] == [
        "A: predictions of classes that no row has: 'y' (6 rows)",
        "B: predictions of classes that no row has: 'y' (4 rows), 'z' (1 rows)",
        "labels of classes that no model predicts: 'w' (3 rows), 'x' (2 rows)",
    ]
    assert notes("v" * 10, A="vvvvwwwwww", B="w" * 10) == notes("0123456789", A="0" * 10, B="0" * 10) == []


def test_a_study_declares_what_is_missing(tmp_path, printed, refused):
    written(tmp_path, a=frame(), b=frame(prediction=np.where(GONE, "NA", GUESS)))
    study = tmp_path / "study.toml"
    study.write_text('kind = "regression"\nname = "n"\nbaseline = "a.csv"\ncandidate = "b.csv"\n')
    run = ["run", str(study), "--output", str(tmp_path / "out")]
    assert "7 of 60 predictions are 'NA'; add columns.missing 'NA' if they are missing" in refused(*run)
    study.write_text(study.read_text() + 'unscored = "drop"\n[columns]\nmissing = ["NA"]\n')
    assert "7 of 60 rows have no 'prediction': ids '0', '9', '18' and 4 more; left out" in printed(*run)


@pytest.mark.parametrize("text", ["NA", "None", "?"])
@pytest.mark.parametrize("option", ["--group", "--task"])
def test_rows_without_a_group_or_a_task_are_not_one_group(tmp_path, refused, text, option):
    groups = np.where(GONE, text, RNG.integers(0, 20, 60).astype(str))
    a, b = written(tmp_path, a=frame(g=groups), b=frame(g=groups, prediction="a"))
    assert f"a.csv: column 'g': 7 of 60 values are {text!r}; add --missing" in refused("compare", a, b, option, "g")
    assert "a.csv, line 2: column 'g' is empty; expected a value" in refused(
        "compare", a, b, option, "g", "--missing", text
    )
    assert main(["compare", a, b, option, "g", "--classes", f"a,b,c,{text}"]) in (0, 1)


def test_arrays_of_groups_are_read_as_columns_are():
    groups = np.where(GONE, "NA", RNG.integers(0, 20, 60).astype(str))
    with pytest.raises(ValueError, match=r"groups: 7 of 60 values are 'NA'; leave out these rows"):
        sigstats.compare(LABEL, GUESS, GUESS[::-1], groups=groups)
    assert sigstats.compare(LABEL, GUESS, GUESS[::-1], groups=groups, classes=["a", "b", "c", "NA"]).rows


@pytest.mark.parametrize("spelled", ["-1", "-1.0", "-01.00"])
@pytest.mark.parametrize("marker", ["-1", "-1.0", "-1."])
def test_a_number_is_missing_in_every_spelling(tmp_path, spelled, marker):
    marks = np.round(np.random.default_rng(3).random(60), 2).astype(str)
    a, b = written(
        tmp_path,
        a=pd.DataFrame({"id": range(60), "f1": marks}),
        b=pd.DataFrame({"id": range(60), "f1": np.where(GONE, spelled, marks)}),
    )
    found = result(tmp_path, "compare", a, b, "--score", "f1", f"--missing={marker}", "--unscored", "drop")
    assert (found["n"], found["rows"][0]["difference"]) == (53, 0)
