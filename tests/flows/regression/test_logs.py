"""Regression studies of logs of language models: the keys say which score, filter and epochs are meant."""

import html
import json

import numpy as np
import pandas as pd
import pytest

from sigstats._common.numerals import count_of
from sigstats.flows.commands import main
from sigstats.flows.regression.pair import identity_of, order_of, read_pair
from sigstats.flows.regression.study import RegressionStudy

from ...sigstats.files.predictions.logs import harness_log, inspect_log
from ..conftest import study_file

STUDY = """\
kind = "regression"
baseline = "a.*"
candidate = "b.*"
"""


def evaluated(folder, text):
    """The exit code and the JSON of an evaluation."""
    path = study_file(folder, text, "logs.toml")
    code = main(["run", str(path), "--output", str(folder / "out"), "--quiet"])
    found = list((folder / "out/comparisons").glob("*.json"))
    return code, json.loads(found[0].read_text()) if found else None


def test_the_score_and_filter_that_are_named_are_compared(tmp_path, capsys):
    def documents(loose):
        return [
            {"doc_id": n // 2, "filter": ("strict", "loose")[n % 2], "acc": 1, "f1": loose if n % 2 else 1.0}
            for n in range(80)
        ]

    harness_log(tmp_path / "a.jsonl", documents(1.0))
    harness_log(tmp_path / "b.jsonl", documents(0.0))
    assert evaluated(tmp_path, STUDY)[0] == 2
    assert "choose one of acc,strict, acc,loose" in capsys.readouterr().err
    code, found = evaluated(tmp_path, STUDY + '[columns]\nscore = "f1"\nfilter = "loose"\n')
    assert (code, found["rows"][0]["difference"], found["n"]) == (1, -1, 40)
    assert found["subjects"]["candidate"] == {"metric": "f1", "filter": "loose", "epochs": "1"}


def test_epochs_and_answers_without_a_score_are_as_in_compare(tmp_path, capsys):
    log = [(n, e, {"match": n % 3 > 0}) for n in range(20) for e in (1, 2)]
    inspect_log(tmp_path / "a.json", log)
    inspect_log(tmp_path / "b.json", [*log[:6], (3, 1, {"match": None}), *log[7:]])
    assert evaluated(tmp_path, STUDY)[0] == 2
    assert "1 of 40 answers have no score 'match': id '3 epoch 1'" in capsys.readouterr().err
    code, found = evaluated(tmp_path, STUDY + 'unscored = "drop"\n')
    assert (code, found["n"], found["items"]) == (0, 39, 20)


def test_a_column_of_epochs_makes_repeated_ids_answers_to_one_item(tmp_path):
    frame = pd.DataFrame({"id": np.repeat(np.arange(20), 3), "label": 1, "try": [1, 2, 3] * 20})
    for name in "ab":
        frame.assign(prediction=np.arange(60) % 5 > 0).astype(int).to_csv(tmp_path / f"{name}.csv", index=False)
    code, found = evaluated(tmp_path, STUDY + '[columns]\nepoch = "try"\n')
    assert (code, found["n"], found["items"]) == (0, 60, 20)


@pytest.mark.parametrize("allow", [False, True])
def test_another_task_is_refused_unless_the_study_allows_it(tmp_path, capsys, allow):
    for name in "ab":
        inspect_log(tmp_path / f"{name}.json", [(n, 1, {"match": 1}) for n in range(20)], task=name)
    code, _ = evaluated(tmp_path, STUDY + ("allow_different_tasks = true\n" if allow else ""))
    assert code == (0 if allow else 2)
    assert allow or "task 'b' is not that of" in capsys.readouterr().err


def test_a_study_without_the_keys_of_logs_has_the_identity_it_had(tmp_path):
    """Histories that were stored before there were these keys know their evaluations again."""
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("id,label,prediction\n1,x,x\n2,y,y\n")
    study = RegressionStudy(
        kind="regression", name="n", baseline="a.csv", candidate="b.csv", looks={"spending": "each"}
    )
    pair = read_pair(order_of(study, tmp_path), str(tmp_path / "b.csv"))
    assert identity_of(study, *pair.digests) == "8d6b0a8cb47427a6c7ebb9321009045794bb033c5f485e64421a3736f2be1a34"
    for change in ({"unscored": "drop"}, {"rule": study.rule.model_copy(update={"relative_effect": 0.0})}):
        changed = study.model_copy(update=change)
        assert identity_of(changed, *pair.digests) != identity_of(study, *pair.digests)


def test_marks_of_a_known_range_in_the_rows_of_an_object(tmp_path, capsys):
    for name, low in (("a", 3), ("b", 2)):
        rows = [{"id": n, "label": "x", "grade": low + n % 7} for n in range(40)]
        (tmp_path / f"{name}.json").write_text(json.dumps({"made": "today", "results": rows}))
    text = STUDY + 'measures = ["mean-score"]\nRANGE[columns]\nhigher_is_better = ["grade"]\nrows = "results"\n'
    text += '[looks]\nspending = "each"\n'
    _, without = evaluated(tmp_path, text.replace("RANGE", ""))
    assert "limits of a row are not known" in without["rows"][0]["note"]
    (tmp_path / "out/comparisons").rename(tmp_path / "before")
    code, found = evaluated(tmp_path, text.replace("RANGE", "score_range = [1, 10]\n"))
    assert (code, found["rows"][0]["test"]) == (1, "unseen row beside 40 rows")
    assert evaluated(tmp_path, text.replace("RANGE", "score_range = [10, 1]\n"))[0] == 2
    assert "score_range: [10.0, 1.0] is not valid; expected two numbers" in capsys.readouterr().err


def test_an_inconclusive_verdict_ends_with_exit_code_1_where_the_study_says_so(tmp_path):
    for name in "ab":
        inspect_log(tmp_path / f"{name}.json", [(n, 1, {"match": 1}) for n in range(20)], model=name)
    assert evaluated(tmp_path, STUDY)[0] == 0
    code, found = evaluated(tmp_path, STUDY + 'fail_on = "inconclusive"\n')
    assert (code, found["verdict"]) == (1, "inconclusive")


def test_baseline_and_candidate_have_models_of_their_own_in_one_file_or_two(tmp_path):
    results = [
        {"success": who != "new" or n > 9, "testIdx": n, "promptIdx": 0, "provider": who, "vars": {"q": n}}
        for n in range(30)
        for who in ("old", "new")
    ]
    for name in "ab":
        log = {"evalId": "e", "results": {"version": 3, "results": results}}
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    models = '[columns]\nmodel = "old"\ncandidate_model = "new"\n'
    for text in (STUDY, STUDY.replace('"a.*"', '"b.*"')):
        code, found = evaluated(tmp_path, text + models)
        assert (code, found["rows"][0]["difference"]) == (1, pytest.approx(-1 / 3))
        assert [found["subjects"][side]["model"] for side in ("baseline", "candidate")] == ["old", "new"]


def test_several_scores_stand_in_the_history_by_their_names(tmp_path):
    for name, low in (("a", 1.0), ("b", 0.0)):
        harness_log(tmp_path / f"{name}.jsonl", [{"acc": 1, "f1": low} for _ in range(40)])
    code, found = evaluated(tmp_path, STUDY + '[columns]\nscore = ["acc", "f1"]\n')
    assert (code, [row["score"] for row in found["rows"]]) == (1, ["acc", "f1"])
    history = pd.read_parquet(tmp_path / "out/history")
    assert list(history["measure"]) == ["accuracy of acc", "accuracy of f1"]
    assert "accuracy of f1" in (tmp_path / "out/report.html").read_text()


@pytest.mark.long
@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ('score = "confidence"', ["--score", "confidence"]),
        ('score = "grade"', ["--score", "grade"]),
        ('score = ["confidence", "cost_usd"]', ["--score", "confidence", "--score", "cost_usd"]),
        ('lower_is_better = ["cost_usd"]', ["--lower-is-better", "cost_usd"]),
        ("", []),
    ],
)
def test_without_measures_those_of_compare_are_compared(tmp_path, printed, columns, options):
    """A score that is named is compared, whether or not a measure of it is."""
    rng = np.random.default_rng(0)
    label = np.arange(60) % 2
    for name, shift in (("a", 0.4), ("b", 0.0)):
        frame = pd.DataFrame({"id": range(60), "label": label, "prediction": np.where(rng.random(60) < 0.1, 0, label)})
        frame["confidence"] = (rng.random(60) * 0.5 + shift * label).round(3)
        frame["cost_usd"] = rng.gamma(2, 1, 60).round(3)
        if "grade" in columns:
            frame = frame[["id"]].assign(grade=rng.integers(1, 10, 60) / 10)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    if "grade" in columns:
        columns, options = f'{columns}\nhigher_is_better = ["grade"]', [*options, "--higher-is-better", "grade"]
    code, found = evaluated(tmp_path, f'{STUDY}[columns]\n{columns}\n[looks]\nspending = "each"\n')
    assert count_of(len({row["measure"] for row in found["rows"]}), "measure") in printed(
        "plan", tmp_path / "logs.toml"
    )
    files = [str(tmp_path / f"{name}.csv") for name in "ab"]
    assert main(["compare", *files, *options, "--json", str(tmp_path / "found.json")]) == code
    expected = json.loads((tmp_path / "found.json").read_text())
    assert found["rows"] == expected["rows"]
    page = (tmp_path / "out/report.html").read_text()
    assert html.escape(expected["rule"]["in_words"]) in page
