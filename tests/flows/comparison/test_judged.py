"""`--human` of compare, check and rank: rows joined by id, beside `judged_test` of arrays and by all outcomes."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sigstats
from sigstats.comparison.row_tests.judged import JudgedTasks
from sigstats.flows.commands import main
from sigstats.unseen_row.judged import judged_rows
from tests.examples import examples


def drawn(accuracies, specificities, rng, n=600, labels=150):
    """Of baseline and candidate: the frames of verdicts and sparse labels."""
    frames = []
    for accuracy, specificity in zip(accuracies, specificities, strict=True):
        people = rng.random(n) < accuracy
        judge = np.where(people, rng.random(n) < 0.9, rng.random(n) >= specificity)
        human = np.where(np.arange(n) < labels, people, np.nan)
        frames.append(pd.DataFrame({"id": np.arange(n), "judge": judge.astype(int), "human": human}))
    return frames


def compared(tmp_path, frames, *arguments, human=("--human", "human")):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, frame in zip(paths, frames, strict=True):
        frame.to_csv(path, index=False)
    target = tmp_path / "found.json"
    target.unlink(missing_ok=True)
    code = main(["compare", *map(str, paths), "--score", "judge", *human, *arguments, "--json", str(target)])
    if not target.exists():
        return code, None
    found = json.loads(target.read_text())
    return code, {**found, **found["rows"][0], "notes": found["notes"]}


def ends(found):
    return [found["low"], found["high"]]


def test_rows_are_joined_by_id_and_the_candidate_comes_first(tmp_path, capsys):
    baseline, candidate = drawn((0.8, 0.8), (0.7, 0.55), np.random.default_rng(1))
    code, found = compared(tmp_path, (baseline, candidate.sample(frac=1, random_state=0)))
    direct = sigstats.judged_test(
        candidate.judge, baseline.judge, candidate.human, baseline.human, n_resamples=10_000, rng=0
    )
    assert (code, found["verdict"]) == (0, "inconclusive")
    assert ends(found) == list(direct.confidence_interval)
    called = [each.rename(columns={"human": "label"}) for each in (baseline, candidate)]  # as the true class mostly is
    assert compared(tmp_path, called, human=("--human", "label"))[1] == found
    for each in called:
        each["label"] = each["label"].where(each["id"] < 80)
    assert compared(tmp_path, called, human=("--human", "lable")) == (2, None)
    assert capsys.readouterr().err.endswith("column 'lable' was not found; did you mean 'label'?\n")
    notes = [note["text"] for note in found["notes"]]
    own = f"the judge's verdicts give the candidate {candidate.judge.mean():.4g}"
    assert f"{own}; people labelled 150 of 600 rows" in notes
    assert f"judge and people on the candidate: {direct.agreement[0].in_words()}" in notes


def test_labels_of_people_are_joined_into_the_file(tmp_path, capsys):
    frames = drawn((0.8, 0.8), (0.7, 0.55), np.random.default_rng(1))
    assert compared(tmp_path, [frame.drop(columns="human") for frame in frames]) == (2, None)
    message = "column 'human' was not found; join people's labels to this file by id, or name one of 'id', "
    assert message in capsys.readouterr().err


def test_only_rows_that_people_labelled_for_both_models_count_for_their_difference(tmp_path, printed, refused):
    """Of 150 labelled rows each, 40 are common: the labels that the row counts. Without any, nothing can be said."""
    frames = [frame.assign(human=frame.judge) for frame in drawn((0.8, 0.8), (0.7, 0.55), np.random.default_rng(1))]
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for first, common in ((110, 40), (150, 0)):
        for path, frame, start in zip(paths, frames, (0, first), strict=True):
            frame.assign(human=frame.human.where((frame.id >= start) & (frame.id < start + 150))).to_csv(path)
        words = f"people labelled 150 rows in {paths[0]} and 150 rows in {paths[1]}"
        for command in ("compare", "rank"):
            arguments = (command, *paths, "--score", "judge", "--human", "human")
            if common:
                notes = json.loads(printed(*arguments, "--json", "-"))["notes"]
                (text,) = [note["text"] for note in notes if note["name"] == "common-labels"]
                assert text == f"{words}; only the {common} rows in both count for the difference"
            else:
                assert f"human: {words}, but none in both; expected labels of the same rows" in refused(*arguments)
    assert "common-labels" not in printed("check", paths[0], *arguments[3:], "--at-least", "0.5", "--json", "-")


def test_labels_of_one_model_in_both_files_are_noted(tmp_path, printed):
    """People label the candidate's answers, and their column is merged into both files; equal models stay silent."""
    baseline, candidate = drawn((0.8, 0.8), (0.7, 0.55), np.random.default_rng(1))
    _, apart = compared(tmp_path, (baseline, candidate))
    _, merged = compared(tmp_path, (baseline.assign(human=candidate.human), candidate))
    assert "same-labels" not in [note["name"] for note in apart["notes"]]
    (told,) = [note["text"] for note in merged["notes"] if note["name"] == "same-labels"]
    differ = np.count_nonzero((baseline.judge != candidate.judge)[:150])
    assert told.startswith("people's labels of the baseline and the candidate are equal in all 150 rows, ")
    assert told.endswith(f" differ in {differ} of them; label the answers of each model")
    paths = [str(tmp_path / f"{name}.csv") for name in "ab"]
    assert printed("rank", *paths, "--score", "judge", "--human", "human").count("labels of a and b are equal") == 1
    direct = sigstats.judged_test(baseline.judge, candidate.judge, candidate.human, candidate.human)
    assert direct.reason.endswith(told.replace("the baseline and the candidate", "A and B"))
    few = [
        frame.assign(human=frame.human.where(frame.id < 30), judge=frame.human.fillna(1)) for frame in (candidate,) * 2
    ]
    few[0].loc[:4, "judge"] = 1 - few[0].judge[:5]  # five errors of a judge do not tell that labels were copied
    assert "same-labels" not in [note["name"] for note in compared(tmp_path, few)[1]["notes"]]


def test_a_candidate_that_the_judge_prefers_and_people_do_not_fails(tmp_path, capsys):
    baseline, candidate = drawn((0.9, 0.6), (0.9, 0.05), np.random.default_rng(2), labels=300)
    code, found = compared(tmp_path, (baseline, candidate))
    assert (code, found["verdict"]) == (1, "fail")
    assert candidate.judge.mean() > baseline.judge.mean()
    said = capsys.readouterr().out
    assert said.startswith("FAIL: accuracy on all rows fell by 29.14 points (22.37 to 35.89)\nKeep the baseline.\n")
    assert "note: the judge's errors favour one of the models" in said


def test_answers_to_items_are_groups_and_the_page_has_the_notes(tmp_path):
    frames = drawn((0.8, 0.8), (0.7, 0.55), np.random.default_rng(1))
    frames = [frame.assign(item=np.arange(600) // 3) for frame in frames]
    page = tmp_path / "page.html"
    _, found = compared(tmp_path, frames, "--group", "item", "--report", str(page))
    baseline, candidate = frames
    direct = sigstats.judged_test(
        candidate.judge, baseline.judge, candidate.human, baseline.human, groups=baseline.item, n_resamples=10_000
    )
    assert ends(found) == pytest.approx(list(direct.confidence_interval), abs=0.01)  # other weights
    assert found["difference"] == pytest.approx(direct.estimate)
    text = page.read_text()
    for words in (
        "judge and people on the baseline: agree",
        "labels of all present rows would probably not show a difference",
    ):
        assert words in text
    repeated = [frame.assign(id=frame.item) for frame in frames]
    _, by_id = compared(tmp_path, repeated, "--group", "id")
    assert ends(by_id) == pytest.approx(ends(found), abs=0.01)


def test_marks_have_limits_and_a_unit_of_their_own(tmp_path, capsys):
    rng = np.random.default_rng(4)
    people = rng.integers(1, 11, size=(2, 300))
    frames = [
        pd.DataFrame({"id": range(300), "judge": each + rng.normal(size=300), "human": each}).assign(
            human=lambda frame: frame.human.where(frame.id < 80)
        )
        for each in people
    ]
    code, found = compared(tmp_path, frames, "--score-range", "1", "10")
    baseline, candidate = frames
    direct = sigstats.judged_test(
        *(candidate.judge, baseline.judge, candidate.human, baseline.human), score_range=(1, 10), n_resamples=10_000
    )
    assert code == 0
    assert ends(found) == list(direct.confidence_interval)
    said = capsys.readouterr().out
    assert "points" not in said
    frames[0].loc[3, "human"] = 11
    assert compared(tmp_path, frames, "--score-range", "1", "10")[0] == 2
    assert "a.csv: column 'human': 11 is not within 1 and 10" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "arguments", "said"),
    [
        ({"human": 3.0}, (), r"a\.csv: column 'human': 3 is not a verdict; expected 1"),
        ({"judge": 0.5}, (), r"a\.csv: column 'judge': 0\.5 is not a verdict; expected 1"),
        ({"human": None}, (), r"a\.csv: 20 of 20 rows have no 'human': ids .*; expected one or more"),
        ({}, ("--score", "human"), "--human: is not valid with several scores"),
        ({}, ("--human", "judge", "--human", "human"), "--human: 3 were given; expected one, or one for each of 2"),
    ],
)
def test_what_cannot_be_judged_is_refused(tmp_path, capsys, change, arguments, said):
    frames = drawn((0.8, 0.8), (0.7, 0.7), np.random.default_rng(3), n=20, labels=10)
    frames[0] = frames[0].assign(**change)
    code, found = compared(tmp_path, frames, *arguments)
    assert (code, found) == (2, None)
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(said, error)


@pytest.mark.long
@pytest.mark.parametrize("command", [["compare"], ["rank"], ["check"]])
@pytest.mark.parametrize("marks", [False, True])
def test_labels_of_people_that_contradict_the_judge_are_refused(tmp_path, refused, printed, command, marks):
    """Labels of the error, and classes in place of verdicts; a judge that guesses is no contradiction."""
    frames = drawn((0.8, 0.7), (0.9, 0.9), np.random.default_rng(5), n=300, labels=100)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"][: 2 - (command[0] == "check")]
    words = [*command, *paths, "--score", "judge", "--human", "human", *["--score-range", "1", "5"] * marks]
    words += ["--at-least", "2" if marks else "0.5"] * (command[0] == "check")

    def written(change):
        for path, frame in zip(paths, frames, strict=False):
            frame = frame.assign(human=change(frame))
            (frame * [1, 4, 4] + [0, 1, 1] if marks else frame).to_csv(path, index=False)

    written(lambda frame: 1 - frame["human"])
    assert "a.csv: column 'human' contradicts the judge (agreement " in refused(*words)
    guessed = np.random.default_rng(6)
    for change in (
        lambda frame: frame["human"],
        lambda frame: frame["human"].where(guessed.random(len(frame)) < 0.5, 0),
    ):
        written(change)
        printed(*words, code=(0, 1))


@pytest.mark.parametrize("command", ["compare", "rank", "check"])
@pytest.mark.parametrize("tick", [0, 1])
def test_ticks_of_right_or_wrong_answers_only_are_refused(tmp_path, refused, command, tick):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"][: 2 - (command == "check")]
    for path, frame in zip(paths, drawn((0.8, 0.7), (0.9, 0.9), np.random.default_rng(5)), strict=False):
        frame.assign(human=frame.human.where(frame.human == tick)).to_csv(path, index=False)
    bar = ["--at-least", "0.5"] * (command == "check")
    message = refused(command, *paths, "--score", "judge", "--human", "human", *bar)
    assert re.search(f"a.csv: column 'human': all [0-9]+ labels are {tick}, and the judge .* or not labelled", message)


def notes_of(capsys, tmp_path, frame, *words):
    """The names of the notes of a check of one model by labels of people."""
    frame.to_csv(tmp_path / "model.csv", index=False)
    target = tmp_path / "checked.json"
    assert main(["check", str(tmp_path / "model.csv"), *words, "--at-least", "0.5", "--json", str(target)]) in (0, 1)
    return {note["name"]: note["text"] for note in json.loads(target.read_text())["notes"]}


@pytest.mark.long
@pytest.mark.parametrize("labels", [0, 1, 60, 599])
def test_labels_of_all_rows_are_refused_as_those_without_a_label_may_be_filled(tmp_path, capsys, refused, labels):
    frame = drawn((0.8,), (0.8,), np.random.default_rng(labels), labels=max(labels, 20))[0]
    words = ["--score", "judge", "--human", "human"]
    assert "all-labelled" not in notes_of(capsys, tmp_path, frame, *words)
    for filled in (frame.fillna(0), frame.assign(human=frame.human.fillna(frame.judge))):
        filled.to_csv(tmp_path / "filled.csv", index=False)
        message = refused("check", tmp_path / "filled.csv", *words, "--at-least", "0.5")
        assert "column 'human' labels all rows; leave it empty where people gave no label, or use" in message
        filled.to_csv(tmp_path / "other.csv", index=False)
        assert "labels all rows" in refused("compare", tmp_path / "filled.csv", tmp_path / "other.csv", *words)


@pytest.mark.parametrize("names", [(0, 1), ("0", "1"), (0.0, 1.0)])
@given(seed=st.integers(0, 10**6), share=st.floats(0.3, 0.7), slips=st.sampled_from([0.0, 0.05]))
@settings(
    max_examples=examples(10),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_labels_that_equal_the_classes_more_often_than_the_verdicts_are_noted(
    tmp_path, capsys, names, seed, share, slips
):
    """People who state the class, and people who state whether the prediction is right, both with a few slips."""
    rng = np.random.default_rng(seed)
    label, right, slip = rng.random((3, 400)) < [[share], [0.75], [slips]]
    prediction = label == right
    for stated, classes in ((label, True), (right, False)):
        human = np.where(np.arange(400) < 150, stated ^ slip, np.nan)
        columns = {"label": np.array(names)[label * 1], "prediction": np.array(names)[prediction * 1]}
        frame = pd.DataFrame({"id": range(400), **columns, "human": human})
        assert ("labels-of-classes" in notes_of(capsys, tmp_path, frame, "--human", "human")) == classes


def test_verdicts_that_are_missing_are_left_out_or_wrong_as_the_person_says(tmp_path, capsys):
    frames = drawn((0.8, 0.8), (0.7, 0.7), np.random.default_rng(4))
    gaps = [each.assign(judge=each["judge"].where(each["id"] % 50 != 3)) for each in frames]
    assert compared(tmp_path, gaps) == (2, None)
    _, dropped = compared(tmp_path, gaps, "--unscored", "drop")
    _, expected = compared(tmp_path, [each[each["id"] % 50 != 3] for each in frames])
    assert ends(dropped) == ends(expected)
    _, wrong = compared(tmp_path, gaps, "--unscored", "wrong")
    _, expected = compared(
        tmp_path, [each.assign(judge=each["judge"].where(each["id"] % 50 != 3, 0)) for each in frames]
    )
    assert ends(wrong) == ends(expected)
    capsys.readouterr()


def test_marks_of_which_the_lower_is_better_are_refused(tmp_path, capsys, refused):
    """Else the candidate with the greater cost would be the better one."""
    frames = [
        frame.rename(columns={"judge": "errors"}) for frame in drawn((0.9, 0.6), (0.9, 0.9), np.random.default_rng(4))
    ]
    for path, frame in zip("ab", frames, strict=True):
        frame.to_csv(tmp_path / f"{path}.csv", index=False)
    capsys.readouterr()
    paths = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    for option in ("--score", "--lower-is-better"):
        assert "score: 'errors' is a cost; expected marks of which higher is better" in refused(
            "compare", *paths, option, "errors", "--human", "human"
        )


def test_logs_of_different_tasks_are_joined_where_that_is_allowed(tmp_path, refused):
    paths = []
    for task, wrong in (("first", 3), ("other", 5)):
        row = {"filter": "none", "resps": [["x"]], "filtered_resps": ["x"], "metrics": ["acc", "people"], "target": "x"}
        rows = [
            row | {"doc_id": i, "doc": {}, "acc": float(i % wrong > 0)} | ({"people": 1.0} if i < 30 else {})
            for i in range(60)
        ]
        paths.append(tmp_path / f"samples_{task}_2026-01-01T00-00-00.000000.jsonl")
        paths[-1].write_text("".join(json.dumps(each) + "\n" for each in rows))
    options = ["compare", *map(str, paths), "--score", "acc", "--human", "people"]
    assert "--allow-different-tasks" in refused(*options)
    assert main([*options, "--allow-different-tasks"]) == 0


@pytest.mark.long
def test_the_rate_of_one_model_and_of_many_is_that_of_their_labels_by_verdict(tmp_path, capsys, refused):
    """Post-stratified by hand: the shares of the judge's verdicts times the labels of people among them."""
    frames = dict(zip("abc", drawn((0.8, 0.8, 0.5), (0.7, 0.55, 0.6), np.random.default_rng(1)), strict=True))
    half = np.where(np.arange(600) % 2, "odd", "even")
    for name, frame in frames.items():
        frame.assign(half=half).to_csv(tmp_path / f"{name}.csv", index=False)
    rates = {
        name: sum(part.human.mean() * len(part) / 600 for _, part in frame.groupby("judge"))
        for name, frame in frames.items()
    }
    paths, json_file = [str(tmp_path / f"{name}.csv") for name in "abc"], str(tmp_path / "out.json")
    common = ("--score", "judge", "--human", "human", "--slice", "half", "--json", json_file)
    assert main(["check", paths[2], *common, "--at-least", "0.7"]) == 1
    rows = json.loads(Path(json_file).read_text())["rows"]
    assert [row["slice"] for row in rows] == ["all rows", "half = even", "half = odd"]
    assert rows[0]["value"] == pytest.approx(rates["c"])
    from_frame = sigstats.check(frames["c"], score="judge", human="human", at_least=0.7)
    row = from_frame.rows[0]
    assert (row.value, row.low, row.high) == tuple(rows[0][key] for key in ("value", "low", "high"))
    assert main(["rank", *paths, *common]) == 0
    ranked = json.loads(Path(json_file).read_text())
    assert {model["model"]: model["score"] for model in ranked["models"]} == pytest.approx(rates)
    assert [(model["model"], model["rank_high"]) for model in ranked["models"]][2] == ("c", 3)
    assert [pair["better"] for pair in ranked["pairs"]] == [False, True, True]
    with pytest.raises(ValueError, match="human: 'people' is not valid with arrays; expected data frames"):
        sigstats.check([1] * 4, [1, 0, 1, 1], human="people", at_least=0.5)


@pytest.mark.long
def test_each_task_counts_the_same_and_has_a_corrected_rate_of_its_own(tmp_path, printed):
    """The judge passes wrong answers in one task only; that task has few rows."""
    rng = np.random.default_rng(7)
    frames = drawn((0.8, 0.8), (0.9, 0.9), rng, n=400, labels=100)
    for frame in frames:
        frame["task"] = np.where(np.arange(400) % 8 == 0, "code", "law")
        frame.loc[frame.task == "code", "judge"] = 1
        frame.loc[(frame.task == "code") & frame.human.notna(), "human"] = np.arange(13) % 2
    result = sigstats.check(frames[0], score="judge", human="human", task="task", slices="task", at_least=0.5)
    values = {row.slice: row.value for row in result.rows}
    assert values["task = code"] == pytest.approx(6 / 13)
    assert values["mean over tasks"] == pytest.approx((values["task = code"] + values["task = law"]) / 2)
    mean = result.rows[1]
    assert mean.low < result.rows[0].low < result.rows[0].value  # of few labels in one task
    _, found = compared(tmp_path, frames, "--task", "task")
    assert [row["slice"] for row in found["rows"]] == ["all rows", "mean over tasks"]
    assert found["joint"] is None  # the judge's verdicts alone would decide
    paths = [str(tmp_path / f"{name}.csv") for name in "ab"]
    assert "mean over tasks, 400 rows" in printed(
        "rank", *paths, "--score", "judge", "--human", "human", "--task", "task"
    )
    crossed = sigstats.check(
        frames[0].assign(group=np.arange(400) // 4),
        score="judge",
        human="human",
        task="task",
        groups="group",
        at_least=0.5,
    )
    assert crossed.rows[1].pvalue is None
    assert "accuracy: no mean over tasks is tested; --slice (slices) tests each task" in str(crossed)


@pytest.mark.long
@pytest.mark.parametrize("right", [(0.8, 0.98), (1.0, 0.7), (0.5, 0.5)])
def test_the_level_of_the_mean_over_tasks_with_a_judge_wrong_in_one(right):
    """At most 5% of 600 in truth; more than 46 of 600 would have a chance of 0.2%."""
    labels, size, false = 3, 300, np.zeros(2)
    rng = np.random.default_rng(labels)
    for _ in range(600):
        tasks, truth = [], 0.0
        for passed, of_passed in ((0.8, 0.98), right):  # people call 2% right of what the judge fails
            judge = (rng.random(size) < passed).astype(int)
            people = np.where(judge == 1, rng.random(size) < of_passed, rng.random(size) < 0.02).astype(float)
            seen = np.arange(size) < labels
            truth += (passed * of_passed + (1 - passed) * 0.02) / 2
            tasks.append(judged_rows(judge, seen, people[seen], np.array([0.0, 1.0]), None))
        law = JudgedTasks(tasks).law(1000, rng)
        false += [law.pvalue(truth, "less") <= 0.05, law.pvalue(truth, "greater") <= 0.05]
    assert false.max() <= 46
