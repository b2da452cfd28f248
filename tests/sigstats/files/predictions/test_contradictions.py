"""Entries that contradict themselves: each reader counts them before the verdict."""

import json

import pandas as pd
import pytest

from .logs import harness_log, inspect_log

#: The marks that count, and the entries among them that also state the opposite.
MARKS, ODD = [1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1], (1, 3, 6)
#: Wrong answers that equal their targets.
EQUAL = [number for number in ODD if not MARKS[number]]


def other(number):
    """The other verdict of an entry."""
    return 1 - MARKS[number] if number in ODD else MARKS[number]


def table(kind, name, score):
    def write(path):
        frame = pd.DataFrame({"id": range(12), score: MARKS, name: [other(number) for number in range(12)]})
        if kind == "truth":
            frame[name] = frame[name].map({0: "False", 1: "True"})
        if kind == "csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_json(path, orient="records", lines=True)

    said = f"column '{name}', which is not used, contradicts column '{score}' in 3 of 12 rows (--score {name})"
    return write, ["--score", score], said


def harness(path):
    documents = [{"metrics": ["exact_match"], "exact_match": mark, "acc": other(n)} for n, mark in enumerate(MARKS)]
    harness_log(path, [{**document, "resps": [["y"]], "filtered_resps": ["y"]} for document in documents])


def equal_in_harness(path):
    answers = [["x" if mark or n in EQUAL else "y"] for n, mark in enumerate(MARKS)]
    documents = [{"metrics": ["exact_match"], "exact_match": mark} for mark in MARKS]
    harness_log(path, [of | {"resps": [a], "filtered_resps": a} for of, a in zip(documents, answers, strict=True)])


def equal_in_inspect(path):
    scores = [
        {"value": "C" if mark else "I", "answer": "x" if mark or n in EQUAL else "y"} for n, mark in enumerate(MARKS)
    ]
    samples = [{"id": n, "epoch": 1, "target": "x", "scores": {"match": score}} for n, score in enumerate(scores)]
    inspect_log(path, [], samples=samples)


def promptfoo(path):
    results = [
        {"success": bool(mark), "score": other(n), "testIdx": n, "promptIdx": 0, "vars": {"q": n}, "failureReason": 0}
        | {"provider": {"id": "p"}, "prompt": {"raw": "a", "label": "a"}, "testCase": {"vars": {"q": n}}}
        for n, mark in enumerate(MARKS)
    ]
    stats = {"successes": sum(MARKS), "failures": 12 - sum(MARKS), "errors": 0}
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": results, "stats": stats}}))


def humaneval(path):
    right = ["failed: AssertionError" if n in ODD and mark else "" for n, mark in enumerate(MARKS)]
    rows = [{"task_id": f"t/{n}", "passed": bool(mark), "result": right[n]} for n, mark in enumerate(MARKS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def openai(path):
    events = [{"spec": {"completion_fns": ["m"], "eval_name": "e", "split": "s"}}]
    for n, mark in enumerate(MARKS):
        data = {"correct": bool(mark), "expected": "x", "sampled": "x" if mark or n in EQUAL else "y"}
        events.append({"run_id": "r", "event_id": n, "sample_id": f"s.{n}", "type": "match", "data": data})
    path.write_text("".join(json.dumps(event) + "\n" for event in events))


SAME = "equality of answer and target, which is not used, contradicts {} in 2 of 12 answers"


@pytest.mark.parametrize(
    ("write", "options", "said"),
    [
        table("csv", "correct", "score"),
        table("jsonl", "is_correct", "score"),
        table("truth", "acc", "exact_match"),
        (harness, ["--score", "exact_match"], "acc, which is not used, contradicts exact_match in 3 of 12 answers"),
        (equal_in_harness, ["--score", "exact_match"], SAME.format("exact_match")),
        (equal_in_inspect, [], SAME.format("match")),
        (promptfoo, ["--score", "success"], "score, which is not used, contradicts success in 3 of 12 answers"),
        (humaneval, [], "result, which is not used, contradicts passed in 1 of 12 answers"),
        (openai, [], SAME.format("match")),
    ],
)
def test_a_note_counts_them(tmp_path, printed, monkeypatch, write, options, said):
    path = tmp_path / "entries.json"
    write(path)
    result = json.loads(printed("check", path, "--at-least", "0.1", *options, "--json", "-", code=(0, 1)))
    assert [note["text"].removeprefix(f"{path}: ") for note in result["notes"] if "not used" in note["text"]] == [said]
    text = printed("check", path, "--at-least", "0.1", *options, code=(0, 1))
    assert f"{said}\n" in text
    for name in ("ODD", "EQUAL"):
        monkeypatch.setattr(f"{__name__}.{name}", ())
    write(path)
    assert "not used" not in printed("check", path, "--at-least", "0.1", *options, code=(0, 1))


@pytest.mark.parametrize("score", ["correct", "acc", "score"])
def test_equal_labels_and_predictions_are_right_by_any_mark_but_a_score(tmp_path, printed, score):
    """A score may be the probability of a class; an unequal prediction may be right, as with other units."""
    frame = pd.DataFrame({"id": range(12), "label": "x", "prediction": ["x"] * 8 + ["y"] * 4, score: MARKS})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    of_marks = ["--at-least", "0.1", "--score", score, "--measure", "mean-score"]
    text = printed("check", tmp_path / "rows.csv", *of_marks, code=(0, 1))
    said = f"equality of label and prediction, which is not used, contradicts column '{score}' in 3 of 12 rows"
    assert (said in text) == (score != "score")


def test_a_column_of_outcomes_is_a_feature(tmp_path, printed):
    frame = pd.DataFrame({"id": range(12), "correct": MARKS, "outcome": ["failure", "success"] * 6})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    assert "not used" not in printed("check", tmp_path / "rows.csv", "--at-least", "0.1", "--score", "correct")


def test_answers_that_failed_and_are_right_are_counted(tmp_path, printed):
    documents = [{"metrics": ["exact_match"], "exact_match": mark, "resps": [["y"]]} for mark in MARKS]
    for number, document in enumerate(documents):
        document["filtered_resps"] = [] if number in ODD else ["y"]
    path = harness_log(tmp_path / "samples.jsonl", documents)
    text = printed("check", path, "--at-least", "0.1", "--unscored", "wrong", code=(0, 1))
    assert "1 of 12 answers failed and are marked as right: 3; they count as failed" in text


def test_scores_of_other_quantities_are_not_contradictions(tmp_path, printed):
    documents = [
        {"metrics": ["exact_match", "f1", "bleu"], "exact_match": mark, "f1": 1 - mark, "bleu": 1 - mark}
        | {"doc": {"correct": 1 - mark, "status": "error"}, "resps": [["y"]], "filtered_resps": ["y"]}
        for mark in MARKS
    ]
    path = harness_log(tmp_path / "samples.jsonl", documents)
    assert "not used" not in printed("check", path, "--at-least", "0.1", "--score", "exact_match", code=(0, 1))
