"""Forms in which people have their predictions, each beside the same table as CSV or beside pandas' own numbers."""

import json
import math
import operator
import shutil
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sigstats.flows.commands import main

from ....tables import save


@pytest.fixture
def frames():
    rng = np.random.default_rng(7)
    label = rng.integers(2, size=60)

    def model(share):
        return np.where(rng.random(60) < share, label, 1 - label)

    ids = [f"q{row}" for row in range(60)]
    return [pd.DataFrame({"id": ids, "label": label, "prediction": model(share)}) for share in (0.9, 0.6)]


def texts_of(found, name):
    """The notes of this name."""
    return [note["text"] for note in found["notes"] if note["name"] == name]


def compared(tmp_path, files, *options, code=None):
    target = tmp_path / "found.json"
    found = main(["compare", *map(str, files), *options, "--json", str(target)])
    assert found in ((0, 1) if code is None else (code,))
    return json.loads(target.read_text())


def written(tmp_path, *texts, name="p.json"):
    files = []
    for number, text in enumerate(texts):
        files.append(tmp_path / f"{number}-{name}")
        files[-1].write_text(text if isinstance(text, str) else json.dumps(text))
    return files


def accuracies(found):
    return [(row["baseline"], row["candidate"]) for row in found["rows"]]


def of(frames):
    return [tuple(float((frame["label"] == frame["prediction"]).mean()) for frame in frames)]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("orient", ["split", "columns", "index", "table", "records"])
def test_every_form_of_pandas_is_read(tmp_path, frames, orient, indent):
    texts = [frame.to_json(orient=orient, indent=indent) for frame in frames]
    assert accuracies(compared(tmp_path, written(tmp_path, *texts))) == of(frames)


def test_the_rows_of_an_object_are_known_by_its_keys_and_so_are_bare_predictions(tmp_path, frames):
    by_id = [frame.set_index("id").to_dict(orient="index") for frame in frames]
    assert accuracies(compared(tmp_path, written(tmp_path, *by_id))) == of(frames)
    frames[0][["id", "label"]].to_csv(tmp_path / "truth.csv", index=False)
    bare = [dict(zip(frame["id"], frame["prediction"].tolist(), strict=True)) for frame in frames]
    found = compared(tmp_path, written(tmp_path, *bare), "--labels", str(tmp_path / "truth.csv"))
    assert accuracies(found) == of(frames)


@pytest.mark.parametrize(
    ("label", "prediction"), [("gold_label", "pred_label"), ("y_true", "y_pred"), ("target", "predicted")]
)
def test_well_known_names_of_columns_are_recognised_and_told(tmp_path, frames, label, prediction):
    renamed = [frame.rename(columns={"label": label, "prediction": prediction}) for frame in frames]
    texts = [frame.to_csv(index=False) for frame in renamed]
    found = compared(tmp_path, written(tmp_path, *texts, name="p.csv"))
    assert accuracies(found) == of(frames)
    assert [note["text"] for note in found["notes"]] == [
        f"read are column '{label}' as the label, column '{prediction}' as the prediction"
    ]


def test_two_candidates_for_a_name_are_not_guessed(tmp_path, frames, refused):
    texts = [frame.rename(columns={"label": "gold"}).assign(target=0).to_csv(index=False) for frame in frames]
    files = written(tmp_path, *texts, name="p.csv")
    assert "column 'label' was not found" in refused("compare", *files)
    assert accuracies(compared(tmp_path, files, "--label", "gold")) == of(frames)
    texts = [frame.rename(columns={"label": "target"}).assign(y=0).to_csv(index=False) for frame in frames]
    files = written(tmp_path, *texts, name="p.csv")
    assert "columns 'target' and 'y' may each be the label; name --label" in refused("compare", *files)
    assert accuracies(compared(tmp_path, files, "--label", "target")) == of(frames)


@pytest.mark.parametrize(
    ("own", "other"), [("label", "y_true"), ("label", "class"), ("label", "gt"), ("prediction", "pred")]
)
def test_a_column_beside_another_that_may_be_it_is_not_guessed(tmp_path, frames, refused, own, other):
    files = written(tmp_path, *(frame.assign(**{other: 0}).to_csv(index=False) for frame in frames), name="p.csv")
    assert f"columns '{own}' and '{other}' may each be the {own}; name --{own}" in refused("compare", *files)
    assert accuracies(compared(tmp_path, files, f"--{own}", own)) == of(frames)
    assert compared(tmp_path, files, "--slice", other)["rows"]


def test_what_passed_of_humaneval_is_pass_at_k(tmp_path):
    rng = np.random.default_rng(2)
    passed = rng.random((2, 30, 4)) < np.array([0.7, 0.4])[:, None, None]
    lines = [
        "\n".join(
            json.dumps({"task_id": f"HumanEval/{task}", "passed": bool(one)})
            for one, task in zip(each, tasks, strict=True)
        )
        for each, tasks in ((side.T.ravel(), list(range(30)) * 4) for side in passed)
    ]
    found = compared(tmp_path, written(tmp_path, *lines, name="r.jsonl"), "--measure", "pass@2")
    right = passed.sum(axis=2)
    chance = [[1 - math.comb(4 - c, 2) / math.comb(4, 2) for c in side] for side in right.tolist()]
    assert accuracies(found) == [pytest.approx(tuple(np.mean(chance, axis=1)))]


@pytest.mark.parametrize("new", [False, True])
def test_evalplus_has_the_base_tests_and_those_of_plus(tmp_path, new):
    def solution(base, plus):
        return (
            [{"task_id": "t", "base_status": base, "plus_status": plus}]
            if new
            else {"nfiles": 1, "base": [[base, []]], "plus": [[plus, []]]}
        )

    outcomes = [("pass", "pass"), ("pass", "fail"), ("fail", "pass")] * 10
    evals = {f"HumanEval/{number}": solution(*each) for number, each in enumerate(outcomes)}
    report = {"date": "2024-01-29 14:44", "hash": "8", "eval": evals}
    other = {**report, "eval": {name: solution("pass", "pass") for name in evals}}
    found = compared(tmp_path, written(tmp_path, report, other), "--score", "base", "--score", "plus")
    assert accuracies(found) == [(20 / 30, 1.0), (10 / 30, 1.0)]


@pytest.mark.parametrize("lost", [[], {"base": [], "plus": []}, [{"task_id": "t", "base_status": None}]])
def test_tasks_of_evalplus_without_a_solution_have_no_score(tmp_path, answer, refused, lost):
    passed = [{"task_id": "t", "base_status": "pass", "plus_status": "pass"}]
    evals = {f"HumanEval/{number}": passed if number else lost for number in range(30)}
    (file,) = written(tmp_path, {"date": "2024-01-29 14:44", "hash": "8", "eval": evals})
    words = ["check", str(file), "--score", "base", "--at-least", "0.5"]
    assert "1 of 30 answers have no score 'base': id 'HumanEval/0'" in refused(*words)
    assert answer(*words, "--unscored", "wrong")["rows"][0]["value"] == 29 / 30


def test_deepevals_metrics_are_known_by_their_names(tmp_path):
    scores = [[0.25, 0.5, 0.75, 1.0] * 6, [0.0, 0.5, 0.5, 1.0] * 6]
    cases = [[deepeval_case(row, (s,), success=s >= 0.5) for row, s in enumerate(of_model)] for of_model in scores]
    files = written(tmp_path, *({"testCases": items, "conversationalTestCases": []} for items in cases))
    found = compared(tmp_path, files, "--score", "Answer Relevancy")
    assert accuracies(found) == [pytest.approx(tuple(np.mean(scores, axis=1)))]
    assert accuracies(compared(tmp_path, files, "--score", "success")) == [(0.75, 0.75)]


def deepeval_case(row, scores, *, threshold=0.5, success=True, passes=operator.ge, **more):
    about = {"name": "Answer Relevancy", "threshold": threshold, **more}
    metrics = [{**about, "score": score, "success": passes(score, threshold)} for score in scores]
    return {"name": f"case_{row}", "input": f"q{row}", "success": success, "metricsData": metrics}


def test_a_metric_that_deepeval_lists_twice_is_refused_where_it_has_two_values(tmp_path, refused):
    cases = [[deepeval_case(row, scores) for row in range(20)] for scores in ((0.75,), (0.75, 0.75), (0.25, 0.75))]
    once, alike, twice = written(tmp_path, *({"testCases": items} for items in cases))
    assert accuracies(compared(tmp_path, [once, alike], "--score", "Answer Relevancy")) == [(0.75, 0.75)]
    assert "id 'case_0': score 'Answer Relevancy' is a list; expected a number" in refused(
        "compare", str(once), str(twice), "--score", "Answer Relevancy"
    )


def test_conversations_of_deepeval_are_cases_and_skipped_metrics_are_unscored(tmp_path, refused):
    cases = [deepeval_case(row, (0.5,)) for row in range(30)]
    conversations = [{**deepeval_case(row, (0.5,), success=row % 2 == 0), "name": f"talk_{row}"} for row in range(20)]
    files = written(tmp_path, *({"testCases": cases, "conversationalTestCases": conversations} for _ in range(2)))
    assert accuracies(compared(tmp_path, files, "--score", "success")) == [(0.8, 0.8)]
    skipped = [deepeval_case(row, (0.0,), skipped=row < 3) for row in range(30)]
    (file,) = written(tmp_path, {"testCases": skipped}, name="skipped.json")
    assert "3 of 30 answers have no score 'Answer Relevancy'" in refused(
        "check", str(file), "--score", "Answer Relevancy", "--at-least", "0.5"
    )


@pytest.mark.parametrize("metrics", [None, [], [{"name": "m", "skipped": True, "score": 0.0, "success": True}]])
def test_a_case_of_deepeval_without_metrics_is_not_right(tmp_path, refused, metrics):
    cases = [deepeval_case(row, (0.5,)) for row in range(30)]
    cases[7]["metricsData"] = metrics
    (file,) = written(tmp_path, {"testCases": cases})
    problem = "have no score 'success'" if metrics else "failed ('no metrics')"
    assert f"1 of 30 answers {problem}" in refused("check", str(file), "--score", "success", "--at-least", "0.5")


def log_of(program, condition, stated=40):
    """A log of a program with 40 right answers, made under some condition, that states a number of answers."""
    passed = [{"task_id": "t", "base_status": "pass", "plus_status": "pass"}]
    if program == "evalplus":
        evals = {f"HumanEval/{number}": passed for number in range(40)}
        return {"date": "2024-01-29 14:44", "hash": f"of {condition}", "eval": evals}
    if program == "trec_eval":
        lines = [f"{'map':<22}\t{query}\t1.0" for query in range(40)]
        return "\n".join([*lines, f"{'num_q':<22}\tall\t{stated}", f"{'map':<22}\tall\t0.8", ""])
    if program == "inspect":
        samples = [{"id": row, "epoch": 1, "input": "?", "scores": {"match": {"value": "C"}}} for row in range(40)]
        scored = {"scores": [{"name": "match", "scorer": "match", "params": {"location": condition}}]}
        scored["total_samples"] = stated
        return {"version": 2, "status": "success", "eval": {"task": "t"}, "results": scored, "samples": samples}
    if program == "deepeval":
        return {"testCases": [deepeval_case(row, (1.0,), threshold=condition) for row in range(40)]}
    if program == "promptfoo":
        asked = {"promptIdx": 0, "provider": {"id": "m"}, "prompt": {"label": f"prompt {condition}", "raw": "x"}}
        results = [{**asked, "testIdx": t, "success": True, "score": 1, "vars": {"q": t}} for t in range(40)]
        stats = {"successes": 40, "failures": stated - 40, "errors": 0}
        return {"evalId": "e", "results": {"version": 3, "results": results, "stats": stats}}
    lines = [{"spec": {"completion_fns": ["gpt-4"], "eval_name": f"arith.dev.v{condition}", "base_eval": "arith"}}]
    for row in range(40):
        asked = {"prompt": [{"role": "user", "content": f"{condition}: {row}?"}]}
        again = {"prompt": [{"role": "user", "content": "an answer of a model, which may differ"}]}
        for kind, data in (("sampling", asked), ("sampling", again), ("match", {"correct": True, "expected": "4"})):
            lines.append({"event_id": len(lines), "sample_id": f"arith.{row}", "type": kind, "data": data})
    return "\n".join(map(json.dumps, lines))


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("evalplus", ["hash of the data set is 'of 0' in {a} and 'of 1' in {b}"]),
        ("deepeval", ["threshold is 'Answer Relevancy: 0' in {a} and 'Answer Relevancy: 1' in {b}"]),
        ("inspect", ["parameters of score match is '{{\"location\": 0}}' in {a} and '{{\"location\": 1}}' in {b}"]),
        ("promptfoo", ["prompt is 'prompt 0' in {a} and 'prompt 1' in {b}"]),
        ("openai", ["eval is 'arith.dev.v0' in {a} and 'arith.dev.v1' in {b}", "{b}: 40 of 40 prompts are not those"]),
    ],
)
def test_other_conditions_of_an_evaluation_are_noted(tmp_path, program, said):
    options = ["--score", "plus"] if program == "evalplus" else []
    options += ["--score", "success"] if program == "deepeval" else []
    names = {"differing-settings", "differing-prompts"}
    for second in (0, 1):
        files = written(tmp_path, log_of(program, 0), log_of(program, second))
        notes = compared(tmp_path, files, *options)["notes"]
        told = [note["text"] for note in notes if note["name"] in names]
        wanted = [text.format(a=files[0], b=files[1]) for text in said] if second else []
        assert [text[: len(start)] for text, start in zip(told, wanted, strict=True)] == wanted


def test_settings_that_may_change_answers_are_noted(tmp_path):
    about = [{"model_roles": {"grader": {"model": model}}, "model_generate_config": config} for model, config in
             (("x/g", {"max_connections": 9}), ("x/h", {"temperature": 1, "max_connections": 2}))]  # fmt: skip
    logs = [{**log_of("inspect", 0), "eval": {"task": "t", **own}, "plan": {"steps": [{"solver": name}]}}
            for own, name in zip(about, ("generate", "cot"), strict=True)]  # fmt: skip
    told = [note["text"] for note in compared(tmp_path, written(tmp_path, *logs))["notes"]]
    assert [text.split(" is ")[0] for text in told] == ["solver", "model roles", "generation settings"]
    spec = {"eval_name": "e", "base_eval": "e", "run_config": {"eval_spec": {"args": {"judge": 0}}}}
    lines = log_of("openai", 0).splitlines()[1:]
    texts = ["\n".join([json.dumps({"spec": spec | {"split": split}}), *lines]) for split in ("dev", "test")]
    assert [note["text"][:5] for note in compared(tmp_path, written(tmp_path, *texts))["notes"]] == ["split"]


def samples_of(tmp_path, stated, marks, total=40, **more):
    """Samples of lm-evaluation-harness beside the results of their run."""
    date = "2026-01-02T03-04-05.678901"
    results = {"results": {"t": {"acc,none": stated}}, "n-samples": {"t": {"original": 99, "effective": total}}}
    tmp_path.joinpath(f"results_{date}.json").write_text(json.dumps(results))
    sample = {"doc": {"q": 1}, "target": "x", "filter": "none", "resps": [["x"]], "filtered_resps": ["x"], **more}
    lines = [json.dumps({**sample, "doc_id": row, "acc": mark}) for row, mark in enumerate(marks)]
    (file,) = written(tmp_path, "\n".join(lines), name="x")
    return str(file.rename(tmp_path / f"samples_t_{date}.jsonl"))


@pytest.mark.parametrize("program", ["inspect", "openai", "promptfoo", "deepeval", "evalplus", "trec_eval", "harness"])
@pytest.mark.parametrize(("stated", "odd"), [(0.995, False), (0.95, True)])
def test_a_total_that_a_log_states_against_its_answers_is_noted(tmp_path, answer, program, stated, odd):
    log = log_of(program, 0)
    if program == "inspect":
        log["results"]["scores"][0] |= {"metrics": {"accuracy": {"value": stated}}}
    elif program == "promptfoo":
        log["results"]["stats"] |= {"successes": round(1000 * stated), "failures": 1000 - round(1000 * stated)}
    elif program == "deepeval":
        log |= {"testPassed": round(1000 * stated), "testFailed": 1000 - round(1000 * stated)}
    elif program == "evalplus":
        log |= {"pass_at_k": {"base": {"pass@1": stated}}}
    elif program == "trec_eval":
        log = log.replace("0.8", str(stated))
    else:
        log += "\n" + json.dumps({"final_report": {"accuracy": stated}})
    (file,) = [samples_of(tmp_path, stated, [1.0] * 40)] if program == "harness" else written(tmp_path, log, name="log")
    score = {"evalplus": ["--score", "base"], "deepeval": ["--score", "success"]}.get(program, [])
    told = texts_of(answer("check", file, "--at-least", "0.5", *score, code=0), "other-total")
    assert ["0.95, but the mean of its 40 answers is 1" in text for text in told] == [True] * odd


@pytest.mark.parametrize(("total", "lacking"), [(40, False), (41, True), (99, True), (39, False), ("41", False)])
@pytest.mark.parametrize("form", ["file", "folder"])
def test_samples_fewer_than_their_results_state_are_noted(tmp_path, total, lacking, form):
    marks = [row % 2 for row in range(40)]
    files = []
    for side in "ab":
        tmp_path.joinpath(side).mkdir()
        files.append(samples_of(tmp_path / side, 0.5, marks, total=total))
    paths = files if form == "file" else [str(tmp_path / side) for side in "ab"]
    told = texts_of(compared(tmp_path, paths), "incomplete-log")
    wanted = f": states {total} documents and contains 40; the others are not counted"
    assert [text[text.index(": states") :] for text in told] == [wanted] * 2 * lacking


def test_a_total_of_several_providers_is_that_of_all(tmp_path):
    log = log_of("promptfoo", 0)
    results = log["results"]["results"]
    others = [{**result, "provider": {"id": "n"}, "success": row % 2 == 0} for row, result in enumerate(results)]
    for stated, odd in ((60, False), (80, True)):
        log["results"] |= {"results": [*results, *others], "stats": {"successes": stated, "failures": 80 - stated}}
        (file,) = written(tmp_path, log)
        notes = compared(tmp_path, [file], "--model", "m", "--model", "n")["notes"]
        assert ["other-total" in note["name"] for note in notes if "states" in note["text"]] == [True] * odd


def test_documents_of_samples_are_compared_where_one_file_has_no_hashes(tmp_path, refused):
    for folder in "abc":
        tmp_path.joinpath(folder).mkdir()
    new = {"doc_hash": "h", "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": {"until": []}}}}
    first = samples_of(tmp_path / "a", 1, [1] * 40, **new)
    assert "id '0': doc '" in refused("compare", first, samples_of(tmp_path / "b", 1, [1] * 40, doc={"q": 2}))
    same = samples_of(tmp_path / "c", 1, [1] * 40, arguments=[["Q?", {"until": ["."]}]])
    assert "not read" not in str(compared(tmp_path, [tmp_path / "a", tmp_path / "c"])["notes"])
    told = [note["text"] for note in compared(tmp_path, [first, same])["notes"]]
    assert [text.removeprefix(same)[:20] for text in told] == ["generation settings ", ": 40 of 40 prompts a"]
    other = samples_of(tmp_path / "b", 1, [1] * 40, **(new | {"doc": {"q": 2}}))
    assert compared(tmp_path, [first, other])["notes"] == []


@pytest.mark.parametrize("child", ["flakyFailure", "flakyError", "rerun", "failed", "system-out", "properties"])
def test_tests_that_passed_after_a_retry_are_counted_in_a_note(tmp_path, child):
    retried = "".join(f'<testcase name="r{row}"><{child}/></testcase>' for row in range(5))
    wrong = '<testcase name="w"><failure/><rerunFailure/></testcase>'
    passed = "".join(f'<testcase name="p{row}"/>' for row in range(30))
    files = written(tmp_path, *(f"<testsuite>{passed}{wrong}{retried}</testsuite>",) * 2, name="j.xml")
    told = texts_of(compared(tmp_path, files), "retried-tests")
    odd = child not in ("system-out", "properties")
    assert [f": 5 of 36 tests contain <{child.lower()}>" in text for text in told] == [True] * 2 * odd


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<testsuite failures='0'>{}{}</testsuite>", "states 0 failures but lists 2"),
        ("<testsuite failures='2'>{}{}</testsuite>", ""),
        ("<testsuite>{}{}</testsuite>", ""),
        (
            "<testsuites failures='1'><testsuite>{}</testsuite><testsuite>{}</testsuite></testsuites>",
            "states 1 failures",
        ),
        ("<testsuite failures='1'>{}<testsuite failures='1'>{}</testsuite></testsuite>", ""),  # each without the others
        (
            "<testsuite failures='2'>{}<testsuite failures='0'>{}</testsuite></testsuite>",
            "states 0 failures but lists 1",
        ),
    ],
)
def test_more_failures_than_junit_states_are_noted(tmp_path, answer, text, told):
    passes = ["".join(f"<testcase name='p{row}{k}'/>" for k in range(9)) for row in range(2)]
    cases = [f"<testcase name='f{row}'><failure/></testcase>{passes[row]}" for row in range(2)]
    (file,) = written(tmp_path, text.format(*cases), name="j.xml")
    notes = answer("check", file, "--at-least", "0.1", code=0)["notes"]
    assert [told in note["text"] for note in notes if note["name"] == "other-total"] == [True] * bool(told)


@pytest.mark.parametrize(
    ("program", "what"), [("inspect", "answers"), ("promptfoo", "answers"), ("trec_eval", "queries")]
)
def test_answers_that_a_log_states_and_does_not_contain_are_noted(tmp_path, answer, program, what):
    for stated in (40, 50):
        (file,) = written(tmp_path, log_of(program, 0, stated), name="log.txt")
        told = texts_of(answer("check", file, "--at-least", "0.5", code=0), "incomplete-log")
        assert told == [f"{file}: states 50 {what} and contains 40; the others are not counted"] * (stated == 50)


def test_matches_of_openai_evals_are_read(tmp_path):
    log = log_of("openai", 0)
    some = log.replace('"correct": true', '"correct": false', 10)
    found = compared(tmp_path, written(tmp_path, some, log, name="r.jsonl"))
    assert accuracies(found) == [(0.75, 1.0)]
    assert found["subjects"]["baseline"]["task"] == "arith"


@pytest.mark.parametrize("form", ["lines", "names", "objects"])
def test_the_instances_of_swe_bench_name_those_that_were_not_resolved(tmp_path, refused, form):
    names = [f"django__django-{number}" for number in range(100)]
    files = written(tmp_path, *({"no_generation": [], "no_logs": [], "resolved": names[:n]} for n in (60, 40)))
    texts = {"lines": "\n".join(names), "names": names, "objects": [{"instance_id": name} for name in names]}
    (instances,) = written(tmp_path, texts[form], name="instances")
    assert "--labels FILE with their names" in refused("compare", *files)
    found = compared(tmp_path, files, "--labels", str(instances))
    assert accuracies(found) == [(0.6, 0.4)]
    assert found["n"] == 100
    (few,) = written(tmp_path, "django__django-1", name="few")
    assert "is not among the 1 instances of --labels" in refused("compare", *files, "--labels", few)
    absent = tmp_path / "absent.json"
    assert refused("compare", absent, files[1], "--labels", few).startswith(
        f"sigstats: {absent}: there is no such file"
    )
    assert "--labels: " in refused("compare", *files, "--labels", tmp_path / "none.txt")


def test_an_array_without_names_is_read_by_position(tmp_path, frames):
    files = [tmp_path / "a.npy", tmp_path / "b.npy"]
    for file, frame in zip(files, frames, strict=True):
        np.save(file, frame["prediction"])
    np.save(tmp_path / "y.npy", frames[0]["label"])
    assert accuracies(compared(tmp_path, files, "--labels", str(tmp_path / "y.npy"))) == of(frames)
    right = written(tmp_path, *((frame["label"] == frame["prediction"]).astype(int).tolist() for frame in frames))
    assert accuracies(compared(tmp_path, right, "--score", "correct")) == of(frames)
    for file, frame in zip(files, frames, strict=True):
        np.save(file, (frame["label"] == frame["prediction"]).to_numpy().astype(">i4"))  # of another byte order
    assert accuracies(compared(tmp_path, files, "--score", "correct")) == of(frames)


@pytest.mark.parametrize("shape", [(60, 2, 2), ()])
def test_an_array_of_other_dimensions_is_refused(tmp_path, refused, shape):
    np.save(tmp_path / "a.npy", np.zeros(shape))
    assert "expected one dimension, or rows and columns" in refused(
        "check", tmp_path / "a.npy", "--at-least", "0.5", "--score", "f1"
    )


def test_a_column_of_an_array_is_named_by_its_number(tmp_path, frames, refused):
    files = [tmp_path / "a.npy", tmp_path / "b.npy"]
    for file, frame in zip(files, frames, strict=True):
        np.save(file, frame[["label", "prediction"]].to_numpy())
    assert accuracies(compared(tmp_path, files, "--label", "0", "--prediction", "1")) == of(frames)
    np.save(tmp_path / "one.npy", frames[1][["prediction"]].to_numpy())
    np.save(tmp_path / "y.npy", frames[0]["label"])
    labels = ("--labels", str(tmp_path / "y.npy"))
    assert "expected --prediction COLUMN of '0', '1'" in refused("compare", *files, *labels)
    copy = shutil.copy(tmp_path / "one.npy", tmp_path / "copy.npy")
    (both,) = accuracies(compared(tmp_path, [tmp_path / "one.npy", copy], *labels))
    assert both == (of(frames)[0][1],) * 2


@pytest.mark.parametrize("how", ["feather", "zstd", "stream", "bars"])
def test_feather_arrow_streams_and_bars_are_read_as_csv_is(tmp_path, frames, how):
    files = [tmp_path / "a.data", tmp_path / "b.data"]
    for file, frame in zip(files, frames, strict=True):
        coded = frame.assign(prediction=frame["prediction"].map({0: "no", 1: "yes"}).astype("category"))
        coded["label"] = frame["label"].map({0: "no", 1: "yes"})
        if how == "bars":
            coded.to_csv(file, sep="|", index=False)
        elif how == "stream":
            table = pa.Table.from_pandas(coded)
            with pa.ipc.new_stream(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=7)
        else:
            coded.to_feather(file, compression="lz4" if how == "feather" else how)
    assert accuracies(compared(tmp_path, files)) == of(frames)


@pytest.mark.long
def test_a_packed_column_of_arrow_is_refused_before_it_is_unpacked(tmp_path, monkeypatch, refused):
    monkeypatch.setenv("SIGSTATS_READ_LIMIT", "50MB")
    table = pa.table({"id": pa.array(np.arange(8)), "label": ["1"] * 8, "prediction": ["x" * 10_000_000] * 8})
    with pa.ipc.new_file(tmp_path / "a", table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    none = pa.table({"id": pa.nulls(10**9)})
    with pa.ipc.new_stream(tmp_path / "b", none.schema) as writer:
        writer.write_table(none)
    before = pa.total_allocated_bytes()
    for name in ("a", "b"):
        assert (tmp_path / name).stat().st_size < 50_000
        assert "takes more than 50 MB of memory" in refused("compare", tmp_path / name, tmp_path / name)
    assert pa.total_allocated_bytes() <= before


def test_marks_in_per_cent_are_shares(tmp_path, refused):
    marks = [[f"{37 * row % 1000 / 10}%" for row in range(60)], [f"{41 * row % 1000 / 10} %" for row in range(60)]]
    shares = [[f"{37 * row % 1000 / 1000}" for row in range(60)], [f"{41 * row % 1000 / 1000}" for row in range(60)]]
    texts = ["id,mark\n" + "".join(f"{row},{each}\n" for row, each in enumerate(of)) for of in (*marks, *shares)]
    files = written(tmp_path, *texts, name="p.csv")
    by_sign, by_share, mixed = (
        compared(tmp_path, each, "--score", "mark") for each in (files[:2], files[2:], files[::3])
    )
    assert by_sign["rows"] == by_share["rows"] == mixed["rows"]
    (one,) = written(tmp_path, "id,mark\n1,85%\n2,85\n", name="q.csv")
    assert "column 'mark': '85%' is not valid; expected a number" in refused("compare", one, one, "--score", "mark")


def test_a_table_of_two_models_on_different_rows_is_noted(tmp_path, printed):
    """Rows of generators are legitimate, so that nothing is refused."""
    rows = pd.DataFrame({"id": range(400), "label": [0, 1] * 200, "prediction": [0, 1] * 100 + [0, 0] * 100})
    rows.assign(model=["gpt"] * 200 + ["llama"] * 200).to_csv(path := tmp_path / "a.csv", index=False)
    note = "column 'model' names 2 models, 'gpt', 'llama', whose rows are read as those of one; --model NAME reads one"
    words = ("check", path, "--at-least", "0.5")
    assert note in printed(*words)
    for more in (("--model", "gpt"), ("--slice", "model"), ("--group", "model")):
        assert "names 2 models" not in printed(*words, *more, code=(0, 1))
    for models in (range(400), ["gpt"] * 400):  # hashes of generations, and one model
        rows.assign(model=models).to_csv(path, index=False)
        assert "models" not in printed(*words)


def test_text_without_a_header_asks_for_a_line_of_names(tmp_path, frames, refused):
    texts = [frame[["label", "prediction"]].to_csv(index=False, header=False) for frame in frames]
    files = written(tmp_path, *texts, name="p.csv")
    advice = "if the first line is a row, add a line of names above it; otherwise expected --"
    assert f"'id' was not found; {advice}by-position" in refused("compare", *files)
    assert f"(the true class of each row); {advice}label COLUMN" in refused("check", files[0], "--at-least", "0.5")
    files = written(tmp_path, *(f"label,prediction\n{text}" for text in texts), name="p.csv")
    assert accuracies(compared(tmp_path, files, "--by-position")) == of(frames)


def test_one_table_of_several_models_is_compared_and_ranked_by_name(tmp_path, frames, answer, refused):
    models = [frame.assign(system=name) for name, frame in zip("ab", frames, strict=True)]
    long = tmp_path / "long.csv"
    pd.concat(models).to_csv(long, index=False)
    named = ("--model", "a", "--model", "b")
    assert "rename the column of models to 'model'" in refused("compare", long, *named)
    renamed = pd.concat(models).rename(columns={"system": "model"})
    renamed.sample(frac=1, random_state=0).to_csv(long, index=False)
    assert accuracies(compared(tmp_path, [long], *named)) == of(frames)
    ranked = {each["model"]: each["accuracy"] for each in answer("rank", long)["models"]}
    assert ranked == dict(zip("ab", of(frames)[0], strict=True))
    assert "--model NAME reads those of one model" in refused("compare", long, long)
    assert "model: 'c' was not found; expected one of" in refused("check", long, "--model", "c", "--at-least", "0.5")


def test_a_file_joins_a_folder_with_that_task_alone(tmp_path, frames):
    (tmp_path / "runs").mkdir()
    frames[1].to_csv(tmp_path / "runs" / "arc.csv", index=False)
    frames[0].to_csv(tmp_path / "a.csv", index=False)
    assert accuracies(compared(tmp_path, [tmp_path / "a.csv", tmp_path / "runs"])) == of(frames)


def test_a_prompt_of_promptfoo_is_named_by_its_beginning_or_its_number_and_providers_are_ranked(
    tmp_path, answer, refused
):
    prompts = [f"prompts/{name}.txt: Read the text and say what is in it.\nText: {{{{q}}}}" for name in ("zero", "few")]
    rng = np.random.default_rng(1)
    results = [
        {
            "success": bool(rng.random() < (0.9 if provider == "good" else 0.3)),
            "testIdx": test,
            "promptIdx": prompts.index(prompt),
            "vars": {"q": f"q{test}"},
            "prompt": {"raw": prompt, "label": prompt},
            "provider": {"id": provider},
        }
        for test in range(60)
        for prompt in prompts
        for provider in ("good", "bad")
    ]
    (file,) = written(tmp_path, {"evalId": "e", "results": {"version": 3, "results": results}}, name="output.json")
    said = refused("rank", file)
    offered = said.partition("choose one of success,'")[2].partition("'")[0]
    assert prompts[0].startswith(offered)
    for name in (f"success,{offered}", "success,0", f"success,{prompts[0]}"):
        assert [each["model"] for each in answer("rank", file, "--score", name)["models"]] == ["good", "bad"]


def test_labels_that_cannot_be_read_are_bad_input(tmp_path, frames, refused):
    frames[0].drop(columns="label").to_csv(tmp_path / "a.csv", index=False)
    assert "--labels: " in refused("compare", *[str(tmp_path / "a.csv")] * 2, "--labels", tmp_path / "none.csv")


def test_junit_is_read_with_the_failures_errors_and_skips_of_its_cases(tmp_path, refused):
    def suite(outcomes):
        inner = {
            "fail": "<failure message='x'>why</failure>",
            "error": "<error message='no set-up'/>",
            "skip": "<skipped/>",
            "off": "<disabled/>",
            "ignored": "<ignored/>",
            "named": "<j:Failure xmlns:j='x'/>",
            "held": "<properties><property name='Outcome' value='Failed'/></properties>",
            "pass": "<properties><property name='owner' value='failed'/></properties>",
        }
        states = {
            "lost": "outcome='Failed'",
            "false": "success='False' executed='True'",
            "not run": "status='NotRun' result='suppressed'",
            "pass": "status='run'",
        }
        cases = (
            f"<testcase classname='t' name='q[{k}]' {states.get(each, '')}>{inner.get(each, '')}</testcase>"
            for k, each in outcomes
        )
        return f"<?xml version='1.0' encoding='utf-8'?><testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>"

    first = ["pass", "fail", "error", "pass"] * 5
    second = ["pass", "pass", "skip", "fail"] * 5
    files = written(tmp_path, *(suite(enumerate(each)) for each in (first, second)), name="r.xml")
    assert "5 of 20 answers failed ('no set-up'): ids 't::q[2]', 't::q[6]'" in refused("compare", *files)
    assert accuracies(compared(tmp_path, files, "--unscored", "wrong")) == [(0.5, 0.5)]
    assert accuracies(compared(tmp_path, files, "--unscored", "drop")) == [(10 / 15, 10 / 15)]
    for lost, not_run, off in (
        ("lost", "not run", "off"),
        ("false", "not run", "ignored"),
        ("named", "not run", "off"),
        ("held", "not run", "off"),
    ):
        others = [
            [{"fail": lost, "error": not_run, "skip": off}.get(word, word) for word in of] for of in (first, second)
        ]
        ended = suite(enumerate(others[1])).replace("</testsuite>", "<error message='crashed'/></testsuite>")
        stated = ended.replace("<testsuite>", "<testsuite tests='21' failures='9'>")
        files = written(tmp_path, suite(enumerate(others[0])), stated, name="g.xml")
        assert "5 of 20 answers failed ('notrun'): ids 't::q[2]', 't::q[6]'" in refused("compare", *files)
        found = compared(tmp_path, files, "--unscored", "drop")
        assert accuracies(found) == [(10 / 15, 10 / 15)]
        assert "a suite ended in an error, 'crashed'; absent tests are not counted" in str(found["notes"])
        assert "states 21 tests and contains 20; the others are not counted" in str(found["notes"])
        assert "states 9 failures and contains" in str(found["notes"])
    bomb = '<?xml version="1.0"?>\n<testsuite name="x"><testcase name="a">'
    for text, said in ((bomb, "cannot be read as XML"), (f"<!DOCTYPE a [<!ENTITY b 'c'>]>{bomb}", "looks like HTML")):
        assert said in refused("compare", *written(tmp_path, text, text, name="b.xml"))


def test_the_lines_of_trec_eval_are_measures_of_queries_without_those_of_all(tmp_path):
    rng = np.random.default_rng(3)
    values = rng.random((2, 25)).round(4)
    texts = [
        "".join(f"{'map':22s}\t{query}\t{value:.4f}\n" for query, value in enumerate(each)) + f"{'map':22s}\tall\t0.9\n"
        for each in values
    ]
    (row,) = compared(tmp_path, written(tmp_path, *texts, name="r.txt"))["rows"]
    assert (row["baseline"], row["candidate"]) == pytest.approx(tuple(values.mean(axis=1)))
    assert row["n"] == 25


def test_arrays_of_one_npz_and_a_zip_of_one_table_are_read(tmp_path, frames):
    for number, frame in enumerate(frames):
        arrays = {name: frame[name].to_numpy() for name in ("label", "prediction")}
        np.savez(tmp_path / f"{number}.npz", **arrays, embedding=np.ones((60, 3)))
        frame.to_csv(tmp_path / f"{number}.csv.zip", index=False)
        with zipfile.ZipFile(tmp_path / f"{number}.csv.zip", "a") as archive:
            archive.writestr(f"__MACOSX/._{number}.csv", b"\x00\x05\x16\x07")  # as macOS packs a file
    found = [[tmp_path / f"{number}.{form}" for number in (0, 1)] for form in ("npz", "csv.zip")]
    assert accuracies(compared(tmp_path, found[0], "--by-position")) == of(frames)
    assert accuracies(compared(tmp_path, found[1])) == of(frames)


def test_what_excel_writes_is_read_where_it_can_mean_one_thing(tmp_path, refused):
    rng = np.random.default_rng(4)
    score = rng.random(40).round(4)
    score[:2] = 4.140850667574655e-09, 1e-300
    frame = pd.DataFrame({"id": range(40), "score": score})
    text = frame.to_csv(index=False, sep=";", decimal=",")
    assert "4,140850667574655e-09" in text
    files = written(tmp_path, text, f"sep=;\r\n{text}", name="p.csv")
    (row,) = compared(tmp_path, files, "--score", "score")["rows"] or [None]
    assert row["baseline"] == row["candidate"] == pytest.approx(frame["score"].mean())
    thousands = "id;score\n" + "".join(f"{row};{row + 1},250\n" for row in range(40))
    assert "line 2: column 'score': '1,250' is not valid; expected a number" in refused(
        "compare", *written(tmp_path, thousands, text, name="t.csv"), "--score", "score"
    )


def test_words_of_verdicts_are_marks_and_names_within_the_rows_are_refused(tmp_path, frames, refused):
    words = [np.where(frame["label"] == frame["prediction"], "Passed", "failed") for frame in frames]
    texts = [frame[["id"]].assign(correct=each).to_csv(index=False) for frame, each in zip(frames, words, strict=True)]
    assert accuracies(compared(tmp_path, written(tmp_path, *texts, name="p.csv"), "--score", "correct")) == [
        pytest.approx(of(frames)[0])
    ]
    twice = [frame[:30].to_csv(index=False) + frame[30:].to_csv(index=False) for frame in frames]
    assert "line 32: repeats the names of the columns" in refused("compare", *written(tmp_path, *twice, name="q.csv"))


def test_names_that_are_missing_are_offered_with_the_option_that_takes_them(tmp_path, frames, refused):
    texts = [frame.rename(columns={"prediction": "said", "label": "what"}).to_csv(index=False) for frame in frames]
    files = written(tmp_path, *texts, name="p.csv")
    assert "--prediction COLUMN of 'said', or --score NAME" in refused("compare", *files, "--label", "what")
    assert "expected --label COLUMN of 'what', --labels FILE" in refused("compare", *files, "--prediction", "said")
    assert "--labels: " + str(files[0]) in (
        said := refused("compare", *files, "--prediction", "said", "--labels", files[0])
    )
    assert "expected --label COLUMN of 'what', 'said'\n" in said


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("kind", "expected --by-position, for the same rows in the same order or --id COLUMN of 'kind'"),
        ("ID", "did you mean 'ID' (--id ID)?"),
    ],
)
def test_a_column_is_offered_as_the_ids_where_its_name_has_the_word(tmp_path, frames, refused, name, wanted):
    files = written(tmp_path, *(each.rename(columns={"id": name}).to_csv(index=False) for each in frames), name="p.csv")
    assert f"column 'id' was not found; {wanted}" in refused("compare", *files)


def test_an_object_of_objects_by_id_is_a_table_of_their_keys(tmp_path, refused):
    results = [{f"i{k}": {"resolved": k % m > 0, "tests": 3} for k in range(60)} for m in (6, 3)]
    files = written(tmp_path, *results)
    assert "column 'label' was not found" in (said := refused("compare", *files))
    assert "--label COLUMN of 'resolved', 'tests', --labels FILE, a file of labels, or --score NAME" in said
    (row,) = compared(tmp_path, files, "--score", "resolved", code=1)["rows"]
    assert (row["baseline"], row["candidate"]) == (pytest.approx(50 / 60), pytest.approx(40 / 60))


def test_scores_beside_labels_of_known_names_are_probabilities(tmp_path, frames):
    rng = np.random.default_rng(5)
    tables = [frame[["label"]].rename(columns={"label": "y_true"}).assign(y_score=rng.random(60)) for frame in frames]
    files = written(tmp_path, *(table.to_csv(index=False) for table in tables), name="p.csv")
    found = compared(tmp_path, files, "--by-position", "--score", "y_score", "--positive", "1")
    assert [row["measure"] for row in found["rows"]] == ["auc"]


def test_deepevals_metrics_that_pass_below_their_thresholds_are_costs(tmp_path):
    scores = ([0.1, 0.9] * 10, [0.8, 0.9] * 10)
    cases = [[deepeval_case(row, (s,), passes=operator.le) for row, s in enumerate(of_model)] for of_model in scores]
    files = written(tmp_path, *({"testCases": items} for items in cases))
    (row,) = compared(tmp_path, files, "--score", "Answer Relevancy", code=1)["rows"]
    assert row["lower_is_better"]
    assert row["verdict"] == "fail"


def test_a_log_of_one_model_says_what_its_prompts_are(tmp_path, refused):
    results = [{"promptIdx": p, "testIdx": t, "success": True, "score": 1, "vars": {"q": t}, "provider": {"id": "m"},
                "prompt": {"label": f"p{p}", "raw": "x"}} for p in range(2) for t in range(12)]  # fmt: skip
    (file,) = written(tmp_path, {"evalId": "e", "results": {"version": 3, "results": results}})
    assert "choose one of success,p0, success,p1 (--score NAME)" in refused("rank", file)


def test_rows_without_a_value_are_a_slice_and_not_a_group(tmp_path, answer, refused):
    rows = pd.DataFrame({"id": range(60), "label": [0, 1] * 30, "prediction": [0] * 60, "part": ["a", "b", None] * 20})
    path, other = tmp_path / "a.csv", tmp_path / "b.csv"
    rows.to_csv(path, index=False)
    rows.assign(prediction=1).to_csv(other, index=False)
    sizes = {row["slice"]: row["n"] for row in answer("compare", path, other, "--slice", "part")["rows"]}
    assert sizes == {"all rows": 60, "part = a": 20, "part = b": 20, "part = (missing)": 20}
    assert "column 'part' is empty; expected a value" in refused("compare", path, other, "--group", "part")


def twice(entries):
    """An object of JSON with a key for each entry, whether or not it is there twice."""
    return "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in entries) + "}"


@pytest.mark.parametrize("form", ["rows by id", "predictions by id", "columns", "evalplus", "swe-bench"])
def test_a_key_that_is_twice_in_an_object_is_refused_and_not_the_last_one_taken(
    tmp_path, frames, capsys, refused, form
):
    def text(frame, repeated):
        rows = frame.to_dict(orient="records")
        rows += [{**rows[0], "prediction": 1 - rows[0]["prediction"]}] * repeated
        if form == "columns":
            names = [(name, {str(k): row[name] for k, row in enumerate(rows)}) for name in frame.columns]
            return twice(names + [("prediction", names[2][1])] * repeated)
        if form == "evalplus":
            tasks = [(row["id"], [{"base_status": "pass" if row["prediction"] else "fail"}]) for row in rows]
            return f'{{"date": "2026-11-27", "hash": "a", "eval": {twice(tasks)}}}'
        if form == "swe-bench":
            return twice([(f"a__{row['id']}-1", {"resolved": bool(row["prediction"])}) for row in rows])
        return twice([(row["id"], row if form == "rows by id" else row["prediction"]) for row in rows])

    truth = written(tmp_path, frames[0][["id", "label"]].to_csv(index=False), name="truth.csv")
    options = ["--labels", str(truth[0])] if form == "predictions by id" else []
    options += ["--score", "base"] if form == "evalplus" else []
    good = written(tmp_path, *(text(frame, 0) for frame in frames))
    assert main(["compare", *map(str, good), *options]) in (0, 1)
    bad = written(tmp_path, *(text(frame, k) for k, frame in enumerate(frames)), name="bad.json")
    capsys.readouterr()
    complaint = refused("compare", *bad, *options)
    key = {"columns": "prediction", "swe-bench": "a__q0-1"}.get(form, "q0")
    assert complaint == f"sigstats: {bad[1]}: key {key!r} appears more than once\n"


def test_an_id_with_two_labels_in_the_file_of_labels_is_refused(tmp_path, frames, refused):
    files = written(tmp_path, *(frame[["id", "prediction"]].to_csv(index=False) for frame in frames), name="p.csv")
    truth = frames[0][["id", "label"]]
    again = pd.concat([truth, truth.iloc[:1]])
    unlike = pd.concat([again, truth.iloc[:1].assign(label=1 - truth["label"][0])])
    same, other = written(tmp_path, *(each.to_csv(index=False) for each in (again, unlike)), name="truth.csv")
    assert accuracies(compared(tmp_path, files, "--labels", str(same))) == of(frames)
    assert f"{files[0]}: id 'q0' has several labels in {other}; give each row one label" in refused(
        "compare", *files, "--labels", other
    )


@pytest.mark.parametrize("kind", ["numbers", "truth values"])
def test_classes_beside_empty_fields_are_spelled_as_without_them(tmp_path, frames, kind):
    """Pandas writes whole numbers of which one is missing as 1.0; a prediction that is missing changes no other."""
    files = []
    for number, frame in enumerate(frames):
        given = frame.assign(part=(np.arange(60) % 2).astype(float))
        given["prediction"] = given["prediction"].astype(bool if kind == "truth values" else float).astype(object)
        if number:
            given.loc[:2, "prediction"] = None
        else:
            given["part"] = given["part"].astype("Int64")
        given.loc[5, "part"] = None
        files += written(tmp_path, given.to_csv(index=False), name=f"{number}.csv")
    found = compared(tmp_path, files, "--unscored", "wrong", "--slice", "part")
    right = [(frame["label"] == frame["prediction"]).to_numpy().copy() for frame in frames]
    right[1][:3] = False
    parts = [np.ones(60, bool), np.arange(60) == 5, *(np.arange(60) % 2 == k for k in (0, 1))]
    parts[3][5] = False
    rows = {row["slice"]: (row["n"], row["baseline"], row["candidate"]) for row in found["rows"]}
    for name, part in zip(("all rows", "part = (missing)", "part = 0", "part = 1"), parts, strict=True):
        means = (None, None) if part.sum() < 10 else tuple(pytest.approx(each[part].mean()) for each in right)
        assert rows[name] == (part.sum(), *means)


def test_labels_of_another_file_are_those_that_the_file_has_itself(tmp_path, frames, capsys):
    """A file of labels of another data set has the same ids 0, 1, 2 ..."""
    files = written(tmp_path, *(frame.to_csv(index=False) for frame in frames), name="p.csv")
    truth = frames[0][["id", "label"]].sample(frac=1, random_state=1)
    blank = written(tmp_path, *(frame.assign(label=None).to_csv(index=False) for frame in frames), name="blank.csv")
    other = truth.assign(label=np.where(truth["id"] == "q7", 1 - truth["label"], truth["label"]))
    same, unlike = written(tmp_path, truth.to_csv(index=False), other.to_csv(index=False), name="truth.csv")
    for each in (files, blank):
        assert accuracies(compared(tmp_path, each, "--labels", str(same))) == of(frames)
    assert main(["compare", *map(str, files), "--labels", str(unlike)]) == 2
    was = int(frames[0]["label"][7])
    complaint = (
        f"{files[0]}, line 9: column 'label': '{was}' is not the value in {unlike}, '{1 - was}'; expected the same"
    )
    assert complaint in capsys.readouterr().err
    renamed = [frame.rename(columns={"label": "mine"}).to_csv(index=False) for frame in frames]
    mine = written(tmp_path, *renamed, name="mine.csv")
    assert main(["compare", *map(str, mine), "--labels", str(unlike)]) in (0, 1)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_rows_whose_ids_are_in_another_order_are_not_joined_by_position(tmp_path, frames, capsys, refused, kind):
    """Where all rows have one label, or none, the labels do not tell."""
    a, b = (frame.assign(label=1) for frame in frames)
    files = [tmp_path / f"{name}.{kind}" for name in ("a", "b", "shuffled", "others")]
    given = (a, b, b.sample(frac=1, random_state=1), b.assign(id=[f"other {row}" for row in range(60)]))
    for path, frame in zip(files, given, strict=True):
        save(frame, path)
    assert main(["compare", str(files[0]), str(files[2]), "--by-position"]) == 2
    complaint = f"{files[2]}: has the ids of {files[0]} in another order; sort one file, or omit --by-position"
    assert complaint in capsys.readouterr().err
    for other in (files[1], files[3]):  # ids of each model's own say nothing
        assert accuracies(compared(tmp_path, (files[0], other), "--by-position")) == of((a, b))
    for path, frame in zip(files, given, strict=True):  # the same where the column is not known to be that of ids
        save(frame.rename(columns={"id": "patient"}), path)
    assert "expected the same questions, or --id patient" in refused("compare", files[0], files[2], "--by-position")
    for other in (files[1], files[3]):
        assert accuracies(compared(tmp_path, (files[0], other), "--by-position")) == of((a, b))


#: How a frame of polars, which has NaN and no value apart, is written; Arrow's file without pyarrow.
FORMATS = {
    "jsonl": pl.DataFrame.write_ndjson,
    "json": pl.DataFrame.write_json,
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
    "zstd.arrow": lambda table, path: table.write_ipc(path, compression="zstd"),
    "arrows": pl.DataFrame.write_ipc_stream,
}


@pytest.fixture
def measurements():
    rng = np.random.default_rng(3)
    label = rng.integers(1, 1000, 60) / 8
    columns = {"id": [f"q{row}" for row in range(60)], "label": label, "age": rng.permutation(60) / 8}
    return [
        pl.DataFrame(columns | {"prediction": label + rng.normal(size=60), "mark": rng.integers(1, 4, 60) / 4})
        for _ in range(2)
    ]


def results(tmp_path, tables, kind, write, *options, code=None):
    files = [tmp_path / f"{number}.{kind}" for number in range(2)]
    for table, path in zip(tables, files, strict=True):
        write(table, path)
    return compared(tmp_path, files, *options, code=code)["rows"]


@pytest.mark.long
@pytest.mark.parametrize("kind", FORMATS)
def test_measurements_and_bins_are_those_of_the_same_table_as_csv(tmp_path, measurements, kind):
    options = ["--measure", "neg-mae", "--score-range", "0", "200", "--slice", "age=2"]
    as_text = results(tmp_path, measurements, "csv", pl.DataFrame.write_csv, *options)
    found = results(tmp_path, measurements, kind, FORMATS[kind], *options)
    assert [row["baseline"] for row in found] == [row["baseline"] for row in as_text]
    assert [row["low"] for row in found] == [row["low"] for row in as_text]


@pytest.mark.long
@pytest.mark.parametrize("kind", FORMATS)
def test_the_rows_of_one_model_are_selected_from_any_format(tmp_path, measurements, kind):
    both = pl.concat([frame.with_columns(model=pl.lit(name)) for frame, name in zip(measurements, "ab", strict=True)])
    FORMATS[kind](both, path := tmp_path / f"both.{kind}")
    options = ["--measure", "neg-mae", "--score-range", "0", "200"]
    rows = compared(tmp_path, [path], "--model", "a", "--model", "b", *options)["rows"]
    assert rows == results(tmp_path, measurements, "csv", pl.DataFrame.write_csv, *options)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "empty", "unscored"),
    [
        *((kind, empty, "wrong") for kind in FORMATS for empty in ("", math.nan, None)),
        *(("parquet", empty, unscored) for empty in (math.nan, None) for unscored in ("drop", "refuse")),
    ],
)
def test_a_mark_that_is_empty_is_none(tmp_path, measurements, refused, kind, empty, unscored):
    def emptied(value, kind):
        return [table.with_columns(mark=pl.Series([value, *table["mark"].cast(kind)[1:]])) for table in measurements]

    options, write = ["--score", "mark", "--measure", "mean-score", "--unscored", unscored], FORMATS[kind]
    tables = emptied(empty, pl.String if empty == "" else pl.Float64)
    if unscored == "refuse":
        write(tables[0], tmp_path / "a")
        (said,) = refused("compare", tmp_path / "a", tmp_path / "a", *options).splitlines()
        assert "1 of 60 rows have no 'mark': id 'q0'; add --unscored wrong, which counts them as wrong, or " in said
    else:
        as_text = results(tmp_path, emptied(None, pl.Float64), "csv", pl.DataFrame.write_csv, *options)
        assert results(tmp_path, tables, kind, write, *options) == as_text


@pytest.mark.parametrize(
    ("marks", "option"), [([0.5, 1], "higher"), ([0.5, 1], "lower"), ([3, 430], "higher"), ([-2, 0.5], "higher")]
)
def test_a_mark_may_count_as_wrong_only_where_zero_is_the_worst(tmp_path, measurements, refused, marks, option):
    """The advice is what the command accepts."""
    measurements[0].with_columns(mark=pl.Series([None, *marks * 29, 0.5], strict=False)).write_parquet(tmp_path / "a")
    command = ["compare", tmp_path / "a", tmp_path / "a", f"--{option}-is-better", "mark", "--measure", "mean-score"]
    advised = "--unscored wrong" in refused(*command)
    assert advised == (option == "higher" and min(marks) >= 0 and max(marks) <= 1)
    assert advised or "'wrong' is not valid for scores from" in refused(*command, "--unscored", "wrong")


@pytest.mark.parametrize("kind", ["csv", *FORMATS])
def test_empty_text_and_white_space_count_but_in_text(tmp_path, kind):
    columns = {"id": range(60), "prediction": ["x", "y"] * 30, "on": [True, False] * 30, "part": ["", "u"] * 30}
    tables = [
        pl.DataFrame(columns | {"label": ["x", " y"] * 30}).sample(60, shuffle=True, seed=seed) for seed in (1, 2)
    ]
    options = ["--measure", "accuracy", "--slice", "on", "--slice", "part"]
    rows = results(tmp_path, tables, kind, FORMATS.get(kind, pl.DataFrame.write_csv), *options)
    y, empty = (1, "(missing)") if kind == "csv" else (0, "")
    right = {"all rows": (1 + y) / 2, "on = true": 1, "on = false": y, f"part = {empty}": 1, "part = u": y}
    assert {row["slice"]: row["baseline"] for row in rows} == right


def test_an_infinite_mark_is_named(tmp_path, measurements, refused):
    table = measurements[0].with_columns(mark=pl.Series([0.5, math.inf, *[0.25] * 58]))
    table.write_parquet(tmp_path / "a.parquet")
    assert "row 1 (from 0): column 'mark': inf is not finite; expected a number" in refused(
        "compare", *[str(tmp_path / "a.parquet")] * 2, "--score", "mark"
    )
