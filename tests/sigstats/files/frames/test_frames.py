"""Comparisons from data frames beside those of arrays and of files, and what is refused."""

import json
import re
from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sigstats
from sigstats.flows.commands import main

from ....examples import examples
from ..predictions.logs import harness_log

KINDS = {
    "pandas": lambda frame: frame,
    "pandas of Arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "pandas with an index": lambda frame: frame.set_index(np.arange(len(frame)) * 3 + 5),
    "categories": lambda frame: frame.astype({"region": "category", "label": "category"}),
    "Arrow": pa.Table.from_pandas,
    "polars": lambda frame: pytest.importorskip("polars").from_pandas(frame),
}


def pair(n=400, seed=1):
    rng = np.random.default_rng(seed)
    base = pd.DataFrame({"id": [f"row {i}" for i in range(n)], "label": rng.integers(0, 2, n)})
    base["region"], base["document"] = rng.choice(["north", "south"], n), [f"{i // 4:04}" for i in range(n)]
    base["prediction"] = np.where(rng.random(n) < 0.9, base["label"], 1 - base["label"])
    base["score"] = rng.random(n)
    cand = base.assign(prediction=np.where(rng.random(n) < 0.8, base["label"], 1 - base["label"]), score=rng.random(n))
    return base, cand


LAX = sigstats.ComparisonRule(adjust="none")
OPTIONS = {"slices": ["region"], "groups": "document", "score": "score", "measures": ["accuracy", "auc", "mean-score"]}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_every_kind_say_what_arrays_say(kind):
    base, cand = pair()
    found = sigstats.compare(KINDS[kind](base), KINDS[kind](cand.sample(frac=1, random_state=2)), **OPTIONS)
    arrays = sigstats.compare(
        base["label"], base["prediction"].to_numpy(), cand["prediction"].to_numpy(),
        slices={"region": base["region"]}, groups=base["document"], scores=(base["score"], cand["score"].to_numpy()),
        measures=OPTIONS["measures"],
    )  # fmt: skip
    assert found == arrays


def test_frames_say_what_files_say(tmp_path, answer):
    base, cand = pair()
    files = [str(tmp_path / name) for name in ("base.csv", "cand.csv")]
    for frame, file in zip((base, cand), files, strict=True):
        frame.to_csv(file, index=False)
    options = ["--slice", "region", "--group", "document", "--score", "score"]
    options += ["--measure", "accuracy", "--measure", "auc"]
    of_files = answer("compare", *files, *options)["rows"]
    frames = [sigstats.read_predictions(file, score="score", slices=["region"], groups="document") for file in files]
    how = {"score": "score", "measures": ["accuracy", "auc"]}
    found = sigstats.compare(*frames, slices=["region"], groups="document", **how)
    assert found.to_pandas()["adjusted_pvalue"].tolist() == [row["p_adjusted"] for row in of_files]
    assert [row.slice for row in found.rows] == [row["slice"] for row in of_files]
    together = sigstats.read_predictions(str(tmp_path / "*.csv"))
    assert together["file"].tolist() == [files[0]] * 400 + [files[1]] * 400


def test_logs_are_read_as_frames(tmp_path):
    for name, marks in (("a", "CCIC" * 20), ("b", "CIIC" * 20)):
        samples = [
            {"id": i, "epoch": 1, "target": "x", "scores": {"graded": {"value": v}}} for i, v in enumerate(marks)
        ]
        log = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": samples}
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    a, b = (sigstats.read_predictions(tmp_path / f"{name}.json", score="graded") for name in "ab")
    assert (a["prediction"] == "right").mean() == a["score"].mean() == 0.75
    (row,) = sigstats.compare(a, b).rows
    assert (row.baseline, row.candidate, row.pvalue) == (0.75, 0.5, 0.5**20)


def test_several_scores_of_a_log_are_a_column_each(tmp_path):
    marks = {"acc": [1, 0] * 20, "f1": [0.5, 0.25] * 20}
    documents = [{"acc": a, "f1": f, "ppl_text": "no"} for a, f in zip(*marks.values(), strict=True)]
    del documents[3]["f1"]
    log = harness_log(tmp_path / "a.jsonl", documents)
    for score in (["acc", "f1"], "all"):
        with pytest.raises(ValueError, match=r"1 of 40 answers have no score 'f1': id '3'; .* unscored='drop'"):
            sigstats.read_predictions(log, score=score)
        found = sigstats.read_predictions(log, score=score, unscored="drop")
        assert list(found.columns) == ["id", "label", "acc", "f1"]
        read = found.set_index("id")
        assert read["acc"].tolist() == marks["acc"]
        assert read["f1"].isna().tolist() == [name == "3" for name in read.index]
        assert read["f1"].dropna().tolist() == marks["f1"][:3] + marks["f1"][4:]
    with pytest.raises(ValueError, match="several, each once"):
        sigstats.read_predictions(log, score=["acc", "acc"])


def test_several_scores_of_a_table_stand_beside_its_predictions(tmp_path):
    base, cand = (frame.assign(probability=frame["score"] / 2) for frame in pair())
    frames = []
    for frame, name in ((base, "a.csv"), (cand, "b.csv")):
        frame.to_csv(tmp_path / name, index=False)
        frames.append(sigstats.read_predictions(tmp_path / name, score=["score", "probability"]))
    assert list(frames[0].columns) == ["id", "label", "prediction", "score", "probability"]
    assert frames[0]["probability"].tolist() == pytest.approx(base["probability"].tolist())
    how = {"score": ["score", "probability"], "measures": ["accuracy", "auc"]}
    again, direct = (sigstats.compare(*of, **how).to_pandas() for of in (frames, (base, cand)))
    pd.testing.assert_frame_equal(again, direct)


def test_numbers_are_compared_as_numbers():
    rng = np.random.default_rng(3)
    base = pd.DataFrame({"id": range(100), "label": rng.normal(size=100)})
    base["prediction"] = base["label"] + rng.normal(size=100)
    cand = base.assign(prediction=base["label"] + 3 * rng.normal(size=100))
    with pytest.raises(ValueError, match=r"300 different numbers .* expected the measure neg-mae or neg-mse"):
        sigstats.compare(base, cand)
    found = sigstats.compare(base, cand, measures=["neg-mae"])
    (row,) = found.rows
    assert [note.partition(":")[0] for note in found.notes] == [
        "neg-mae"
    ]  # of its limits alone: no number is a class that only one model predicts
    assert row.candidate == pytest.approx(-(cand["prediction"] - cand["label"]).abs().mean())
    assert row.verdict == "fail"


def test_a_frame_beside_itself_is_identical_and_an_assertion_has_the_reasons():
    base, cand = pair()
    assert sigstats.assert_no_regression(base, base.copy()).identical
    assert not sigstats.compare(base, base.assign(document=0)).identical
    with pytest.raises(AssertionError) as caught:
        sigstats.assert_no_regression(base, cand)
    title, advice = str(caught.value).splitlines()
    assert title.startswith("FAIL: accuracy on all rows fell by 5.50 points (")
    assert advice == "Keep the baseline."
    few = base[:60], base[:60].assign(document=0)
    assert sigstats.assert_no_regression(*few).verdict == "inconclusive"
    with pytest.raises(AssertionError, match="60 rows do not exclude a drop"):
        sigstats.assert_no_regression(*few, fail_on="inconclusive")


def test_a_result_is_a_table_wherever_it_is_shown():
    base, cand = pair()
    names = [f"<b>&{i}" for i in range(30)]
    found = sigstats.compare(base.assign(part=np.array(names)[np.arange(400) % 30]), cand, slices=["part"], rule=LAX)
    html, text = found._repr_html_(), str(found)
    assert html.count("<tr>") == 1 + 20
    assert "<b>" not in html
    assert text.splitlines()[0] == found.answer.headline
    assert f"<strong>{found.answer.headline}</strong>" in html
    assert "\nand 11 more: " in text
    assert len(found.to_pandas()) == 31
    assert found.to_pandas()["verdict"].tolist() == [row.verdict for row in found.rows]


def test_what_a_terminal_would_obey_is_shown_and_not_sent():
    base, cand = pair()
    base["part"] = "a\x1b[31m\u202eb"
    found = sigstats.compare(base, cand, slices=["part"], rule=LAX)
    with pytest.raises(AssertionError) as caught:
        sigstats.assert_no_regression(base, cand, slices=["part"], rule=LAX)
    for said in (str(found), str(caught.value)):
        assert "part = a" in said
        assert not {"\x1b", "\u202e"} & set(said)


BAD = {
    "another slice": (lambda b, c: {"slices": ["regoin"]}, "baseline: column 'regoin' was not found, nor in candidate"),
    "a slice of parts": (lambda b, c: {"slices": ["x=4"]}, "column, by pandas.qcut(frame['x'], 4)"),
    "a slice not read": (lambda b, c: {"slices": ["x"]}, "read_predictions(..., slices=['x']) reads it too"),
    "a mapping": (lambda b, c: {"slices": {"region": 1}}, "slices: {'region': 1} is not valid; expected the name"),
    "one slice": (lambda b, c: {"slices": "regio"}, "column 'regio' was not found"),
    "an array of groups": (lambda b, c: {"groups": [1, 2]}, "groups: [1, 2] is not valid; expected the name of a"),
    "scores": (lambda b, c: {"scores": (1, 2)}, "scores: (1, 2) is not valid; expected the column `score` of"),
    "no such column": (lambda b, c: {"prediction": "predictions"}, "column 'predictions' was not found; did you mean"),
    "unmatched": (lambda b, c: {"baseline": c[:-1]}, "'row 399' is only in this frame; expected the same ids in "),
    "twice": (lambda b, c: {"y": pd.concat([b, b[:1]])}, "1 of 401 rows repeat an id: id 'row 0'; groups='id' or "),
    "a gap": (lambda b, c: {"y": b.assign(label=[None, *b["label"][1:]])}, "baseline: 1 of 400 rows have no 'label'"),
    "no frame": (lambda b, c: {"y": 3}, "baseline: 3 is not valid; expected a data frame of pandas, polars or Arrow"),
    "a path": (lambda b, c: {"y": "b.csv"}, "or three arrays; read_predictions reads a file"),
    "no common id": (lambda b, c: {"baseline": c.assign(id="x" + b["id"])}, "different rows with unpaired=True)"),
    "a column twice": (
        lambda b, c: {"y": pd.concat([b, b[["label"]]], axis=1)}, "distinct names of one level; rename or drop columns"
    ),
    "two levels": (lambda b, c: {"y": pd.concat({"x": b}, axis=1)}, "baseline (columns): [('x', 'id'), ('x', 'label')"),
    "lists in it": (lambda b, c: {"y": b.assign(label=[[1]] * 400)}, "baseline: column 'label'"),
    "a mixture": (lambda b, c: {"y": b.assign(label=[1, "a"] * 200)}, "baseline: cannot be read as columns ("),
    "a way": (lambda b, c: {"unmatched": "keep"}, "unmatched: 'keep' is not valid; expected one of refuse, drop"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"alpha": 0.01}, "compare() has no option 'alpha'; pass rule=ComparisonRule(alpha=...)"),
        ({"slice": "region"}, "compare() has no option 'slice' (did you mean 'slices'?)"),
    ],
)
def test_an_option_that_is_none_is_named(option, said):
    with pytest.raises(TypeError) as caught:
        sigstats.compare(*pair(), **option)
    assert str(caught.value) == said


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_one_line(case):
    base, cand = pair()
    change, complaint = BAD[case]
    with pytest.raises(ValueError) as caught:
        sigstats.compare(**{"y": base, "baseline": cand, **change(base, cand)})
    assert complaint in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("paths", "complaint"),
    [
        ("no such *.csv", "no file fits the pattern"),
        ([], "paths: []"),
        (3, "paths: 3"),
        ("a\0b", "without a zero byte"),
        ("x" * 300, "at most 255"),
    ],
)
def test_files_that_are_not_there_are_named(paths, complaint):
    with pytest.raises(ValueError, match="paths: ") as caught:
        sigstats.read_predictions(paths)
    assert complaint in str(caught.value)


@settings(deadline=None, derandomize=True, max_examples=examples(40))
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), min_size=10, max_size=30))
def test_a_frame_is_its_columns_in_any_order(rows):
    y, a, b = np.array(rows).T
    base = pd.DataFrame({"id": np.arange(len(y)), "label": y, "prediction": a})
    cand = base.assign(prediction=b, by="b")[::-1]
    assert sigstats.compare(base, cand) == sigstats.compare(y, a, b)


@pytest.mark.parametrize("measure", ["roc_auc", "neg_log_loss", "neg_brier_score"])
def test_probabilities_of_the_positive_class_stand_in_place_of_predictions(measure):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    p, q = (0.05 + 0.9 * each for each in ((y + rng.random(60)) / 2, rng.random(60)))
    options = {"measures": measure, "rule": sigstats.ComparisonRule(minimum_effect=0, relative_effect=0)}
    expected = sigstats.compare(y, (p > 0.5) * 1, (q > 0.5) * 1, scores=(p, q), **options)
    assert expected.verdict == "fail"
    names = np.array(["bad", "good"])
    for found in (
        sigstats.compare(y, p, q, **options),
        sigstats.compare(pd.Series(y), pd.Series(p), pd.Series(q), **options),
        sigstats.compare(names[y], pl.Series(p), q.tolist(), positive="good", **options),
        sigstats.compare(y, pd.DataFrame({1: p, 0: 1 - p}), pl.DataFrame({"0": 1 - q, "1": q}), **options),
    ):
        assert [row.pvalue for row in found.rows] == [row.pvalue for row in expected.rows]
    with pytest.raises(AssertionError, match=r"FAIL: .* fell by"):
        sigstats.assert_no_regression(y, p, q, **options)
    with pytest.raises(ValueError, match="without scores"):
        sigstats.compare(y, (p > 0.5) * 1, (q > 0.5) * 1, **options)
    with pytest.raises(ValueError, match="positive: is missing; expected one of 'bad', 'good'"):
        sigstats.compare(names[y], p, q, **options)


def test_one_model_may_give_probabilities_of_its_classes():
    y = ["a", "b", "c"] * 20
    said = pd.DataFrame(np.eye(3)[[2, 0, 1] * 20], columns=["b", "c", "a"])
    assert sigstats.assert_at_least(y, said, at_least=0.9, measures="accuracy").rows[0].value == 1


@pytest.mark.parametrize(("how", "n"), [("drop", 53), ("wrong", 60)])
@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_missing_texts_of_arrays_are_what_they_are_in_frames(how, n, kind):
    y, b = ["a", "b"] * 30, ["a", "b"] * 25 + ["b", "a"] * 5
    c = ["NA" if row < 7 else label for row, label in enumerate(y)]
    frames = [pd.DataFrame({"id": range(60), "label": y, "prediction": said}) for said in (b, c)]
    ours = sigstats.compare(*map(kind, (y, b, c)), missing="NA", unscored=how)
    theirs = sigstats.compare(*frames, missing="NA", unscored=how)
    assert ours.n == theirs.n == n
    assert [row.pvalue for row in ours.rows] == [row.pvalue for row in theirs.rows]
    checked = sigstats.assert_at_least(kind(y), kind(c), at_least=0.1, missing="NA", unscored=how)
    assert checked.rows[0].value == (1.0 if how == "drop" else 53 / 60)


def test_missing_labels_of_arrays_are_refused_with_their_number_and_a_number_may_be_declared_missing():
    y, said = [-1 if row % 4 == 0 else row % 2 for row in range(60)], [row % 2 for row in range(60)]
    with pytest.raises(ValueError, match=r"15 of 60 rows have no 'y': .*; add unscored='drop', which leaves them out"):
        sigstats.compare(y, said, [0] * 60, missing="-1")
    assert sigstats.compare(y, said, [0] * 60, missing="-1", unscored="drop").rows[0].baseline == 1
    text = ["NA" if each < 0 else str(each) for each in y]
    with pytest.raises(ValueError, match="y: 15 of 60 labels are 'NA'; give missing='NA' and unscored='drop'"):
        sigstats.compare(text, list(map(str, said)), ["0"] * 60)


def test_slices_of_arrays_are_named_as_those_of_frames():
    y, days = ["a", "b"] * 30, pd.to_datetime(["2024-01-01", "2024-01-02"]).repeat(30)
    columns = {
        "day": pd.DatetimeIndex(days),
        "week": days.to_period("W"),
        "age": pd.cut(np.arange(60.0), [10, 30, 60]),
        "kind": pd.Categorical(["u", None] * 30),
        "date": days.date,
        "part": ["u", None] * 30,
    }
    frame = pd.DataFrame({"id": range(60), "label": y, "prediction": y, **columns})
    for name, values in columns.items():
        theirs = sigstats.compare(frame, frame.assign(prediction=y[::-1]), slices=name)
        ours = sigstats.compare(y, y, y[::-1], slices={name: values})
        assert [(row.slice, row.pvalue) for row in ours.rows] == [(row.slice, row.pvalue) for row in theirs.rows]


@pytest.mark.parametrize("name", ["id", "sample_id", "case"])
def test_an_index_with_a_name_holds_the_ids(name):
    index = pd.Index([f"r{row}" for row in range(60)], name=name)
    frame = pd.DataFrame({"label": ["a", "b"] * 30, "prediction": ["a", "b", "b"] * 20}, index=index)
    other = frame.assign(prediction=["a"] * 60).sample(frac=1, random_state=1)
    options = {"id": name} if name == "case" else {}
    ours = sigstats.compare(frame, other, **options)
    theirs = sigstats.compare(frame.reset_index(), other.reset_index(), **options)
    assert [(row.n, row.pvalue) for row in ours.rows] == [(row.n, row.pvalue) for row in theirs.rows]
    with pytest.raises(ValueError, match="expected the index of baseline, in its order"):
        sigstats.compare(frame, other, by_position=True)


RUNS = pd.MultiIndex.from_product([range(3), range(40)], names=["seed", "question_id"])
RIGHT = np.random.default_rng(4).random((120, 2)) < 0.8


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (RUNS, "80 of 120 rows repeat an i"),
        (RUNS.set_names(["run", "place"]), "80 of 120 rows repeat an item"),
        (RUNS.set_names([None, "question_id"]), "expected a name for each level"),
        (RUNS.droplevel("seed"), "80 of 120 rows repeat an i"),
        (pd.MultiIndex.from_arrays([np.arange(120) // 40, np.arange(120)], names=["fold", "id"]), None),
        (pd.RangeIndex(120), None),
        (pd.Index(np.arange(120) % 40), None),
    ],
)
def test_repeated_items_in_an_index_are_refused_as_in_columns(index, message):
    y = np.arange(120) % 2
    frame = pd.DataFrame({"label": y, "prediction": np.where(RIGHT[:, 0], y, 1 - y)}, index=index)
    models = pd.DataFrame(RIGHT, columns=["a", "b"], index=index)
    calls = [
        *(lambda: sigstats.check(frame.label, frame.prediction, at_least=0.5), lambda: sigstats.rank_models(models)),
        lambda: sigstats.compare(frame.label, frame.prediction, frame.label),
    ]
    if "run" not in index.names:  # columns of other names are compared by their labels
        calls.append(lambda: sigstats.check(frame, at_least=0.5))
    for call in calls:
        with nullcontext() if message is None else pytest.raises(ValueError, match=message):
            call()


def test_levels_of_an_index_may_be_named_as_columns():
    y = np.arange(120) % 2
    frame = pd.DataFrame({"label": y, "prediction": np.where(RIGHT[:, 0], y, 1 - y)}, index=RUNS)
    options = {"groups": "question_id", "at_least": 0.5}
    assert sigstats.check(frame, **options).rows == sigstats.check(frame.reset_index(), **options).rows
    models, items = pd.DataFrame(RIGHT, columns=["a", "b"], index=RUNS), RUNS.get_level_values("question_id")
    expected = sigstats.rank_models(RIGHT, models=["a", "b"], items=items)
    assert sigstats.rank_models(models, items="question_id") == sigstats.rank_models(models, items=items) == expected


def test_a_column_of_items_next_to_annotators_contains_ids():
    products = pd.DataFrame({"label": "a", "prediction": np.where(RIGHT[:, 0], "a", "b"), "item": np.arange(120) // 5})
    frame = products.assign(annotator=np.arange(120) % 5)
    with pytest.raises(ValueError, match="96 of 120 rows repeat an id"):
        sigstats.check(frame, at_least=0.5)
    assert sigstats.check(frame, at_least=0.5, groups="item").rows[0].n == 120
    for each in (frame.assign(question_id=range(120)), frame.assign(item=range(120)), products):
        assert sigstats.check(each, at_least=0.5).rows[0].n == 120


def test_times_of_another_form_are_not_different_rows():
    base, cand = pair(60)
    naive = pd.date_range("2026", periods=60, freq="D")
    forms = naive, naive.tz_localize("UTC"), naive.strftime("%Y-%m-%d"), naive.tz_localize("Europe/Berlin")
    for ids in forms[1:]:
        with pytest.raises(ValueError, match=r"shares no id with .*; write the times in both as text of one form"):
            sigstats.compare(base.assign(id=naive), cand.assign(id=ids))
    with pytest.raises(ValueError, match="compare two models on different rows with unpaired=True"):
        sigstats.compare(base.assign(id=naive), cand.assign(id=naive + pd.Timedelta(days=900)))


def test_an_infinite_weight_is_named():
    base, cand = pair(60)
    for rest in (1.0, 0.5):
        weighted = base.assign(w=np.where(np.arange(60) == 3, np.inf, rest))
        with pytest.raises(ValueError, match="column 'w' has a number that is not finite"):
            sigstats.compare(weighted, cand, weights="w")


def test_groups_with_numbers_for_names_are_the_same_groups_in_arrays_and_frames():
    rng = np.random.default_rng(2)
    base = pd.DataFrame({"id": range(120), "label": rng.integers(0, 3, 120), "g": rng.integers(0, 25, 120)})
    base["prediction"] = np.where(rng.random(120) < 0.9, base["label"], 0)
    other = base.assign(prediction=np.where(rng.random(120) < 0.8, base["label"], 0))
    of_frames = sigstats.compare(base, other, groups="g", measures=["accuracy", "macro-f1"])
    columns = (base["label"], base["prediction"], other["prediction"])
    of_arrays = sigstats.compare(*columns, groups=base["g"], measures=["accuracy", "macro-f1"])
    assert of_arrays.to_pandas()["pvalue"].tolist() == of_frames.to_pandas()["pvalue"].tolist()


def test_assertions_carry_what_was_compared_and_checked():
    y, wrong = [0, 1] * 50, [0] * 100
    with pytest.raises(AssertionError) as caught:
        sigstats.assert_no_regression(y, y, wrong)
    assert repr(caught.value.result) == repr(sigstats.compare(y, y, wrong))
    with pytest.raises(AssertionError) as caught:
        sigstats.assert_at_least(y, wrong, at_least=0.9)
    checked = sigstats.check(y, wrong, at_least=0.9)
    assert sigstats.check(y, wrong, at_least="90%").rows == checked.rows
    with pytest.raises(ValueError, match=r"at_least: 'many' is not valid; expected a number such as 0.9 or 90%"):
        sigstats.check(y, wrong, at_least="many")
    assert repr(caught.value.result) == repr(checked)
    assert (checked.verdict, checked.rows[0].value) == ("fail", 0.5)
    assert sigstats.check(y, y, at_least=0.9) == sigstats.assert_at_least(y, y, at_least=0.9)


Y, SCORES = pd.Series([0, 1] * 50), pd.Series(np.linspace(0, 1, 100))


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: sigstats.check(Y, Y[::-1], at_least=0.8), "prediction"),
        (lambda: sigstats.check(Y, SCORES[::-1], measures="auc", at_least=0.8), "prediction"),
        (lambda: sigstats.compare(Y, Y, Y[::-1]), "candidate"),
        (lambda: sigstats.compare(Y, SCORES[::-1], SCORES, measures="auc"), "baseline"),
        (lambda: sigstats.compare(Y, Y, Y, scores=(SCORES, SCORES[::-1])), r"scores\[1\]"),
        (lambda: sigstats.compare((Y, Y), Y, Y[::-1], unpaired=True), "candidate"),
        (lambda: sigstats.compare((Y, Y), SCORES, SCORES[::-1], measures="auc", unpaired=True), "candidate"),
    ],
)
def test_an_index_in_another_order_is_refused_by_the_name_of_the_argument(call, argument):
    with pytest.raises(ValueError, match=rf"^{argument} \(index\): .* expected the index of y, in its order"):
        call()


@pytest.mark.parametrize("measure", ["recall", "f1", "auc"])
def test_measures_of_a_positive_class_need_two_classes(measure):
    y, scores = np.zeros(100, dtype=int), (SCORES, SCORES) if measure == "auc" else None
    for call in (
        lambda: sigstats.compare(y, y, y, measures=measure, scores=scores),
        lambda: sigstats.check(y, SCORES if measure == "auc" else y, measures=measure, at_least=0.8),
    ):
        with pytest.raises(ValueError, match=r"^label: all rows have the class '0'; expected two classes$"):
            call()


@pytest.mark.parametrize(
    ("first", "other", "exchanged"),
    [
        *(("candidate", "baseline", True), ("gpt_new", "gpt-old", True), ("After2", "before", True)),
        *(("proposed.v1", "previous", True), ("baseline", "candidate", False), ("candidate", "a", False)),
        *(("new_baseline", "old_candidate", False), ("renewed", "bold", False), ("b", "a", False)),
    ],
)
def test_a_candidate_in_the_place_of_the_baseline_is_refused(tmp_path, capsys, first, other, exchanged):
    names, y = [first, other], pd.Series([0, 1] * 200)
    frame = pd.DataFrame({"id": range(400), "label": y, first: y.where(y.index % 5 > 0, 1 - y), other: y})
    long = frame.melt(["id", "label"], names, "model", "prediction")
    calls = {
        "prediction": lambda: sigstats.compare(frame, prediction=names),
        "model": lambda: sigstats.assert_no_regression(long, model=names),
        "baseline": lambda: sigstats.compare(frame.label, frame[first], frame[other]),
        "scores": lambda: sigstats.compare(y, y, y, scores=[*map(pl.Series, names, frame[names].to_numpy().T)]),
    }
    for argument, call in calls.items():
        told = f"^{argument}: '{re.escape(first)}' is given as the baseline, and '{other}' as the candidate; exchange"
        with pytest.raises(ValueError, match=told) if exchanged else nullcontext():
            call()
    paths = [tmp_path / f"{name}.csv" for name in names] + [tmp_path / name / "rows.csv" for name in names]
    for name, path in zip(names * 2, paths, strict=True):
        path.parent.mkdir(exist_ok=True)
        frame[["id", "label", name]].set_axis(["id", "label", "prediction"], axis=1).to_csv(path, index=False)
    long.to_csv(tmp_path / "long.csv", index=False)
    of_models = [tmp_path / "long.csv", "--model", first, "--model", other]
    for arguments in (paths[:2], paths[2:], [paths[0], paths[2], paths[1]], of_models):
        code = main(["compare", *map(str, arguments)])
        output = capsys.readouterr()
        assert (code == 2 and "as the candidate; exchange them, or rename" in output.err) == exchanged, output
