"""`sigstats compare` of logs of language models: what was meant is compared, or the program refuses."""

import json
import shutil
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import sigstats
from sigstats.comparison.compare import compare_pair
from sigstats.files.predictions import Answer, Columns, EvaluationLog, join
from sigstats.files.predictions._selection import select
from sigstats.flows.commands import main

from ...random_weights import NEAR, not_worse
from ...sigstats.files.predictions.logs import harness_log, inspect_log


def compared(tmp_path, *arguments, code=None):
    """The JSON of a comparison."""
    target = tmp_path / "found.json"
    found = main(["compare", *map(str, arguments), "--json", str(target)])
    assert code is None or found == code
    return json.loads(target.read_text())


def epochs(rights, **more):
    """Answers of a log from a table of items x epochs of what is right."""
    return [
        (f"q{item}", epoch, {"match": "C" if right else "I"}, *more.values())
        for item, row in enumerate(rights)
        for epoch, right in enumerate(row, start=1)
    ]


def answers_of(rng, difficulty, count):
    """Answers of a model to items, which it finds as hard as all models do but for luck of its own."""
    own = np.clip(difficulty + rng.normal(0, 0.35, len(difficulty)), 0, 1)
    return rng.random((len(difficulty), count)) < own[:, None]


def predictions(name, rights):
    """Answers right and wrong, by item and epoch, as they are read of a log."""
    answers = [
        Answer(item=str(item), epoch=epoch, scores={"match": float(right)})
        for item, row in enumerate(rights)
        for epoch, right in enumerate(row, start=1)
    ]
    return select(EvaluationLog(where=name, harness="none", answers=answers), Columns())


def unwrapped(said):
    """Where lines are broken depends on how long the paths in them are."""
    return " ".join(said.split())


def test_answers_to_one_item_are_one_group(tmp_path, capsys):
    """Twelve items of eight epochs: p is that of random weights of the items."""
    rng = np.random.default_rng(5)
    difficulty = rng.random(12)
    a, b = answers_of(rng, difficulty, 8), answers_of(rng, difficulty - 0.1, 8)
    paths = [inspect_log(tmp_path / name, epochs(rights)) for name, rights in (("a.eval", a), ("b.json", b))]
    found = compared(tmp_path, *paths)
    (row,) = found["rows"]
    sums = (b.sum(axis=1) - a.sum(axis=1)).tolist()
    assert row["p_worse"] == pytest.approx(not_worse(sums, 8), abs=NEAR)
    assert (row["n"], row["items"], found["n"], found["items"]) == (96, 12, 96, 12)
    assert row["difference"] == pytest.approx(sum(sums) / 96)
    assert found["subjects"]["baseline"]["epochs"] == found["subjects"]["candidate"]["epochs"] == "8"
    said = unwrapped(capsys.readouterr().out)
    assert "96 rows of 12 items" in said
    assert "paired by epoch; the answers to one item are one group" in said


def test_of_unlike_numbers_of_answers_the_averages_are_compared(tmp_path, capsys):
    rng = np.random.default_rng(7)
    a, b = rng.random((12, 4)) < 0.7, rng.random((12, 3)) < 0.4
    paths = [inspect_log(tmp_path / name, epochs(rights)) for name, rights in (("a.json", a), ("b.json", b))]
    found = compared(tmp_path, *paths, "--measure", "accuracy", "--measure", "mean-score")
    row, marks = found["rows"]
    means = b.mean(axis=1) - a.mean(axis=1)
    assert row["p_worse"] == marks["p_worse"] == pytest.approx(not_worse(means, 1), abs=NEAR)
    assert (found["n"], row["n"], row["items"], row["baseline"]) == (12, 12, 12, pytest.approx(a.mean()))
    assert row["difference"] == pytest.approx(means.mean())
    assert row["test"] == "unseen row beside 12 items' averages"
    said = " ".join(capsys.readouterr().out.split())
    assert f"items have 4 answers each in {paths[0]} (mean {a.mean():.4g}) and 3 answers each in" in said
    assert "accuracy, mean-score and pass@k average all answers to an item; other measures take as many of both" in said
    assert "against a.json, 12 items" in said.replace(f"{tmp_path}/", "")
    assert found["subjects"]["candidate"]["epochs"] == "3"


def test_averages_are_those_of_the_items_of_a_slice_and_of_a_group(tmp_path):
    rng = np.random.default_rng(8)
    counts = {side: rng.integers(1, 5, 60) for side in "ab"}
    rights = {side: [rng.random(k) < 0.6 for k in counts[side]] for side in "ab"}
    paths = []
    for side in "ab":
        samples = [
            {
                "id": n,
                "epoch": e,
                "metadata": {"topic": f"t{n % 2}", "text": n // 3},
                "scores": {"match": {"value": int(x)}},
            }
            for n, row in enumerate(rights[side])
            for e, x in enumerate(row, 1)
        ]
        paths.append(inspect_log(tmp_path / f"{side}.json", [], samples=samples))
    means = np.array([y.mean() - x.mean() for x, y in zip(rights["a"], rights["b"], strict=True)])
    everything, first, _ = compared(tmp_path, *paths, "--slice", "topic")["rows"]
    assert everything["difference"] == pytest.approx(means.mean())
    assert first["difference"] == pytest.approx(means[::2].mean())
    assert first["items"] == 30
    (grouped,) = compared(tmp_path, *paths, "--group", "text")["rows"]
    assert grouped["difference"] == pytest.approx(means.mean())
    sums = means.reshape(20, 3).sum(axis=1)
    assert grouped["p_worse"] == pytest.approx(not_worse(sums, 3), abs=NEAR)


def test_pass_at_k_counts_all_answers_of_both(tmp_path):
    rng = np.random.default_rng(9)
    a, b = rng.random((20, 5)) < 0.3, rng.random((20, 3)) < 0.3
    paths = [inspect_log(tmp_path / name, epochs(rights)) for name, rights in (("a.json", a), ("b.json", b))]
    (row,) = compared(tmp_path, *paths, "--measure", "pass@2")["rows"]
    for value, rights in (("baseline", a), ("candidate", b)):
        chances = [np.mean([x or y for x, y in combinations(answers, 2)]) for answers in rights]
        assert row[value] == pytest.approx(np.mean(chances))


@pytest.mark.long
@pytest.mark.parametrize("counts", [(1, 8), (8, 1), (2, 3)])
def test_equal_models_of_unlike_numbers_of_answers_do_not_fail(counts):
    """A true level of 0.05 exceeds the limit in one run of a million; sign flips of means fail in 29 of 100 cases."""
    trials, items = 200, 10
    rng, columns, failed = np.random.default_rng(2027), Columns(), 0
    for _ in range(trials):
        both = (predictions(name, rng.random((items, count)) < 0.9) for name, count in zip("ab", counts, strict=True))
        failed += compare_pair(join(*both, columns)).verdict == "fail"
    assert failed <= binom.isf(1e-6, trials, 0.05)


def test_answers_that_repeat_themselves_tell_no_more_of_a_model_than_one(tmp_path):
    rights = np.random.default_rng(12).random((40, 1)) < 0.7
    widths = []
    for name, count in (("one", 1), ("eight", 8)):
        log = epochs(np.repeat(rights, count, axis=1))
        paths = [inspect_log(tmp_path / f"{name}-{side}.json", log, model=side) for side in "ab"]
        low, high = compared(tmp_path, *paths)["rows"][0]["candidate_interval"]
        widths.append(high - low)
    assert widths[1] == pytest.approx(widths[0], rel=0.05)


def test_slices_count_items_and_a_slice_of_few_items_is_not_tested(tmp_path, capsys):
    rng = np.random.default_rng(8)
    log = [
        {"id": n, "epoch": e, "input": f"q{n}", "target": "x", "metadata": {"topic": "rare" if n < 5 else "often"}}
        for n in range(30)
        for e in range(1, 5)
    ]
    paths = []
    for name in ("a.json", "b.json"):
        marked = [{**sample, "scores": {"match": {"value": int(rng.random() < 0.5)}}} for sample in log]
        paths.append(inspect_log(tmp_path / name, [], samples=marked))
    every, often, rare = compared(tmp_path, *paths, "--slice", "topic")["rows"]
    assert "100 of 25 items" in capsys.readouterr().out
    assert [(row["n"], row["items"]) for row in (every, often, rare)] == [(120, 30), (100, 25), (20, 5)]
    assert rare["note"] == "too small to test: 5 of at least 10 items"
    assert rare["verdict"] is None


@pytest.mark.parametrize("epoch", [["--group", "id"], ["--epoch", "try"], ["--epoch", "try", "--group", "id"]])
def test_repeated_ids_of_a_table_are_refused_or_taken_as_answers(tmp_path, refused, epoch):
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"id": np.repeat(np.arange(15), 4), "label": np.repeat(np.arange(15) % 3, 4)})
    frame["try"] = np.tile(np.arange(4), 15)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    rights = []
    for path in paths:
        rights.append(rng.random(60) < 0.6)
        guess = np.where(rights[-1], frame["label"], (frame["label"] + 1) % 3)
        frame.assign(prediction=guess).sample(frac=1, random_state=1).to_csv(path, index=False)
    hint = refused("compare", *paths)
    assert "a.csv: 45 of 60 rows repeat an id: ids '" in hint
    assert "--group id or --epoch COLUMN" in hint
    (row,) = compared(tmp_path, *paths, *epoch)["rows"]
    sums = (rights[1].astype(int) - rights[0]).reshape(15, 4).sum(axis=1)
    assert (row["n"], row["items"], row["p_worse"]) == (60, 15, pytest.approx(not_worse(sums, 4), abs=NEAR))


def test_an_item_of_a_table_has_one_label(tmp_path, refused):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("id,label,prediction\n1,x,x\n1,y,y\n")
    said = refused("compare", tmp_path / "a.csv", tmp_path / "b.csv", "--group", "id")
    assert "id '1': label is 'x' in one answer and 'y' in another" in said


def test_groups_of_items_stay_whole(tmp_path, refused):
    frame = pd.DataFrame({"id": np.repeat(np.arange(20), 2), "try": [1, 2] * 20, "label": 1})
    rng = np.random.default_rng(10)
    for name in ("a.csv", "b.csv"):
        frame["prediction"] = rng.integers(0, 2, 40)
        frame.assign(text=frame["id"] // 2).to_csv(tmp_path / name, index=False)
    options = [tmp_path / "a.csv", tmp_path / "b.csv", "--epoch", "try", "--group", "text"]
    (row,) = compared(tmp_path, *options)["rows"]
    assert (row["n"], row["items"]) == (40, 20)
    assert "10 groups" in row["test"]
    for name in ("a.csv", "b.csv"):
        frame.assign(text=np.arange(40)).to_csv(tmp_path / name, index=False)
    assert "id '0' is in several groups" in refused("compare", *options)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"task": "other"}, "task 'other' is not that of {a}, 't'"),
        ({"target": "y"}, "id '0': target 'y' is not that of {a}, 'x' (and 29 more)"),
        ({"input": [{"id": "new", "role": "user", "content": "why"}]}, 'input \'[["user", "why"]]\' is not that of'),
    ],
)
def test_other_questions_under_the_same_ids_are_refused(tmp_path, refused, change, complaint):
    def log(name, changed):
        samples = [
            {"id": n, "epoch": 1, "input": "q", "target": "x", "scores": {"match": {"value": n % 2}}, **changed}
            for n in range(30)
        ]
        return inspect_log(tmp_path / name, [], samples=samples, task=changed.get("task", "t"))

    a, b = log("a.json", {}), log("b.json", change)
    assert complaint.format(a=a) in refused("compare", a, b)
    assert "--allow-different-tasks" in refused("compare", a, b)
    assert compared(tmp_path, a, b, "--allow-different-tasks", code=0)["n"] == 30


@pytest.mark.parametrize("field", ["doc_hash", "target_hash", "target", "doc"])
def test_other_documents_under_the_same_ids_are_refused(tmp_path, refused, field):
    documents = [{"acc": n % 2, "doc_hash": f"d{n}", "target_hash": f"t{n}", "target": f"{n}"} for n in range(20)]
    if field == "doc":
        documents = [{"acc": 1, "doc": {"q": n}} for n in range(20)]
    other = [*documents[:7], {**documents[7], field: {"q": "else"} if field == "doc" else "else"}, *documents[8:]]
    a, b = harness_log(tmp_path / "a.jsonl", documents), harness_log(tmp_path / "b.jsonl", other)
    assert f"b.jsonl: id '7': {field} " in refused("compare", a, b)
    found = compared(tmp_path, a, b, "--allow-different-tasks", code=0)
    copy = "the candidate and the baseline have the same answers in all 20 rows; one may be a copy"
    copies = [copy] * (field != "doc")  # there both are right in all rows
    told = [f"{b}: 1 of 20 rows have other questions than in {a}", *copies]
    assert (found["n"], [note["text"] for note in found["notes"]]) == (20, told)


def test_the_metric_that_is_named_is_compared(tmp_path, refused):
    """acc is the same in both; acc_norm fell from 1 to 0."""
    a = harness_log(tmp_path / "a.jsonl", [{"acc": 1, "acc_norm": 1}] * 40)
    b = harness_log(tmp_path / "b.jsonl", [{"acc": 1, "acc_norm": 0}] * 40)
    assert "choose one of acc, acc_norm" in refused("compare", a, b)
    found = compared(tmp_path, a, b, "--score", "acc_norm", code=1)
    assert found["rows"][0]["difference"] == -1
    assert found["subjects"]["candidate"]["metric"] == "acc_norm"
    assert "expected a score alone" in refused("compare", a, b, "--score", "acc", "--prediction", "acc_norm")


@pytest.mark.parametrize("column", [["--slice", "region"], ["--group", "region"]])
def test_slices_and_groups_that_differ_between_the_files_are_refused(tmp_path, refused, column):
    frame = pd.DataFrame({"id": range(40), "label": 1, "prediction": 1, "region": ["north", "south"] * 20})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.loc[3, "region"] = "west"
    frame.to_csv(tmp_path / "b.csv", index=False)
    said = refused("compare", tmp_path / "a.csv", tmp_path / "b.csv", *column)
    assert f"b.csv: id '3': column 'region': 'west' is not that of {tmp_path / 'a.csv'}, 'south'" in said


def failing(path, marks, **about):
    """A log in which None is an answer that failed."""
    samples = [
        {
            "id": n,
            "epoch": 1,
            "scores": {} if mark is None else {"match": {"value": mark}},
            "error": None if mark is not None else {"message": "time out"},
        }
        for n, mark in enumerate(marks)
    ]
    return inspect_log(path, [], samples=samples, **about)


def test_answers_without_a_score_are_refused_dropped_or_wrong(tmp_path, refused):
    a = failing(tmp_path / "a.json", [1] * 20 + [0] * 20)
    b = failing(tmp_path / "b.json", [None] * 5 + [1] * 15 + [0] * 19 + [float("nan")])
    said = refused("compare", a, b)
    found = "b.json: 5 of 40 answers failed ('time out') and 1 of 40 answers have no score 'match': ids '0', '1', '2'"
    assert found in said
    assert "--unscored drop" in said
    dropped = compared(tmp_path, a, b, "--unscored", "drop")
    assert (dropped["n"], dropped["rows"][0]["difference"]) == (34, 0)
    assert any(
        "5 of 40 answers failed ('time out') and 1" in note and note.endswith("left out")
        for note in (each["text"] for each in dropped["notes"])
    )
    wrong = compared(tmp_path, a, b, "--unscored", "wrong")
    assert (wrong["n"], wrong["rows"][0]["difference"]) == (40, -5 / 40)
    assert any(note.endswith("counted as wrong") for note in (each["text"] for each in wrong["notes"]))


def test_an_answer_that_is_dropped_is_dropped_in_both_files_epoch_by_epoch(tmp_path):
    log = [(n, e, {"match": 1}) for n in range(20) for e in (1, 2, 3)]
    a = inspect_log(tmp_path / "a.json", log)
    b = inspect_log(tmp_path / "b.json", [*log[:4], (1, 2, {"match": None}), *log[5:]])
    found = compared(tmp_path, a, b, "--unscored", "drop")
    assert (found["n"], found["items"], found["rows"][0]["measure"]) == (59, 20, "accuracy")


def test_a_log_that_was_cancelled_says_so(tmp_path, capsys):
    a = failing(tmp_path / "a.json", [1] * 20)
    b = failing(tmp_path / "b.json", [1] * 20, status="cancelled", eval={"task": "t", "dataset": {"samples": 400}})
    notes = [note["text"] for note in compared(tmp_path, a, b)["notes"]]
    assert notes == [f"{b}: its evaluation was cancelled; 20 of 400 items"]
    assert "was cancelled" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("config", "samples", "limited"),
    [({"limit": 20}, 400, True), ({"limit": [0, 20]}, 400, True), ({"limit": 50}, 20, False), ({}, 400, False)],
)
def test_a_log_of_part_of_its_data_set_says_so(tmp_path, config, samples, limited):
    about = {"task": "t", "config": config, "dataset": {"samples": samples}}
    a, b = (failing(tmp_path / f"{name}.json", [1] * 20, eval=about) for name in "ab")
    notes = [note["text"] for note in compared(tmp_path, a, b)["notes"] if note["name"] == "limited-log"]
    told = "its limit left 20 of 400 items, which may not be a random sample"
    assert notes == [f"{a}: {told}", f"{b}: {told}"] * limited


def test_what_was_compared_stands_in_every_output(tmp_path, capsys):
    a = inspect_log(tmp_path / "a.json", epochs(np.ones((12, 2))), model="one")
    b = inspect_log(tmp_path / "b.json", epochs(np.ones((12, 2))), model="two")
    markdown, page = tmp_path / "c.md", tmp_path / "c.html"
    found = compared(tmp_path, a, b, "--report", markdown, "--report", page)
    about = {"task": "t", "scorer": "match", "epochs": "2"}
    assert found["subjects"] == {"baseline": {**about, "model": "one"}, "candidate": {**about, "model": "two"}}
    for text in (unwrapped(capsys.readouterr().out), markdown.read_text(), page.read_text()):
        for words in ("both: task t, scorer match, epochs 2", "baseline: model one", "candidate: model two"):
            assert words in text
        assert "24 rows of 12 items" in text


def test_two_providers_of_one_file_are_compared(tmp_path, refused):
    results = [
        {
            "success": right,
            "score": float(right),
            "testIdx": n,
            "promptIdx": 0,
            "provider": {"id": provider},
            "vars": {"q": n},
        }
        for n in range(30)
        for provider, right in (("old", True), ("new", n % 3 > 0))
    ]
    path = tmp_path / "output.json"
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": results}}))
    assert "model: there are 2; choose one of old, new" in refused("compare", path, path)
    found = compared(tmp_path, path, path, "--model", "old", "--model", "new")
    (row,) = found["rows"]
    assert (found["identical"], row["baseline"], row["candidate"]) == (False, 1.0, pytest.approx(2 / 3))
    assert [found["subjects"][side]["model"] for side in ("baseline", "candidate")] == ["old", "new"]
    assert compared(tmp_path, path, shutil.copy(path, tmp_path / "copy.json"), "--model", "old")["identical"]
    assert "--model: 3 were given; expected one, or one for each of 2 files" in refused(
        "compare", path, path, *["--model", "old"] * 3
    )


def documents(changed):
    """Forty documents with three metrics, one of which may have fallen."""
    return [
        {"acc": n % 4 > 0, "acc_norm": 0 if changed else 1, "f1": n % 7 / 7, "word_perplexity": 3.5} for n in range(40)
    ]


@pytest.mark.parametrize(
    ("named", "scores"),
    [
        (["acc", "acc_norm"], ["acc", "acc_norm"]),
        (["all"], ["acc", "acc_norm", "f1", "word_perplexity"]),
        (["f1"], ["f1"]),
    ],
)
def test_several_scores_are_measures_of_their_own_in_one_family(tmp_path, capsys, named, scores):
    paths = [harness_log(tmp_path / f"{name}.jsonl", documents(name == "b")) for name in "ab"]
    options = [word for name in named for word in ("--score", name)]
    junit = tmp_path / "junit.xml"
    found = compared(tmp_path, *paths, *options, "--report", junit, "--report", tmp_path / "page.html")
    rows = {row["score"]: row for row in found["rows"]}
    assert [row["score"] for row in found["rows"]] == scores
    said = capsys.readouterr().out
    if len(scores) > 1:
        assert rows["acc_norm"]["verdict"] == "fail"
        assert rows["acc_norm"]["p_adjusted"] == pytest.approx(len(scores) * rows["acc_norm"]["p_worse"])
        assert rows["acc"]["p_worse"] == 1
        assert found["subjects"]["candidate"]["metric"] == ", ".join(scores)
        # Every score stands in the terminal on all rows, those in which nothing differs too.
        assert [said.count(f"accuracy of {name} ") > 0 for name in ("acc", "acc_norm")] == [True, True]
        for text in (said, (tmp_path / "page.html").read_text(), junit.read_text(), found["reasons"][0]):
            assert "accuracy of acc_norm" in text
    if "f1" in rows:
        assert rows["f1"]["measure"] == "mean-score"


@pytest.mark.parametrize(
    ("name", "options"),
    [("toxicity", ["--lower-is-better", "toxicity"]), ("word_perplexity", []), ("latency_ms", []), ("tokens", None)],
)
def test_all_scores_are_those_named_one_by_one_with_costs(tmp_path, refused, name, options):
    logs = [[{"acc": int(n % 9 > 0), name: cost + n % 3} for n in range(60)] for cost in (1, 40)]
    paths = [harness_log(tmp_path / f"{file}.jsonl", log) for file, log in zip("ab", logs, strict=True)]
    if options is None:
        assert f"Is a higher '{name}' better?" in refused("compare", *paths, "--score", "all")
        return
    every = compared(tmp_path, *paths, "--score", "all", *options, code=1)
    named = compared(tmp_path, *paths, "--score", "acc", "--score", name, *options, code=1)
    assert every["rows"] == named["rows"]
    assert [(row["score"], row["verdict"]) for row in every["rows"]][1] == (name, "fail")
    misspelled = refused("compare", *paths, "--score", "all", *options, "--lower-is-better", f"{name}s")
    assert f"--lower-is-better: '{name}s' is not valid; expected one of the scores" in misspelled
    if not options:
        assert {"acc", name} <= {*sigstats.read_predictions(paths[0], score="all").columns}


def test_scores_that_are_not_all_numbers_are_left_out_with_a_warning(tmp_path, capsys):
    marks = [[{"acc": 1, "bleu": float("inf") if n == 3 else 1.0, "why": ["x"]} for n in range(900)] for _ in "ab"]
    paths = [harness_log(tmp_path / f"{file}.jsonl", log) for file, log in zip("ab", marks, strict=True)]
    assert [row["measure"] for row in compared(tmp_path, *paths, "--score", "all")["rows"]] == ["accuracy"]
    text = "not compared, since not every value is a number: 'why' (a list), 'bleu' (infinite)"
    said = " ".join(capsys.readouterr().out.split())
    assert [said.count(f"{lead}: {text}") for lead in ("Beware", "note")] == [1, 1]
    rows = compared(tmp_path, *paths, "--score", "all", "--unscored", "drop")["rows"]
    assert [(row["score"], row["n"]) for row in rows] == [("acc", 900), ("bleu", 899)]


def test_a_score_that_one_file_lacks_is_refused_by_name(tmp_path, refused):
    log = documents(False)
    paths = [harness_log(tmp_path / "a.jsonl", log)]
    paths.append(harness_log(tmp_path / "b.jsonl", [{**each, "mrr": 1} for each in log]))
    assert f"{paths[0]}: --score: 'mrr' was not found, but exists in {paths[1]}" in refused(
        "compare", *paths, "--score", "all"
    )
    assert "score: 'mrr' was not found; expected one of acc, acc_norm" in refused(
        "compare", *paths, "--score", "acc", "--score", "mrr"
    )
    assert "score: 'acc, acc' is not valid; expected each score once" in refused(
        "compare", *paths, "--score", "acc", "--score", "acc"
    )
    assert "--score: 2 were given; expected one" in refused("rank", *paths, "--score", "acc", "--score", "mrr")


def test_several_columns_of_scores_of_a_table(tmp_path, refused):
    rng = np.random.default_rng(3)
    frames = []
    for name in "ab":
        label = np.arange(80) % 2
        frame = pd.DataFrame({"id": range(80), "label": label, "prediction": label})
        frame["x"], frame["y"] = label * 0.3 + rng.random(80) / 2, rng.random(80)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        frames.append(frame)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    measures = ["--measure", "accuracy", "--measure", "auc"]
    found = compared(tmp_path, *paths, "--score", "x", "--score", "y", *measures)
    names = [("accuracy", ""), ("auc", "x"), ("auc", "y")]
    assert [(row["measure"], row["score"]) for row in found["rows"]] == names
    result = sigstats.compare(*frames, score=["x", "y"], measures=measures[1::2])
    assert [(row.measure, row.score) for row in result.rows] == names
    assert [row.adjusted_pvalue for row in result.rows] == [row["p_adjusted"] for row in found["rows"]]
    assert list(result.to_pandas()["score"]) == ["", "x", "y"]
    assert "'all'" in refused("compare", *paths, "--score", "all")
    assert "score: 'x' is not used by accuracy" in refused(
        "compare", *paths, "--score", "x", "--score", "y", "--measure", "accuracy"
    )
    for command in (["compare"], ["rank"], ["check", "--at-least", "0.5"]):
        files = paths[: 1 if command[0] == "check" else 2]
        assert "score: 'y' is not used by accuracy" in refused(
            *command, *files, "--score", "y", "--measure", "accuracy"
        )
    with pytest.raises(ValueError, match="score: 'x' is not used by f1"):
        sigstats.compare(*frames, score="x", measures="f1", positive="1")
    label = frames[0]["label"]
    with pytest.raises(ValueError, match="score: 'scores' is not used by f1"):
        sigstats.compare(
            label, *(each["label"] for each in frames), scores=[each["x"] for each in frames], measures="f1"
        )


def test_a_table_of_marks_needs_no_labels(tmp_path, refused):
    """What is said of marks is what is said of the same marks beside labels."""
    rng = np.random.default_rng(4)
    frames = [pd.DataFrame({"id": range(30), "mark": rng.integers(1, 11, 30) / 10 - lost}) for lost in (0, 0.1)]
    paths = []
    for name, frame in zip("ab", frames, strict=True):
        paths.append(tmp_path / f"{name}.csv")
        frame.to_csv(paths[-1], index=False)
        frame.assign(label="x", prediction="x").to_csv(tmp_path / f"{name}x.csv", index=False)
    limits = ["--score-range", "0", "1"]
    found = compared(tmp_path, *paths, "--score", "mark", *limits)
    labelled = [tmp_path / "ax.csv", tmp_path / "bx.csv"]
    assert found["rows"] == compared(tmp_path, *labelled, "--score", "mark", "--measure", "mean-score", *limits)["rows"]
    differences = frames[1]["mark"] - frames[0]["mark"]
    assert found["rows"][0]["p_worse"] == pytest.approx(not_worse(differences, 1), abs=NEAR)
    assert sigstats.compare(*frames, score="mark", score_range=(0, 1)).rows[0].pvalue == found["rows"][0]["p_worse"]
    assert list(sigstats.read_predictions(paths[0], score="mark").columns) == ["id", "score"]
    assert "column 'label' was not found" in refused("compare", *paths)
    assert "'auc' is not valid for marks; expected mean-score" in refused(
        "compare", *paths, "--score", "mark", "--measure", "auc"
    )
    assert "bx.csv: is a table, and" in refused("compare", paths[0], labelled[1], "--score", "mark")


def test_one_column_of_scores_is_not_that_of_several_models(tmp_path, refused):
    """The models would have the same scores, and be tied."""
    frame = pd.DataFrame({"id": range(40), "label": [0, 1] * 20, "p": [0, 1] * 20, "q": 1, "mark": [0.25, 0.5] * 20})
    frame.to_csv(tmp_path / "a.csv", index=False)
    for command in ("compare", "rank"):
        arguments = [command, str(tmp_path / "a.csv"), "--prediction", "p", "--prediction", "q"]
        named = (["--score", "mark"], ["--lower-is-better", "mark"], ["--measure", "mark/id"])
        for score in named:
            assert "--score: 'mark' is one column for every --prediction" in refused(*arguments, *score)
    with pytest.raises(ValueError, match="score: 'mark' is not valid; expected a frame for each model"):
        sigstats.compare(frame, prediction=["p", "q"], score="mark")


def test_a_positive_class_that_is_none_is_refused_whatever_is_measured(tmp_path, refused):
    frame = pd.DataFrame({"id": range(40), "label": ["no", "yes"] * 20, "prediction": ["no"] * 20 + ["yes"] * 20})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame[::-1].to_csv(tmp_path / "b.csv", index=False)
    paths = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    for command in (["compare", *paths], ["check", paths[0], "--at-least", "0.1"]):
        assert main([*command, "--positive", "yes"]) == 0
        assert "--positive: 'nosuch' is not valid; expected one of no, yes" in refused(*command, "--positive", "nosuch")
    assert "--positive: is not valid without --measure" in refused("rank", *paths, "--positive", "yes")
    with pytest.raises(ValueError, match="positive: 'nosuch' is not valid; expected one of no, yes"):
        sigstats.compare(frame, frame[::-1], positive="nosuch")


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "options", "unused", "said"),
    [
        ("compare", [], ["--score-range", "0", "5"], "--score-range: 0 to 5 is not used by accuracy; expected"),
        ("check", [], ["--score-range", "0", "5"], "--score-range: 0 to 5 is not used by accuracy; expected"),
        ("compare", [], ["--margin", "t=1pt"], "--margin: 't' is not valid; expected a slice or a measure of the"),
        ("compare", ["--measure", "mean-score"], ["--prediction", "q"], "--prediction: 'q' is not used by"),
        ("rank", [], ["--prediction", "q"], "--prediction: 'q' is not used by mean-score; expected a measure"),
        ("rank", ["--measure", "cost/n"], ["--prediction", "q"], "--prediction: 'q' is not used by"),
        ("rank", ["--measure", "mean-score"], ["--prediction", "q"], "--prediction: 'q' is not used by"),
        ("check", [], ["--prediction", "q"], "--prediction: 'q' is not used by mean-score; expected a measure"),
        ("check", [], ["--label", "q"], "--label: 'q' is not used by mean-score; expected a measure of"),
        ("check", ["--measure", "cost/n"], ["--label", "q"], "--label: 'q' is not used by"),
    ],
)
def test_what_no_measure_uses_is_refused_before_anything_is_computed(
    tmp_path, capsys, monkeypatch, command, options, unused, said
):
    rng = np.random.default_rng(1)
    rows = {"id": range(60), "label": ["x", "y"] * 30, "t": ["u", "v", "w"] * 20, "n": 2}
    for name in "ab":
        said_of = {key: rng.choice(["x", "y"], 60) for key in ("prediction", "q")}
        pd.DataFrame(rows | said_of | {"cost": rng.random(60)}).to_csv(tmp_path / f"{name}.csv", index=False)
    paths = [str(tmp_path / f"{name}.csv") for name in ("a" if command == "check" else "ab")]
    of_cost = unused[0] not in ("--score-range", "--margin")
    bar = [] if command != "check" else ["--at-most", "0.9"] if of_cost else ["--at-least", "0.1"]
    score = ["--score", "cost"] if of_cost and "cost/n" not in options else []
    assert main([command, *paths, *options, *score, *bar]) in (0, 1)
    capsys.readouterr()
    for computes in ("comparison.compare.test_part", "comparison.check.bar.test_row", "ranking.rank.rank_table"):
        monkeypatch.setattr(f"sigstats.{computes}", None)
    assert main([command, *paths, *options, *score, *bar, *unused]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert told.err.startswith(f"sigstats: {said}")
