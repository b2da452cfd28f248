"""Failed, unscored and repeated answers: the same options have the same effect in every format."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.comparison.compare import compare_pair
from sigstats.files.predictions import Columns, join, read
from sigstats.files.predictions.designs import combine_samples
from sigstats.flows.commands import main

from ....tables import save
from .logs import harness_log, inspect_log

#: Results in the order of the file: the item, its score, and None where there is none; q1 is there twice.
RESULTS = [("q0", 1), ("q1", 0), ("q2", None), ("q1", 1), *((f"q{n}", n % 2) for n in range(3, 12))]
N = len(RESULTS)


def table(path):
    save(pd.DataFrame(RESULTS, columns=["id", "s"]), path)
    return "s"


def inspect(path):
    samples = [
        {"id": item, "epoch": 1, "scores": {"s": {"value": mark}}}
        if mark is not None
        else {"id": item, "epoch": 1, "scores": {}, "error": {"message": "time out"}}
        for item, mark in RESULTS
    ]
    inspect_log(path, [], samples=samples)


def lm_evaluation_harness(path):
    documents = [
        {"doc_id": item, "resps": [["x"]], "filtered_resps": [None if mark is None else "x"], "metrics": ["s"], "s": 0}
        | ({} if mark is None else {"s": mark})
        for item, mark in RESULTS
    ]
    harness_log(path, documents)


def helm(path):
    rows = [
        {"instance_id": item, "train_trial_index": 0, "stats": [{"name": {"name": "s"}, "count": 1, "mean": mark}]}
        for item, mark in RESULTS
    ]
    path.write_text(json.dumps(rows))


def openai_evals(path):
    events = [{"spec": {"eval_name": "e", "completion_fns": ["m"]}}]
    for item, mark in RESULTS:
        kind = {"type": "error", "data": {"message": "time out"}}
        events.append(
            {"sample_id": item, **({"type": "match", "data": {"correct": mark}} if mark is not None else kind)}
        )
    path.write_text("".join(json.dumps(event) + "\n" for event in events))


def openai_evals_of_samples(path):
    """As above, but a sample without a result was only asked."""
    openai_evals(path)
    text = path.read_text().replace(
        '"type": "error", "data": {"message": "time out"}', '"type": "sampling", "data": {}'
    )
    assert "sampling" in text
    path.write_text(text)


def deepeval(path):
    cases = [
        {"name": item, "metricsData": [{"name": "s", "score": mark, "error": "time out" if mark is None else None}]}
        for item, mark in RESULTS
    ]
    path.write_text(json.dumps({"testCases": cases}))


def junit(path):
    inner = {1: "", 0: "<failure/>", None: "<error message='time out'/>"}
    cases = "".join(f"<testcase name='{item}'>{inner[mark]}</testcase>" for item, mark in RESULTS)
    path.write_text(f"<testsuite>{cases}</testsuite>")


FORMATS = {
    "a.csv": table,
    "a.json": table,
    "a.jsonl": table,
    "a.parquet": table,
    "inspect.json": inspect,
    "harness.jsonl": lm_evaluation_harness,
    "per_instance_stats.json": helm,
    "events.jsonl": openai_evals,
    "asked.jsonl": openai_evals_of_samples,
    "test_run.json": deepeval,
    "junit.xml": junit,
}
#: The scores by id and epoch.
KEPT = {"first": {("q1", 1): 0}, "last": {("q1", 1): 1}, "all": {("q1", 1): 0, ("q1", 2): 1}}


@pytest.fixture(params=FORMATS)
def file(request, tmp_path):
    """A file of results, and the score of its columns."""
    path = tmp_path / request.param
    return str(path), FORMATS[request.param](path)


def marks(found):
    epochs = [1] * len(found.ids) if found.epoch is None else map(int, found.epoch.to_pylist())
    return dict(zip(zip(found.ids.to_pylist(), epochs, strict=True), found.score.values.to_pylist(), strict=True))


@pytest.mark.long
@pytest.mark.parametrize("how", KEPT)
@pytest.mark.parametrize("unscored", ["drop", "wrong"])
def test_one_rule_holds_for_every_format(file, how, unscored):
    path, score = file
    found = read(path, Columns(score=score, duplicates=how, unscored=unscored))
    expected = {(item, 1): mark for item, mark in RESULTS if item not in ("q1", "q2")} | KEPT[how]
    assert marks(found) == expected | ({("q2", 1): 0} if unscored == "wrong" else {})
    repeated, unanswered = found.notes[-2:]
    assert [note.name for note in found.notes[-2:]] == ["repeated-answers", "unscored-rows"]
    assert f"1 of {N} " in repeated
    assert " repeat an id: id 'q1'; " in repeated
    n = N - (how != "all")
    assert f"1 of {n} " in unanswered
    assert unanswered.endswith("left out" if unscored == "drop" else "as wrong")
    if unscored == "drop":
        assert found.dropped.ids.to_pylist() == ["q2"]


def test_by_default_repeated_ids_are_refused_and_then_missing_scores(file):
    path, score = file
    with pytest.raises(ValueError, match=f"1 of {N} (rows|answers) repeat an id: id 'q1'; .*add --duplicates first"):
        read(path, Columns(score=score))
    why = r"(failed \('(time out|no response)'\)|have no (score )?'(s|match)'): id 'q2'"
    with pytest.raises(ValueError, match=f"1 of {N - 1} (rows|answers) {why}; add --unscored wrong"):
        read(path, Columns(score=score, duplicates="last"))


@pytest.mark.parametrize("command", ["compare", "check", "rank"])
def test_all_results_of_an_id_are_answers_to_one_item_in_every_command(tmp_path, capsys, refused, command):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"][: 2 - (command == "check")]
    table(paths[0])
    pd.read_csv(paths[0]).eval("s = 1 - s").to_csv(paths[-1], index=False)
    words = [command, *map(str, paths), "--unscored", "wrong", "--score", "s", "--higher-is-better", "s"]
    words += ["--at-least", "0.1"] if command == "check" else []
    assert f"1 of {N} rows repeat an id: id 'q1'" in refused(*words)
    assert main([*words, "--duplicates", "all"]) in (0, 1)
    assert "repeat an id: id 'q1'; each counts as an answer" in " ".join(capsys.readouterr().out.split())
    side = read(str(paths[0]), Columns(score="s", unscored="wrong", duplicates="all"))
    found = join(side, side, Columns(score="s"))
    assert (found.n, len(set(found.units.items.tolist()))) == (N, N - 1)


def test_a_repeated_epoch_of_an_id_is_a_further_answer(tmp_path):
    frame = pd.DataFrame({"id": [1, 1, 1, 2], "try": [1, 2, 2, 1], "s": [0.1, 0.2, 0.3, 0.4]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    columns = {"score": "s", "epoch": "try"}
    with pytest.raises(ValueError, match="1 of 4 rows repeat an id and an epoch of it: id '1 epoch 2'"):
        read(str(tmp_path / "a.csv"), Columns().but(**columns))
    found = read(str(tmp_path / "a.csv"), Columns().but(**columns, duplicates="all"))
    assert found.epoch.to_pylist() == ["1", "2", "2.2", "1"]
    with pytest.raises(ValueError, match="1 of 4 rows repeat an id and a run of it"):
        read(str(tmp_path / "a.csv"), Columns().but(score="s", run="try", duplicates="all"))


def test_frames_and_assertions_follow_the_rule(tmp_path):
    frame = pd.DataFrame({"id": [*range(30), 0], "label": 1, "prediction": [None, *[1] * 29, 1]})
    how = {"duplicates": "last", "unscored": "drop"}
    for door in (
        lambda **more: sigstats.compare(frame, frame, **more),
        lambda **more: sigstats.assert_no_regression(frame, frame, **more),
        lambda **more: sigstats.assert_at_least(frame, at_least=0.5, **more),
    ):
        with pytest.raises(
            ValueError, match=r"1 of 31 rows repeat an id: id '0'; .*add duplicates='first', last or all"
        ):
            door()
        with pytest.raises(ValueError, match=r"1 of 30 rows have no 'prediction': id '0'; add unscored='wrong'"):
            door(duplicates="first")
        assert door(**how).n == 30
        assert door(duplicates="first", unscored="drop").n == 29
        with pytest.raises(
            ValueError, match="duplicates: 'newest' is not valid; expected one of refuse, first, last, all"
        ):
            door(duplicates="newest")
    frame.to_csv(tmp_path / "a.csv", index=False)
    read_ = sigstats.read_predictions(tmp_path / "a.csv", duplicates="all", unscored="wrong")
    assert read_["epoch"].tolist() == ["1"] * 30 + ["2"]


def test_the_tables_of_several_tasks_are_settled_as_one(tmp_path):
    for task in ("x", "y"):
        table(tmp_path / f"{task}.csv")
    found = read(str(tmp_path), Columns(score="s", unscored="drop", duplicates="last"))
    assert found.dropped.ids.to_pylist() == ["x/q2", "y/q2"]
    assert [note.partition(": ")[2].partition(";")[0] for note in found.notes] == [
        f"2 of {2 * N} rows repeat an id: ids 'x/q1', 'y/q1'",
        f"2 of {2 * N - 2} rows have no 's': ids 'x/q2', 'y/q2'",
    ]


def test_group_id_takes_all_results_unless_one_is_kept(tmp_path):
    table(tmp_path / "a.csv")
    path, columns = str(tmp_path / "a.csv"), {"score": "s", "group": "id", "unscored": "wrong"}
    assert marks(read(path, Columns().but(**columns))).items() >= KEPT["all"].items()
    with pytest.raises(ValueError, match=rf"1 of {N} rows repeat an id: id 'q1'"):
        read(path, Columns().but(**columns, duplicates="refuse"))
    last = read(path, Columns().but(**columns, duplicates="last"))
    assert (marks(last)["q1", 1], len(last.ids)) == (1, N - 1)


@pytest.mark.parametrize("program", ["HumanEval", "promptfoo"])
def test_programs_that_repeat_items_state_that_all_results_count(tmp_path, program):
    path, passed = tmp_path / "a.json", [True, False, True]
    if program == "HumanEval":
        path.write_text("".join(json.dumps({"task_id": "t/1", "passed": each}) + "\n" for each in passed))
    else:
        results = [{"success": each, "vars": {"q": "?"}, "provider": "p", "prompt": "x"} for each in passed]
        path.write_text(json.dumps({"evalId": "e", "results": {"results": results}}))
    found = read(str(path), Columns())
    assert (found.epoch.to_pylist(), found.source.subject["epochs"], found.notes) == (["1", "2", "3"], "3", ())
    assert [read(str(path), Columns(duplicates=how)).score.values.to_pylist() for how in ("first", "last")] == [
        [1],
        [1],
    ]
    assert len(read(str(path), Columns(duplicates="all")).notes) == 1
    with pytest.raises(ValueError, match=r"2 of 3 answers repeat an id: id '.*'; add --duplicates first, last or all"):
        read(str(path), Columns(duplicates="refuse"))  # asked for, it is not the default
    assert len(sigstats.read_predictions(path)) == 3
    with pytest.raises(ValueError, match="repeat an id"):
        sigstats.read_predictions(path, duplicates="refuse")


def test_rows_without_ids_are_named_by_their_position(tmp_path):
    (tmp_path / "a.csv").write_text("label,prediction\nx,x\ny,\nx,x\ny,y\n")
    with pytest.raises(ValueError, match=r"1 of 4 rows have no 'prediction': row '1' \(from 0\); add"):
        read(str(tmp_path / "a.csv"), Columns(by_position=True))


def test_empty_responses_of_lm_evaluation_harness_are_counted(tmp_path):
    said = [["x"], [""], [None], ["y"]]
    rows = [{"resps": [each], "filtered_resps": each, "metrics": ["s"], "s": int(each != [""])} for each in said]
    found = read(harness_log(tmp_path / "a.jsonl", rows), Columns(unscored="drop"))
    assert marks(found) == {("0", 1): 1, ("1", 1): 0, ("3", 1): 1}
    assert [note.partition("a.jsonl: ")[2] for note in found.notes] == [
        "1 of 4 answers are empty; they count as the log scores them",
        "1 of 4 answers failed ('no response'): id '2'; left out",
    ]


def test_a_regression_study_has_the_option(tmp_path, printed, refused):
    label = [n % 2 for n in range(40)]
    frame = pd.DataFrame({"id": [*range(40), 0], "label": [*label, 0], "prediction": [1, *label[1:], 0]})
    for name in ("a.csv", "b.csv"):
        frame.to_csv(tmp_path / name, index=False)
    study = tmp_path / "s.toml"
    study.write_text('kind = "regression"\nbaseline = "a.csv"\ncandidate = "b.csv"\n')
    words = ["run", str(study), "--output", str(tmp_path / "out")]
    said = refused(*words)
    assert "1 of 41 rows repeat an id: id '0'; " in said
    assert "or add duplicates first, last or all" in said
    assert "repeat an id: id '0'; the file's last is kept" in " ".join(
        printed(*words, "--set", "duplicates=last").split()
    )


def cells(columns, n=2000):
    """A table of the numbers of rows of each combination of values, and the rows."""
    rng = np.random.default_rng(6)
    rows = pd.DataFrame({name: rng.integers(0, 4, n) for name in columns})
    rows["b"] = np.where(rng.random(n) < 0.6, rows[columns[0]], rows["b"])
    return rows.groupby(columns).size().reset_index(name="Count"), rows


@pytest.mark.long
@pytest.mark.parametrize("columns", [["label", "b"], ["label", "a", "b"], ["label", "region", "b"]])
def test_cells_with_their_numbers_of_rows_are_no_rows(columns, tmp_path, refused):
    table, rows = cells(columns)
    table.to_csv(tmp_path / "cells.csv", index=False)
    told = "column 'Count' seems to count the rows of a cell, but a cell is read as one row; repeat it"
    assert told in refused("check", tmp_path / "cells.csv", "--prediction", "b", "--at-least", "0.5")
    if "a" in columns:
        both = ["--prediction", "a", "--prediction", "b", "--by-position"]
        assert all(told in refused(command, tmp_path / "cells.csv", *both) for command in ("compare", "rank"))
    with pytest.raises(ValueError, match=told):
        sigstats.check(table, "b", at_least=0.5)
    whole = table.loc[table.index.repeat(table["Count"])]
    assert sigstats.check(whole, "b", at_least=0.5).n == 2000
    assert sigstats.check(rows.assign(count=1 + rows.index % 7), "b", at_least=0.5).n == 2000  # rows with a feature


@pytest.mark.parametrize("name", ["num", "Anzahl", "freq", "cases"])
def test_counts_of_a_sparse_table_are_known_by_usual_names_unless_they_number_the_rows(name):
    """Forty of 192 combinations occur."""
    combinations = list(itertools.product("abcd", "abcd", "wxyz", "rst"))
    kept = np.sort(np.random.default_rng(2).choice(len(combinations), 40, replace=False))
    table = pd.DataFrame([combinations[row] for row in kept], columns=["label", "b", "site", "shift"])
    counts = np.random.default_rng(3).poisson(6, 40) + 1
    with pytest.raises(ValueError, match=f"column '{name}' seems to count the rows of a cell"):
        sigstats.check(table.assign(**{name: counts}), "b", at_least=0.1)
    for first in (0, 1):
        assert sigstats.check(table.assign(**{name: range(first, 40 + first)}), "b", at_least=0.1).n == 40


@pytest.mark.long
@pytest.mark.parametrize("role", ["label", "feature"])
def test_a_label_or_a_feature_named_num_counts_no_cells(role):
    """In a few of these tables, as in some of heart diseases, each row is another combination of the features."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame(
            {name: rng.integers(0, k, 30) for name, k in {"cp": 4, "thal": 3, "sex": 2, "num": 5}.items()}
        )
        table["fbs" if role == "label" else "label"] = rng.integers(0, 2, 30)
        label = "num" if role == "label" else "label"
        table["b"] = np.where(rng.random(30) < 0.7, table[label], rng.integers(0, 5, 30))
        assert sigstats.check(table, "b", label=label, at_least=0.3).n == 30


@pytest.mark.parametrize("name", ["count(*)", "effectif", "weight"])
@pytest.mark.parametrize("by", ["label", "b", "score"])
def test_counts_of_a_whole_table_are_known_by_its_cells(name, by, tmp_path, refused):
    """Twelve sites and months; one model, two models, or marks."""
    values = {"label": ["label", "b"], "b": ["label", "a", "b"], "score": ["passed"]}[by]
    factors = [*itertools.product(*[[0, 1]] * len(values), "NSEW", (7, 8, 9))]
    table = pd.DataFrame(factors, columns=[*values, "region", "month"])
    table[name] = np.random.default_rng(4).integers(3, 400, len(table))
    table.to_csv(tmp_path / "cells.csv", index=False)
    asked = ["--score", "passed"] if by == "score" else ["--prediction", "b"]
    told = f"column '{name}' seems to count the rows of a cell"
    assert told in refused("check", tmp_path / "cells.csv", *asked, "--at-least", "0.5")
    if by == "b":
        assert told in refused("compare", tmp_path / "cells.csv", "--prediction", "a", *asked, "--by-position")


def test_features_of_few_whole_numbers_are_no_counts():
    """In a minimal pair, labels differ by design; here the model is right on all but one."""
    pairs = pd.DataFrame({"pair": np.arange(60) // 2, "label": np.arange(60) % 2, "tokens": np.arange(60) % 7 + 9})
    assert sigstats.check(pairs.assign(b=[1, *pairs["label"][1:]]), "b", at_least=0.5).n == 60
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = pd.DataFrame({name: rng.integers(0, 3, 24) for name in ("label", "b", "site")})
        assert sigstats.check(rows.assign(age=rng.integers(20, 60, 24)), "b", at_least=0.1).n == 24


@pytest.mark.parametrize("name", ["seed", "prompt_version", "language"])
@pytest.mark.parametrize("interleaved", [False, True])
def test_rows_without_ids_that_repeat_their_labels_in_runs_are_refused(name, interleaved, tmp_path, refused):
    rng = np.random.default_rng(7)
    label = np.tile(rng.integers(0, 3, 100), 3)
    frame = pd.DataFrame({name: np.repeat([7, 8, 9], 100), "label": label, "prediction": label})
    frame.loc[rng.random(300) < 0.2, "prediction"] = 0
    frame = frame.iloc[np.arange(300).reshape(3, 100).T.ravel()] if interleaved else frame
    frame.to_csv(tmp_path / "runs.csv", index=False)
    told = f"column '{name}' seems to name runs, models or versions of the same rows, since the labels repeat"
    assert told in refused("check", tmp_path / "runs.csv", "--at-least", "0.5")
    with pytest.raises(ValueError, match=told):
        sigstats.check(frame, at_least=0.5)
    assert sigstats.check(frame, at_least=0.5, groups=name).n == 300
    items = frame.assign(id=frame.groupby(name).cumcount())
    assert sigstats.check(items, at_least=0.5, groups="id").n == 300
    assert sigstats.check(frame.assign(label=rng.permutation(label)), at_least=0.1).n == 300
    design = frame.assign(tens=np.arange(300) % 10, ones=np.arange(300) // 10 % 10).rename(columns={name: "doors"})
    assert interleaved or sigstats.check(design, at_least=0.5).n == 300  # each combination of three factors once


def test_models_on_the_same_items_are_known_in_any_order_of_rows():
    label = np.random.default_rng(5).integers(0, 2, 40)
    items = pd.DataFrame({"text": [f"text {k}" for k in range(40)], "label": label})
    frame = pd.concat([items.assign(llm=name, prediction=1) for name in ("gpt", "llama")], ignore_index=True)
    for rows in (frame.drop(columns="text"), frame.sample(frac=1, random_state=1)):
        with pytest.raises(ValueError, match="column 'llm' seems to name runs, models or versions of the same rows"):
            sigstats.check(rows, at_least=0.1)
    texts = (frame["text"] + frame["llm"]).tolist()
    assert sigstats.check(frame.assign(text=texts).sample(frac=1, random_state=1), at_least=0.1).n == 80


def compared(tmp_path, label, a, b, measure, positive=None, unscored="refuse", unpaired=False, score=None):
    """The row of two models, of files in which a column with a missing value has numbers such as 1.0."""
    columns, sides = Columns(score=score, unscored=unscored), []
    for name, of in (("a", a), ("b", b)):
        frame = pd.DataFrame({"id": range(len(label)), "label": label, score or "prediction": of})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        sides.append(read(str(tmp_path / f"{name}.csv"), columns))
    pair = combine_samples(*(join(side, side, columns) for side in sides)) if unpaired else join(*sides, columns)
    return compare_pair(pair, measures=[measure], positive=positive).rows[0]


@pytest.mark.parametrize(
    "measure", ["accuracy", "precision", "recall", "specificity", "f1", "jaccard", "mcc", "kappa", "macro-precision"]
)
def test_a_missing_prediction_counts_as_the_other_one_of_two_classes_in_every_measure(tmp_path, measure):
    rng = np.random.default_rng(5)
    label, a, b = rng.integers(0, 2, (3, 90))
    empty = rng.random(90) < 0.2
    assert {*label[empty]} == {0, 1}
    b[empty] = 1 - label[empty]
    other = compared(tmp_path, label, a, b, measure)
    assert compared(tmp_path, label, a, np.where(empty, np.nan, b), measure, unscored="wrong") == other


def test_of_several_classes_wrong_is_valid_where_all_wrong_predictions_count_the_same(tmp_path):
    rng = np.random.default_rng(6)
    label, a, b = rng.integers(0, 3, (3, 90))
    missing = np.where(rng.random(90) < 0.2, np.nan, b)
    for how in [("balanced-accuracy",), ("macro-recall",), ("recall", "1"), ("accuracy",)]:
        wrong = (np.where(np.isnan(missing), (label + step) % 3, b) for step in (1, 2))
        one, other = (compared(tmp_path, label, a, of, *how).candidate for of in wrong)
        assert compared(tmp_path, label, a, missing, *how, unscored="wrong").candidate == pytest.approx(one) == other
    for measure in ("macro-precision", "macro-f1", "kappa", "mcc", "precision"):
        positive = "1" if measure == "precision" else None
        with pytest.raises(ValueError, match=f"unscored: 'wrong' is not valid for {measure} of several classes, since"):
            compared(tmp_path, label, a, missing, measure, positive, unscored="wrong")


@pytest.mark.parametrize(("measure", "unpaired"), [("auc", False), ("neg-brier", False), ("neg-brier", True)])
def test_no_probability_is_wrong_by_itself(tmp_path, measure, unpaired):
    rng = np.random.default_rng(7)
    a, b = rng.random((2, 90))
    b[:9] = np.nan
    with pytest.raises(ValueError, match=f"unscored: 'wrong' is not valid for {measure} of probabilities"):
        compared(tmp_path, rng.integers(0, 2, 90), a, b, measure, unscored="wrong", unpaired=unpaired, score="prob")


@pytest.mark.parametrize(("first", "how"), [(0, "epoch"), (1, "order, as their epochs differ")])
def test_the_note_on_epochs_states_how_they_are_paired(tmp_path, answer, first, how):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, start in zip(paths, (0, first), strict=True):
        rows = pd.DataFrame(
            {"id": np.arange(90) // 3, "epoch": start + np.arange(90) % 3, "label": np.arange(90) // 3 % 2}
        )
        rows.assign(prediction=np.arange(90) % 2).to_csv(path, index=False)
    notes = {note["name"]: note["text"] for note in answer("compare", *paths, "--epoch", "epoch")["notes"]}
    assert f"90 answers to 30 items in each file are paired by {how}; the" in notes["paired-epochs"]
