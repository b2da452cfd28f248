"""Logs of evaluations: the score that is meant is read, or the log is refused by name."""

import json
import zipfile

import numpy as np
import pytest

from sigstats.comparison.compare import compare_pair
from sigstats.files.predictions import Columns, join, read

from .logs import harness_log, inspect_log

TWO = [(n, 1, {"match": "C" if n else "I", "judge": {"style": n / 4, "truth": "P"}}) for n in range(4)]


def marks(path, **columns):
    return read(path, Columns().but(**columns)).score.values.to_pylist()


@pytest.mark.parametrize("name", ["a.json", "a.eval"])
def test_the_scorer_that_is_named_is_read(tmp_path, name):
    path = inspect_log(tmp_path / name, TWO)
    assert marks(path, score="match") == [0, 1, 1, 1]
    assert marks(path, score="judge/style") == [0, 0.25, 0.5, 0.75]
    assert marks(path, score="judge/truth") == [0.5] * 4
    for columns in ({}, {"score": "judge"}):
        with pytest.raises(ValueError, match=r"(choose|expected) one .*of match, judge/style, judge/truth"):
            marks(path, **columns)


@pytest.mark.parametrize(
    ("value", "mark"),
    [
        *(("C", 1), ("I", 0), ("P", 0.5), ("N", 0), ("yes", 1), ("No", 0), ("TRUE", 1), ("false", 0)),
        *(("0.25", 0.25), (3, 3), (True, 1), (False, 0), (-0.5, -0.5)),
    ],
)
def test_values_of_inspect_are_the_numbers_that_its_metrics_take_them_for(tmp_path, value, mark):
    assert marks(inspect_log(tmp_path / "a.json", [(1, 1, {"s": value})])) == [mark]


@pytest.mark.parametrize(
    ("value", "complaint"),
    [([1, 0], "is a list"), ("maybe", "is the text 'maybe'"), ("inf", "is the text"), (float("inf"), "is infinite")],
)
def test_a_score_that_is_no_number_is_refused_by_id(tmp_path, value, complaint):
    path = inspect_log(tmp_path / "a.json", [("x", 1, {"s": 1}), ("y", 1, {"s": value})])
    with pytest.raises(ValueError, match=f"id 'y': score 's' {complaint}"):
        marks(path)


IFEVAL = {
    "metrics": ["prompt_level_strict_acc", "inst_level_strict_acc", "prompt_level_loose_acc", "inst_level_loose_acc"],
    "prompt_level_strict_acc": False,
    "inst_level_strict_acc": [True, False],
    "prompt_level_loose_acc": True,
    "inst_level_loose_acc": [True, True],
}


def test_any_metric_that_is_a_number_a_document_is_read_by_its_name(tmp_path):
    path = harness_log(tmp_path / "a.jsonl", [IFEVAL] * 3)
    assert marks(path, score="prompt_level_strict_acc") == [0, 0, 0]
    assert marks(path, score="prompt_level_loose_acc") == [1, 1, 1]
    with pytest.raises(ValueError, match="id '0': score 'inst_level_strict_acc' is a list"):
        marks(path, score="inst_level_strict_acc")
    for name, value in [("f1", 0.4), ("mc2", 0.25), ("rougeL_fmeasure", 0.5), ("bleu", 12.5), ("math_verify", 1)]:
        for listed in ({}, {"metrics": [name]}):
            assert marks(harness_log(tmp_path / "b.jsonl", [{name: value, **listed}])) == [value]


def test_a_log_whose_metric_is_an_error_is_read_as_one(tmp_path):
    found = read(harness_log(tmp_path / "a.jsonl", [{"word_perplexity": 9.5}]), Columns())
    assert (found.score.lower, found.outcomes.predicted, found.score.values.to_pylist()) == (True, False, [9.5])


def test_the_filter_that_is_named_is_read(tmp_path):
    documents = [
        {"doc_id": n // 2, "filter": ("strict", "flexible")[n % 2], "metrics": ["em"], "em": n % 2} for n in range(6)
    ]
    path = harness_log(tmp_path / "a.jsonl", documents)
    assert marks(path, filter="strict") == [0, 0, 0]
    assert marks(path, filter="flexible") == [1, 1, 1]
    for columns in ({}, {"filter": "loose"}):
        with pytest.raises(
            ValueError, match=r"(filter|score): .*(choose|expected) one .*of (em,)?strict, (em,)?flexible"
        ):
            marks(path, **columns)


def test_what_a_file_has_no_use_for_is_refused(tmp_path):
    log, table = inspect_log(tmp_path / "a.json", TWO), tmp_path / "b.csv"
    table.write_text("id,label,prediction\n1,a,a\n")
    for name in ("id", "label", "prediction"):
        with pytest.raises(ValueError, match=f"{name}: 'x' is not valid for a log of Inspect"):
            marks(log, score="match", named=frozenset([name]), **{name: "x"})
    for path in (log, str(table)):
        with pytest.raises(ValueError, match="filter: 'x' is not valid"):
            read(path, Columns().but(filter="x"))


def test_real_logs_are_read_as_they_say_themselves(shared_data):
    """The means that the logs' own results state, computed by Inspect."""
    folder = shared_data / "logs" / "inspect"
    if not folder.is_dir():
        pytest.skip("no real logs in the shared data")
    stated = {"arc-qwen-3.json": 1 / 3, "arc-sonnet-5.json": 1.0, "scored-10.eval": 0.8, "two-epochs.eval": 0.75}
    stated |= {"theory-of-mind-100.eval": 0.83, "security-guide-16.eval": 0.6875}
    for name, mean in stated.items():
        found = marks(str(folder / name))
        assert sum(found) / len(found) == pytest.approx(mean, abs=1e-12), name
    with pytest.raises(ValueError, match="none of its 10 answers has a score"):
        marks(str(folder / "no-scores-10.eval"))


def test_real_filters_are_told_apart(shared_data):
    folder = shared_data / "logs" / "lm-evaluation-harness"
    if not folder.is_dir():
        pytest.skip("no real logs in the shared data")
    path = folder / "gsm8k-two-filters-10.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for name in ("strict-match", "flexible-extract"):
        wanted = [line["exact_match"] for line in lines if line["filter"] == name]
        assert marks(str(path), filter=name) == wanted
    with pytest.raises(ValueError, match="choose one of exact_match,strict-match, exact_match,flexible-extract"):
        marks(str(path))


def test_the_one_score_of_a_sample_of_the_first_version_has_the_name_of_its_scorer(tmp_path):
    samples = [{"id": n, "epoch": 1, "score": {"value": "CI"[n % 2]}} for n in range(4)]
    path = inspect_log(tmp_path / "a.json", [], samples=samples, version=1, results={"scorer": {"name": "match"}})
    found = read(path, Columns())
    assert (found.score.values.to_pylist(), found.source.subject["scorer"]) == ([1, 0, 1, 0], "match")


def test_the_text_of_a_message_is_the_same_question_however_it_is_written(tmp_path):
    contents = ["why", [{"type": "text", "text": "why"}], [{"type": "text", "text": "why", "refusal": None}]]
    found = []
    for at, content in enumerate(contents):
        asked = [{"id": f"drawn-{at}", "role": "user", "content": content, "source": "input"}]
        samples = [{"id": 1, "epoch": 1, "input": asked, "scores": {"s": {"value": 1}}}]
        found.append(
            read(inspect_log(tmp_path / "a.json", [], samples=samples), Columns()).identity["input"].to_pylist()
        )
    assert found[0] == found[1] == found[2]


def test_answers_that_were_not_graded_have_no_score(tmp_path):
    with pytest.raises(ValueError, match="none of its 3 answers has a score"):
        marks(harness_log(tmp_path / "a.jsonl", [{"metrics": ["bypass"], "bypass": 999}] * 3))


def test_the_results_of_a_run_say_its_model_and_which_metrics_are_better_low(tmp_path):
    date = "2026-01-02T03-04-05.678901"
    path = harness_log(tmp_path / f"samples_wiki_long_{date}.jsonl", [{"loss": 1.5, "acc": 1}] * 3)
    results = {
        "model_name": "org/model",
        "higher_is_better": {"wiki_long": {"loss": False, "acc": True}},
        "versions": {"wiki_long": 2.0},
    }
    (tmp_path / f"results_{date}.json").write_text(json.dumps(results))
    found = read(path, Columns(score="acc"))
    assert found.source.subject == {"task": "wiki_long", "model": "org/model", "metric": "acc", "epochs": "1"}
    assert found.source.settings["version of the task"] == "2.0"
    assert read(path, Columns(score="loss")).score.lower
    assert not read(path, Columns().but(score="loss", higher=frozenset(["loss"]))).score.lower


def test_a_reduction_that_is_no_mean_is_told(tmp_path):
    log = [(n, e, {"s": 1}) for n in range(3) for e in (1, 2)]
    about = {"eval": {"task": "t", "config": {"epochs_reducer": ["max"]}}}
    notes = read(inspect_log(tmp_path / "a.json", log, **about), Columns()).notes
    assert [note.split(": ", 1)[1] for note in notes] == [
        "it reduces the epochs of an item by max; here every answer counts"
    ]
    about["eval"]["config"]["epochs_reducer"] = ["mean"]
    assert read(inspect_log(tmp_path / "a.json", log, **about), Columns()).notes == ()


def test_scores_that_the_metrics_of_the_log_do_not_count_are_told(tmp_path):
    """As after an exclusion, whatever a later Inspect calls it in the sample."""
    log = [(n, e, {"s": 1}) for n in range(5) for e in (1, 2)]
    for counted, told in (
        ({"scored_samples": 3, "unscored_samples": 0}, True),
        ({"scored_samples": 4, "unscored_samples": 1}, False),
        ({"scored_samples": "?"}, False),
        ({}, False),
    ):
        path = inspect_log(tmp_path / "a.json", log, results={"scores": [{"name": "s", **counted}]})
        notes = {note.name: str(note) for note in read(path, Columns()).notes}
        assert ("uncounted-samples" in notes) == told
        if told:
            assert "the metrics of Inspect count 3 scored items; here all 5 with a score" in notes["uncounted-samples"]


def test_a_sample_in_pieces_is_one_sample(tmp_path):
    path = tmp_path / "a.eval"
    inspect_log(path, [("a/b", 1, {"s": 0}), (2, 1, {"s": 1})])
    with zipfile.ZipFile(path, "a") as archive:
        whole = {"id": "3/x", "epoch": 1, "scores": {"s": {"value": 1}}}
        for name, piece in (("sample", whole), ("metadata", {}), ("messages/0", []), ("events/0", [])):
            archive.writestr(f"samples/3/x_epoch_1/{name}.json", json.dumps(piece))
    assert read(str(path), Columns()).ids.to_pylist() == ["2", "3/x", "a/b"]
    assert marks(str(path)) == [1, 1, 0]


def test_a_sample_that_was_written_twice_repeats_its_id(tmp_path):
    path = tmp_path / "a.eval"
    inspect_log(path, [(1, 1, {"s": 0}), (2, 1, {"s": 1})])
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("samples/1_epoch_1.json", json.dumps({"id": 1, "epoch": 1, "scores": {"s": {"value": 1}}}))
    with pytest.raises(ValueError, match="1 of 3 answers repeat an id: id '1'"):
        marks(str(path))
    assert [marks(str(path), duplicates=how) for how in ("first", "last")] == [[0, 1], [1, 1]]


def test_an_invalidated_sample_has_no_score(tmp_path):
    sample = {"id": 1, "epoch": 1, "scores": {"s": {"value": 1}}, "invalidation": {"reason": "leaked"}}
    path = inspect_log(tmp_path / "a.json", [(n, 1, {"s": 1}) for n in (2, 3)], samples=[sample])
    with pytest.raises(ValueError, match=r"1 of 3 answers failed \('invalidated'\): id '1'; add"):
        marks(path)
    assert marks(path, unscored="drop") == [1, 1]


def test_a_wrong_answer_is_no_zero_on_another_scale(tmp_path):
    path = inspect_log(tmp_path / "a.json", [(n, 1, {"s": n or None}) for n in range(5)])
    with pytest.raises(ValueError, match="unscored: 'wrong' is not valid for scores from 0 to 4"):
        marks(path, unscored="wrong")


def test_metadata_that_some_samples_lack_is_refused_by_id(tmp_path):
    samples = [
        {"id": n, "epoch": 1, "scores": {"s": {"value": 1}}, "metadata": {"topic": "x"} if n else {}} for n in (1, 0)
    ]
    with pytest.raises(ValueError, match="id '0': column 'topic' is empty"):
        read(inspect_log(tmp_path / "a.json", [], samples=samples), Columns().but(slices=("topic",)))


def test_a_log_of_which_no_score_counts_is_refused_however_it_is_treated(tmp_path):
    sample = {"epoch": 1, "scores": {"s": {"value": 1}}, "invalidation": {"reason": "leaked"}}
    path = inspect_log(tmp_path / "a.json", [], samples=[{"id": n, **sample} for n in range(3)])
    with pytest.raises(ValueError, match="none of its 3 answers has a score"):
        marks(path, unscored="drop")


def test_an_answer_without_a_score_is_wrong_in_a_log_that_was_scored(tmp_path):
    samples = [{"id": n, "epoch": 1, "scores": {}} for n in range(3)]
    with pytest.raises(ValueError, match="none of its 3 answers has a score"):  # nobody has scored it
        marks(inspect_log(tmp_path / "a.json", [], samples=samples), unscored="wrong")
    scored = inspect_log(tmp_path / "b.json", [], samples=samples, results={"scores": [{"name": "match"}]})
    assert (marks(scored, unscored="wrong"), read(scored, Columns(unscored="wrong")).score.name) == ([0] * 3, "match")
    failed = [{**sample, "error": {"message": "no service"}} for sample in samples]
    assert marks(inspect_log(tmp_path / "c.json", [], samples=failed), unscored="wrong") == [0] * 3


def test_names_of_a_file_are_told_in_one_line(tmp_path):
    with pytest.raises(ValueError, match=r"choose one of a, 'b' \(--score NAME"):
        marks(inspect_log(tmp_path / "a.json", [(1, 1, {"a": 1, "b\nc": 1})]))


def test_samples_with_an_error_and_a_score_count_and_are_told(tmp_path):
    samples = [{"id": n, "epoch": 1, "scores": {"s": {"value": n % 2}}} for n in range(5)]
    for n in (1, 2):
        samples[n]["error"] = {"message": "no service"}
    samples[3] |= {"error": {"message": "no service"}, "invalidation": {"reason": "leaked"}}
    path = inspect_log(tmp_path / "a.json", [], samples=samples)
    told = read(path, Columns(unscored="drop")).notes
    assert marks(path, unscored="drop") == [0, 1, 0, 0]
    assert [str(note) for note in told if note.name == "scored-errors"] == [
        f"{path}: 2 samples have an error and a score: 1, 2; the scores count"
    ]


def test_metadata_that_cluster_the_errors_are_told(tmp_path):
    """Thirty patients of ten questions, of which the candidate answers nearly all of half of them."""
    rng = np.random.default_rng(1)
    patient, better = np.repeat(np.arange(30), 10), rng.random(30) < 0.5
    paths = []
    for chance in (np.full(300, 0.4), np.where(better[patient], 0.95, 0.4)):
        right = (rng.random(300) < chance).tolist()
        samples = [
            {"id": n, "epoch": 1, "input": f"q{n % 299}", "scores": {"accuracy": {"value": int(right[n])}}}
            | {"metadata": {"patient": int(patient[n]), "row": n, "parts": [1]}}
            for n in range(300)
        ]
        paths.append(inspect_log(tmp_path / f"{len(paths)}.json", [], samples=samples))
    pair = join(*(read(path, Columns()) for path in paths), Columns())
    told = {note.name: str(note) for note in compare_pair(pair).notes}
    assert told["clustered-errors"].startswith("rows with equal 'patient' differ alike")
    assert list(pair.other_columns.columns) == ["patient", "row", "input"]
    assert len(set(pair.other_columns.content.tolist())) == 299  # copies are known by the question alone
