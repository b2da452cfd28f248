"""The results of HELM, promptfoo, SWE-bench and lighteval: made ones, and real ones of other people's tools."""

import copy
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigstats.files.predictions import Columns, join, read
from sigstats.files.predictions._files import parse, read_by_scores

from ....examples import examples

LOGS = Path(__file__).parents[5] / "shared/data/logs"
real = pytest.mark.skipif(not LOGS.is_dir(), reason="the real logs in ../shared/data/logs are not here")


def marks(path, **columns):
    found = read(str(path), Columns().but(**columns))
    epochs = ["1"] * len(found.ids) if found.epoch is None else found.epoch.to_pylist()
    keys = zip(found.ids.to_pylist(), map(int, epochs), strict=True)
    return dict(zip(keys, found.score.values.to_pylist(), strict=True))


# HELM


def stat(name, mean, count=1):
    """A statistic as HELM writes it."""
    return {"name": {"name": name, "split": "test"}, "count": count, "sum": mean * count, "mean": mean}


def instance(number, trial=0, perturbation=None, **stats):
    row = {"instance_id": f"id{number}", "train_trial_index": trial, "stats": [stat(*each) for each in stats.items()]}
    return row | ({} if perturbation is None else {"perturbation": {"name": perturbation, "robustness": True}})


def helm(folder, rows, model="m", name="mmlu:subject=x,model=m", references=True):
    folder.mkdir(exist_ok=True)
    (folder / "per_instance_stats.json").write_text(json.dumps(rows))
    spec = {"name": name, "adapter_spec": {"model": model, "method": "joint", "max_train_instances": 5}}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    (folder / "stats.json").write_text(json.dumps([stat("exact_match", 0.5)]))
    states = [
        {
            "instance": {
                "id": row["instance_id"],
                "input": {"text": f"question {row['instance_id']}"},
                "references": [
                    {"output": {"text": "yes"}, "tags": ["correct"]},
                    {"output": {"text": "no"}, "tags": []},
                ],
                **({"perturbation": row["perturbation"]} if "perturbation" in row else {}),
            },
            "request": {"prompt": f"Answer: question {row['instance_id']}"},
        }
        for row in rows
    ]
    if references:
        (folder / "scenario_state.json").write_text(json.dumps({"request_states": states}))
    return str(folder / "per_instance_stats.json")


def test_an_instance_of_helm_has_many_statistics_of_which_one_is_named(tmp_path):
    rows = [instance(n, exact_match=float(n % 2), f1_score=n / 10, num_output_tokens=n, logprob=-1.5) for n in range(6)]
    path = helm(tmp_path / "a", rows)
    with pytest.raises(ValueError, match=r"score: there are 2; choose one of exact_match, f1_score \(--score NAME"):
        read(path, Columns())
    assert marks(path, score="f1_score") == {(f"id{n}", 1): n / 10 for n in range(6)}
    assert marks(path, score="num_output_tokens") == {(f"id{n}", 1): n for n in range(6)}  # of the run, but named
    assert marks(path.replace("/per_instance_stats.json", ""), score="exact_match", slices=("task",)) == {
        (f"mmlu:subject=x/id{n}", 1): n % 2 for n in range(6)
    }
    found = read(path, Columns(score="exact_match"))
    assert (found.source.subject["task"], found.source.subject["model"]) == ("mmlu:subject=x", "m")
    assert found.identity["target"].to_pylist() == ["yes"] * 6


def test_costs_of_a_run_of_helm_are_left_out_of_all_scores_with_a_note_unless_they_are_named(tmp_path):
    path = helm(tmp_path / "a", [instance(n, exact_match=1, inference_runtime=0.5, num_bytes=9) for n in range(12)])
    for lower, scores in (((), ["exact_match"]), (("inference_runtime",), ["exact_match", "inference_runtime"])):
        (found,) = read_by_scores([(path, Columns().but(lower=frozenset(lower)))], ["all"])
        assert [*found] == scores
        notes = [note for note in found["exact_match"].notes if note.name == "left-out-scores"]
        assert ["not compared, since they are costs of the run: inference_runtime" in note for note in notes] == (
            [] if lower else [True]
        )


def test_metrics_of_helm_that_list_an_instance_each_are_one_answer(tmp_path):
    rows = [instance(n, exact_match=1.0) for n in range(3)] + [instance(n, f1_score=0.5) for n in range(3)]
    assert marks(helm(tmp_path / "a", rows), score="f1_score") == {(f"id{n}", 1): 0.5 for n in range(3)}
    assert marks(helm(tmp_path / "b", [*rows, rows[0]]), score="f1_score") == {(f"id{n}", 1): 0.5 for n in range(3)}
    twice = helm(tmp_path / "c", [*rows, instance(2, f1_score=0.25)])
    with pytest.raises(ValueError, match=r"1 of 4 answers repeat an id: id 'id2'; add --duplicates first, last or all"):
        read(twice, Columns(score="f1_score"))
    assert marks(twice, score="f1_score", duplicates="last")["id2", 1] == 0.25


def test_a_statistic_of_helm_with_several_values_in_one_instance_is_refused_and_its_copy_is_not(tmp_path):
    rows = [instance(n, exact_match=1.0, f1_score=0.5) for n in range(3)]
    worst = {"name": "exact_match", "split": "test", "perturbation": {"name": "robustness", "computed_on": "worst"}}
    rows[1]["stats"] += [stat("exact_match", 0.0) | {"name": worst}, stat("f1_score", 0.5)]
    path = helm(tmp_path / "a", rows)
    with pytest.raises(ValueError, match=r"id 'id1': score 'exact_match' is a list; expected a number for each answer"):
        read(path, Columns(score="exact_match"))
    assert set(marks(path, score="f1_score").values()) == {0.5}


def test_train_trials_of_helm_are_answers_to_one_item_and_perturbations_are_chosen(tmp_path):
    rows = [instance(n, trial, exact_match=float(trial)) for n in range(3) for trial in range(2)]
    assert marks(helm(tmp_path / "a", rows)) == {(f"id{n}", trial + 1): trial for n in range(3) for trial in range(2)}
    rows = [instance(n, 0, kind, exact_match=float(kind is None)) for n in range(3) for kind in (None, "typos")]
    path = helm(tmp_path / "b", rows)
    with pytest.raises(ValueError, match=r"score: there are .*; choose one of .*,original, .*,typos"):
        read(path, Columns())
    assert marks(path, filter="typos") == {(f"id{n}", 1): 0 for n in range(3)}
    assert marks(path, filter="original") == {(f"id{n}", 1): 1 for n in range(3)}


def test_other_questions_under_the_ids_of_helm_are_refused(tmp_path):
    rows = [instance(n, exact_match=1.0) for n in range(3)]
    paths = [helm(tmp_path / "a", rows), helm(tmp_path / "b", rows, name="mmlu:model=m,subject=x")]
    assert not join(*(read(path, Columns()) for path in paths), Columns()).notes
    state = tmp_path / "b" / "scenario_state.json"
    state.write_text(state.read_text().replace("Answer: ", "Say: "))
    (note,) = join(*(read(path, Columns()) for path in paths), Columns()).notes
    assert (note.name, "3 of 3 prompts are not those" in note) == ("differing-prompts", True)
    state.write_text(state.read_text().replace("question id1", "another"))
    with pytest.raises(ValueError, match="input"):
        join(*(read(path, Columns()) for path in paths), Columns())
    bare = helm(tmp_path / "c", rows, name="boolq:model=m", references=False)
    with pytest.raises(ValueError, match="task 'boolq' is not that of"):
        join(read(paths[0], Columns()), read(bare, Columns()), Columns())


def test_a_statistic_of_helm_without_its_mean_is_the_sum_by_the_count(tmp_path):
    rows = [instance(n, exact_match=1) for n in range(3)]
    for row in rows:
        (only,) = row["stats"]
        del only["mean"]
        only.update(count=4, sum=3.0)
    assert set(marks(helm(tmp_path / "a", rows), score="exact_match").values()) == {0.75}


# promptfoo


def outcome(test, passed, provider="p", prompt="q", **more):
    index = more.pop("index", test)
    return {
        "testIdx": index,
        "promptIdx": 0,
        "provider": {"id": provider, "label": provider},
        "prompt": {"label": prompt, "raw": prompt},
        "success": passed,
        "score": float(passed) / 2,
        "failureReason": 0 if passed else 1,
        "namedScores": {},
        "vars": {"question": f"question {test}", "area": "ab"[test % 2]},
        **more,
    }


def of_tests(path, **columns):
    """The marks by the number of the test, which its question names, and the answer."""
    return {(item.split()[1], epoch): mark for (item, epoch), mark in marks(path, **columns).items()}


def promptfoo(path, results):
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": results}, "config": {}}))
    return str(path)


def test_of_several_splits_of_helm_the_output_says_how_many_instances_each_has(tmp_path):
    rows = [instance(n, exact_match=n % 2) for n in range(5)]
    assert read(helm(tmp_path / "a", rows), Columns()).notes == ()
    rows[3]["stats"][0]["name"]["split"] = "valid"
    found = read(helm(tmp_path / "a", rows), Columns().but(slices=("split",)))
    assert found.notes == ("instances of several splits are counted: test (4), valid (1); --slice split tests each",)
    assert found.requested["split"].to_pylist() == ["test"] * 3 + ["valid", "test"]


def test_a_test_of_promptfoo_is_right_if_it_passed(tmp_path):
    results = [outcome(n, n % 3 > 0, namedScores={"tone": n / 4}) for n in reversed(range(5))]
    path = promptfoo(tmp_path / "a.json", results)
    assert of_tests(path) == {(str(n), 1): n % 3 > 0 for n in range(5)}
    assert of_tests(path, score="score") == {(str(n), 1): (n % 3 > 0) / 2 for n in range(5)}
    assert of_tests(path, score="tone") == {(str(n), 1): n / 4 for n in range(5)}
    assert read(path, Columns().but(slices=("area",))).requested["area"].to_pylist() == list("ababa")
    with pytest.raises(ValueError, match="score: 'other' was not found; expected one of success, score, tone"):
        read(path, Columns(score="other"))


def test_tests_of_promptfoo_that_passed_against_their_grade_are_noted(tmp_path):
    """Of six tests, the first differs from its grade, the second has a score of 0, and the third ended in an error."""
    results = [outcome(n, True, gradingResult={"pass": n > 0}) for n in range(6)]
    results[1]["score"] = 0
    results[2] |= {"failureReason": 2, "success": False}
    told = "success contradicts the grade or score in 2 of 6 results; success is used"
    path = promptfoo(tmp_path / "a.json", results)
    assert told in str(read(path, Columns(unscored="drop")).notes)
    assert told not in str(read(path, Columns(unscored="drop", score="score")).notes)


def test_repeated_tests_of_promptfoo_are_answers_to_one_item(tmp_path):
    results = [outcome(n, n < 2, index=3 * n + times) for n in range(4) for times in range(3)]
    repeated, once = (
        promptfoo(tmp_path / name, rows) for name, rows in (("a.json", results), ("b.json", results[::3]))
    )
    assert of_tests(repeated) == {(str(n), times + 1): n < 2 for n in range(4) for times in range(3)}
    assert of_tests(once) == {(str(n), 1): n < 2 for n in range(4)}


def test_tests_of_promptfoo_in_another_order_are_the_same_tests(tmp_path):
    results = [outcome(n, n < 4) for n in range(5)]
    changed = [outcome(n, n < 3, index=4 - n) for n in range(5)]
    paths = promptfoo(tmp_path / "a.json", results), promptfoo(tmp_path / "b.json", changed)
    paired = join(*(read(path, Columns()) for path in paths), Columns())
    right_a, right_b = paired.outcomes.right
    assert (right_a.sum(), right_b.sum()) == (4, 3)
    assert (right_a & ~right_b).sum() == 1
    equals = {"assert": [{"type": "equals", "value": "yes"}]}
    for case in (equals, {**equals, "threshold": 0.5}):
        changed[0]["testCase"] = case
        promptfoo(tmp_path / "b.json", changed)
        with pytest.raises(ValueError, match=r"'question 0 a #.* only in this file"):
            join(*(read(path, Columns()) for path in paths), Columns())


def test_one_of_several_providers_and_prompts_is_named(tmp_path):
    results = [outcome(n, provider == "new", provider) for n in range(3) for provider in ("old", "new")]
    path = promptfoo(tmp_path / "a.json", results)
    with pytest.raises(ValueError, match="model: there are 2; choose one of old, new"):
        read(path, Columns())
    with pytest.raises(ValueError, match="model: 'newer' was not found; expected one of old, new"):
        read(path, Columns().but(model="newer"))
    assert of_tests(path, model="new") == {(str(n), 1): 1 for n in range(3)}
    assert read(path, Columns().but(model="new")).source.subject["model"] == "new"
    both = [outcome(n, way == "bx", way[0], way[1]) for n in range(2) for way in ("ax", "ay", "bx", "by")]
    path = promptfoo(tmp_path / "b.json", both)
    with pytest.raises(ValueError, match=r"score: there are .*; choose one of .*,x, .*,y"):
        read(path, Columns().but(model="b"))
    assert set(marks(path, model="b", filter="x").values()) == {1}
    assert set(marks(path, model="a", filter="x").values()) == {0}
    for result in both:
        result["prompt"]["label"] = f"{result['prompt']['label']}.txt: How good\nis {{review}}?"
    path = promptfoo(tmp_path / "c.json", both)
    assert set(marks(path, model="b", filter="x.txt").values()) == {1}
    with pytest.raises(ValueError, match=r"filter: 'z\.txt' was not found; expected one of"):
        read(path, Columns().but(model="b", filter="z.txt"))


def test_a_log_of_one_model_is_known_by_it(tmp_path):
    path = promptfoo(tmp_path / "a.json", [outcome(n, True, "old") for n in range(3)])
    assert of_tests(path, model="old") == of_tests(path)
    with pytest.raises(ValueError, match="model: 'new' was not found; expected 'old'"):
        read(path, Columns().but(model="new"))


def test_a_test_of_promptfoo_that_ended_with_an_error_has_no_score(tmp_path):
    results = [outcome(n, n < 4, failureReason=2 if n == 4 else 0, error="timed out") for n in range(5)]
    path = promptfoo(tmp_path / "a.json", results)
    with pytest.raises(ValueError, match=r"1 of 5 answers .*timed out"):
        read(path, Columns())
    assert of_tests(path, unscored="wrong")["4", 1] == 0
    assert ("4", 1) not in of_tests(path, unscored="drop")


PASSED = {"pass": True, "score": 1}
CHECKED = {"assert": [{"type": "equals", "value": "yes"}]}


@pytest.mark.parametrize(
    ("about", "graded"),
    [
        ({"gradingResult": {**PASSED, "reason": "No assertions", "assertion": None}}, False),
        ({"gradingResult": None}, False),
        ({"gradingResult": None, "testCase": {"vars": {}, "assert": []}}, False),
        ({"testCase": {"vars": {}}}, False),
        ({"gradingResult": None, "testCase": CHECKED}, True),  # as PROMPTFOO_STRIP_GRADING_RESULT writes it
        ({"gradingResult": {**PASSED, "reason": "Manual result", "componentResults": [PASSED]}}, True),
        ({"gradingResult": {**PASSED, "reason": "No assertions", "componentResults": [PASSED]}}, True),
        ({}, True),
    ],
)
def test_a_test_of_promptfoo_without_assertions_is_not_right(tmp_path, about, graded):
    results = [outcome(n, n < 3, **about if n == 2 else {}) for n in range(4)]
    stats = {"successes": 3, "failures": 1, "errors": 0}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": results, "stats": stats}}))
    if not graded:
        with pytest.raises(ValueError, match=r"1 of 4 answers failed \('the test has no assertions'\): id 'question 2"):
            read(str(path), Columns())
    assert of_tests(path, unscored="drop") == {(str(n), 1): n < 3 for n in range(4) if graded or n != 2}
    notes = read(str(path), Columns(unscored="drop")).notes
    assert [note.name for note in notes] == ["unscored-rows"] * (not graded)
    assert of_tests(path, unscored="wrong")["2", 1] == graded


def test_empty_outputs_of_promptfoo_are_noted(tmp_path):
    outputs = ["", None, "yes", {"a": 1}, "no"]
    results = [outcome(n, n > 1, response={"output": output}) for n, output in enumerate(outputs)]
    (note,) = read(promptfoo(tmp_path / "a.json", results), Columns()).notes
    assert note.endswith("2 of 5 answers are empty; they count as the log scores them")


@pytest.mark.parametrize("response", [{"error": "429"}, None, {"output": "no", "error": "429"}])
def test_an_old_file_of_promptfoo_has_errors_where_the_provider_gave_no_answer(tmp_path, response):
    results = [{**outcome(n, n < 3), "response": {"output": "yes"}, "error": "" if n < 3 else "no"} for n in range(5)]
    results[4] |= {"response": response, "error": "429"}
    for result in results:
        del result["failureReason"]
    path = promptfoo(tmp_path / "a.json", results)
    with pytest.raises(ValueError, match=r"1 of 5 answers .*429"):
        read(path, Columns())
    assert len(of_tests(path, unscored="drop")) == 4


@pytest.mark.parametrize("passed", ["false", "true", [True]])
def test_a_success_of_promptfoo_that_is_no_truth_value_is_not_read_as_one(tmp_path, passed):
    results = [outcome(n, n < 3) for n in range(4)]
    results[3]["success"] = passed
    with pytest.raises(ValueError, match="success"):
        read(promptfoo(tmp_path / "a.json", results), Columns())


# SWE-bench


def test_an_instance_of_swe_bench_that_was_not_resolved_is_wrong(tmp_path):
    ids = [f"django__django-{n}" for n in range(12)]
    report = {
        "total_instances": 12,
        "submitted_instances": 10,
        "completed_ids": ids[:8],
        "resolved_ids": ids[:5],
        "unresolved_ids": ids[5:8],
        "empty_patch_ids": ids[8:9],
        "error_ids": ids[9:10],
        "incomplete_ids": ids[10:],
        "submitted_ids": ids[:10],
        "schema_version": 2,
    }
    path = tmp_path / "maker__model-4.1.run.json"
    path.write_text(json.dumps(report, indent=4))
    with pytest.raises(ValueError, match=r"3 of 12 answers failed \('not submitted' 2, 'error' 1\): ids"):
        read(str(path), Columns())
    assert marks(path, unscored="wrong") == {(name, 1): number < 5 for number, name in enumerate(ids)}
    assert marks(path, unscored="drop") == {(name, 1): number < 5 for number, name in enumerate(ids[:9])}
    found = read(str(path), Columns().but(slices=("repo",), unscored="drop"))
    assert found.source.subject["model"] == "maker/model-4.1"
    assert set(found.requested["repo"].to_pylist()) == {"django/django"}
    assert found.dropped.ids.to_pylist() == [ids[10], ids[11], ids[9]]
    assert [note.partition(": ids")[0] for note in found.notes] == [
        f"{path}: 1 of 10 answers are empty; they count as the log scores them",
        f"{path}: 3 of 12 answers failed ('not submitted' 2, 'error' 1)",
    ]
    path.write_text(json.dumps({"submitted_instances": 10, "resolved_instances": 5, "resolved_ids": ids[:5]}))
    with pytest.raises(ValueError, match="does not name all its instances; add --labels FILE"):
        read(str(path), Columns())
    path.write_text(json.dumps(report | {"total_instances": 90}))
    with pytest.raises(ValueError, match="does not name all its instances"):
        read(str(path), Columns(unscored="wrong"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"resolved_instances": 2, "unresolved_instances": 2, "error_instances": 3}, []),
        ({"resolved_instances": 3}, ["3 resolved instances but lists 2"]),
        ({"resolved_instances": 1, "unresolved_instances": 0}, ["1 resolved", "0 unresolved instances but lists 2"]),
        ({"resolved_instances": 2, "resolved_ids": []}, ["2 resolved instances but lists 0"]),
    ],
)
def test_a_report_of_swe_bench_that_states_other_numbers_than_it_lists_is_noted(tmp_path, change, told):
    ids = [f"django__django-{n}" for n in range(4)]
    report = {"submitted_ids": ids, "resolved_ids": ids[:2], "unresolved_ids": ids[2:], **change}
    (path := tmp_path / "m.run.json").write_text(json.dumps(report))
    notes = read(str(path), Columns()).notes
    assert [note.name for note in notes] == ["other-total"] * len(told)
    assert all(f"states {text}" in note for note, text in zip(notes, told, strict=True))
    path.write_text(json.dumps(report | {"resolved_ids": ids[:3]}))
    with pytest.raises(ValueError, match="'django__django-2' is in resolved_ids and in unresolved_ids; list each"):
        read(str(path), Columns())


def test_a_word_that_evalplus_does_not_write_is_no_failure(tmp_path):
    (path := tmp_path / "eval_results.json").write_text(
        json.dumps({"date": "", "hash": "", "eval": {"HumanEval/0": [{"base_status": "Pass", "plus_status": "fail"}]}})
    )
    for score in ("base", "plus"):
        with pytest.raises(ValueError, match="is the text 'Pass'; expected a number"):
            read(str(path), Columns(score=score))


def test_reports_of_swe_bench_of_the_first_version_and_by_instance(tmp_path):
    ids = [f"astropy__astropy-{n}" for n in range(12)]
    path = tmp_path / "results.json"
    first = {
        "no_generation": ids[10:],
        "generated": ids[:10],
        "with_logs": ids[:9],
        "install_fail": [],
        "reset_failed": [],
        "no_apply": ids[8:9],
        "applied": ids[:8],
        "test_errored": [],
        "test_timeout": [],
        "resolved": ids[:5],
    }
    path.write_text(json.dumps(first, indent=4))
    assert marks(path) == {(name, 1): number < 5 for number, name in enumerate(ids)}
    path.write_text(json.dumps({name: {"cost": 0.72, "api_calls": 32, "resolved": name in ids[:5]} for name in ids}))
    assert marks(path) == {(name, 1): number < 5 for number, name in enumerate(ids)}
    path.write_text(json.dumps({ids[0]: {"patch_exists": True, "resolved": True}, ids[1]: {"patch_exists": True}}))
    with pytest.raises(ValueError, match="'astropy__astropy-1' does not say whether it was resolved"):
        read(str(path), Columns())


def test_the_results_of_the_leaderboard_do_not_name_what_was_not_resolved(tmp_path):
    """Joined with another file, the instances that one model alone resolved would be those that are left out."""
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"no_generation": ["a__a-9"], "no_logs": [], "resolved": ["a__a-1", "a__a-2"]}))
    with pytest.raises(ValueError, match=r"does not name all its instances; .* or per_instance_details\.json"):
        read(str(path), Columns())


# lighteval


def details(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


def late_detail(n):
    """A row as versions with `doc` write it."""
    return {
        "doc": {
            "query": f"question {n}",
            "choices": ["yes", "no"],
            "gold_index": n % 2,
            "instruction": "",
            "specific": {"level": "ab"[n % 2]},
            "id": str(n + 5),
            "task_name": "lighteval|gsm8k|5",
            "fewshot_samples": [],
            "sampling_methods": ["GENERATIVE"],
            "num_samples": 1,
        },
        "metric": {"em": float(n > 2), "f1": n / 10},
        "model_response": {"input": f"question {n}", "text": ["x"], "logprobs": []},
    }


def test_the_details_of_lighteval_have_a_column_of_metrics(tmp_path):
    rows = [late_detail(n) for n in range(6)]
    path = details(tmp_path / "details_lighteval|gsm8k|5_2025-01-01T10-20-30.123456.parquet", rows)
    assert marks(path, score="f1") == {(str(n + 5), 1): n / 10 for n in range(6)}
    found = read(path, Columns().but(score="em", slices=("level",)))
    assert found.source.subject["task"] == "lighteval|gsm8k|5"
    assert found.requested["level"].to_pylist() == list("ababab")
    path = details(tmp_path / "details.parquet", [{**row, "metric": {"em": 1.0, "ppl": 3.5}} for row in rows])
    assert parse(path, Columns()).scores(Columns()) == (("em", "ppl"), ())
    assert read(path, Columns(score="ppl")).score.lower
    as_text = [{name: str(value) for name, value in row.items()} for row in rows]
    other = read(details(tmp_path / "renamed.parquet", as_text), Columns().but(score="em", slices=("level",)))
    assert other.ids.to_pylist() == found.ids.to_pylist()
    assert other.requested["level"].to_pylist() == found.requested["level"].to_pylist()
    assert other.source.subject["task"] == "lighteval|gsm8k|5"
    assert {name: column.to_pylist() for name, column in other.identity.items()} == {
        name: column.to_pylist() for name, column in found.identity.items()
    }


@pytest.mark.parametrize("number", [float, np.float64])
def test_the_details_of_early_lighteval_are_text(tmp_path, number):
    early = [
        {
            "choices": "['yes', 'no']",
            "example": f"question {n}",
            "gold": "['yes']",
            "gold_index": "[0]",
            "instruction": "",
            "metrics": str({"em": number(n > 2), "f1": number(n / 10)}),
            "padded": "[0]",
            "predictions": "['yes']",
            "specifics": str({"level": "ab"[n % 2]}),
            "truncated": "[0]",
        }
        for n in range(6)
    ]
    path = details(tmp_path / "early.parquet", early)
    assert marks(path, score="em") == {(str(n), 1): n > 2 for n in range(6)}
    assert read(path, Columns().but(score="em", slices=("level",))).requested["level"].to_pylist() == list("ababab")
    with pytest.raises(ValueError, match="score: there are 2; choose one of em, f1"):
        read(path, Columns())


# Real files


@real
@pytest.mark.parametrize(
    ("name", "score", "measure"),
    [
        ("mmlu-philosophy", "exact_match", "exact_match"),
        ("commonsense-hellaswag", "quasi_exact_match", "quasi_exact_match"),
        ("narrative_qa", "f1_score", "f1_score"),
    ],
)
def test_the_mean_of_the_marks_is_what_helm_says(name, score, measure):
    told = json.loads((LOGS / "helm" / name / "stats.json").read_text())
    found = read(str(LOGS / "helm" / name / "per_instance_stats.json"), Columns().but(score=score, slices=("split",)))
    splits = found.requested["split"].to_pylist()
    for stat in told:
        if stat["name"]["name"] == measure and "perturbation" not in stat["name"]:
            own = [
                mark
                for mark, split in zip(found.score.values.to_pylist(), splits, strict=True)
                if split == stat["name"]["split"]
            ]
            assert sum(own) / len(own) == pytest.approx(stat["mean"])


@real
def test_as_many_tests_passed_as_promptfoo_says():
    path = LOGS / "promptfoo/output.json"
    told = json.loads(path.read_text())["results"]["stats"]
    found = marks(path)
    assert (sum(found.values()), len(found)) == (told["successes"], told["successes"] + told["failures"])


# Whatever is in a file

SEEDS = {
    "per_instance_stats.json": [instance(1, exact_match=1.0), instance(2, 0, "typos", exact_match=0.0)],
    "output.json": {"evalId": "e", "results": {"version": 3, "results": [outcome(0, True), outcome(1, False)]}},
    "m.run.json": {"resolved_ids": ["a-1"], "submitted_ids": ["a-1", "a-2"], "submitted_instances": 2},
    "a.jsonl": {"doc_id": 1, "doc": {"x": 1}, "filtered_resps": [], "metrics": ["acc"], "acc": 1.0, "target": "x"},
    "a.json": {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "dataset": {"samples": 1}},
        "samples": [
            {"id": 1, "epoch": 1, "input": "x", "target": "y", "metadata": {}, "scores": {"s": {"value": "C"}}}
        ],
    },
}
ANYTHING = st.sampled_from(
    [None, True, 0, -1, 10**400, 1.5, "", "x", "\ud800", [], [1], ["x"], {}, {"x": 1}, {"name": []}]
)


def places(value, path=()):
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


@pytest.mark.long
@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), name=st.sampled_from(sorted(SEEDS)))
def test_a_log_with_anything_in_it_is_read_or_refused_in_one_line(tmp_path_factory, data, name):
    values = json.loads(json.dumps(SEEDS[name]))
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from([place for place in places(values) if place] or [()]))
        holder = values
        for key in path[:-1]:
            holder = holder[key]
        if path:
            holder[path[-1]] = copy.deepcopy(data.draw(ANYTHING))
    folder = tmp_path_factory.mktemp("log")
    (folder / name).write_text(json.dumps(values))
    for beside in ("scenario_state.json", "run_spec.json"):
        (folder / beside).write_text(json.dumps(data.draw(ANYTHING)))
    for columns in (Columns(), Columns().but(score="exact_match", slices=("split",), unscored="wrong")):
        try:
            read(str(folder / name), columns)
        except ValueError as error:
            assert str(error).startswith(str(folder / name))
            assert "\n" not in str(error)
