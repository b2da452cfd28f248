"""Measures that are functions of a user's, and costs of wrong predictions, in benchmark and significance studies."""

import json
import sys

import numpy as np
import pytest

import sigstats
from sigstats.flows.cli import main
from sigstats.tasks import own_code

from .conftest import forget

RIGHT, PAID = "netpackage.measures:right", "netpackage.measures:paid"
COSTS = {true: {said: 10 if true == "c" else 1 for said in "abc" if said != true} for true in "abc"}
EXPECTED = f"expected-cost({json.dumps(COSTS)})"
ROWS = [f"{i % 3 + (i * i % 11) / 3} {i * i % 7} {'abc'[i % 3]}" for i in range(40)]


def benchmark(measure="error", measures=(), **more):
    """A study of a few rows of three classes."""
    return {
        "kind": "benchmark",
        "name": "own",
        "datasets": [{"name": "few", "source": "inline", "rows": ROWS}],
        "classifiers": ["naive-bayes", "1-nn"],
        "cross_validation": {"folds": 2},
        "permutation": {"nulls": ["labels"], "resamples": 9, "measure": measure},
        "alpha": 0.2,
        "adjust": "none",
        "measures": list(measures),
        **more,
    }


def run(study, output, **more):
    return sigstats.run_study(study, output=output, cluster="serial", allow=["netpackage"], quiet=True, **more)


def answers_of(result, classifier):
    found = result.predictions(dataset="few", classifier=classifier)
    return found.label.to_numpy(), found.prediction.to_numpy()


@pytest.mark.long
def test_own_functions_and_costs_are_measures_of_a_benchmark(package, tmp_path):
    repeated = {"cross_validation": {"folds": 2, "repeats": 2}, "tests": ["permutation", "corrected-resampled"]}
    result = run(benchmark(PAID, (RIGHT, PAID, EXPECTED, "macro-f1"), **repeated), tmp_path / "out")
    summary = result.summary
    own = summary[summary.test == "permutation-labels"].set_index("classifier")
    ready = run(benchmark(EXPECTED), tmp_path / "ready").summary
    ready = ready[ready.test == "permutation-labels"].set_index("classifier")
    estimates = summary[summary.test == "measures"].set_index(["measure", "classifier"])
    for classifier, row in own.iterrows():
        label, said = answers_of(result, classifier)
        cost = np.where(label == said, 0, np.where(label == "c", 10, 1)).mean()
        assert (row.estimate, row.alternative, row.measure) == (pytest.approx(cost), "less", PAID)
        assert (row.p_value, row.null_mean) == (ready.p_value[classifier], pytest.approx(ready.null_mean[classifier]))
        assert estimates.estimate[RIGHT, classifier] == pytest.approx((label == said).mean())
        for name in (f"neg-{PAID}", f"neg-{EXPECTED}"):  # greater is better in all rows of measures
            assert estimates.estimate[name, classifier] == pytest.approx(-cost)
    pairs = summary[summary.test == "measured-pairs"].set_index("measure")
    by_costs = pairs.loc[f"difference of neg-{EXPECTED} (a - b)"]
    a, b = (estimates.estimate[f"neg-{EXPECTED}", by_costs[side]] for side in "ab")
    assert by_costs.estimate == pytest.approx(a - b)
    assert set(summary[summary.test == "resampled-measures"].measure) >= {RIGHT, f"neg-{PAID}", f"neg-{EXPECTED}"}


@pytest.mark.long
def test_a_report_needs_no_code_and_a_changed_function_is_called_again(package, tmp_path, monkeypatch, capsys):
    output = tmp_path / "out"
    study = benchmark(RIGHT, (RIGHT,))
    before = run(study, output).summary
    monkeypatch.setattr(own_code, "_ALLOWED", {})
    forget()
    assert main(["report", str(output)]) == 0
    assert "netpackage" not in sys.modules
    (output / "summary.parquet").unlink()
    assert main(["report", str(output)]) == 2
    assert "right (--allow netpackage); run the study again" in capsys.readouterr().err
    file = package / "measures.py"
    file.write_text(file.read_text().replace("np.average(y == prediction,", "0.5 * np.average(y == prediction,"))
    forget()
    after = run(study, output).summary
    for test in ("permutation-labels", "measures"):
        both = (summary[summary.test == test].estimate.to_numpy() for summary in (before, after))
        assert next(both) == pytest.approx(2 * next(both))


def test_nothing_is_imported_that_nobody_allowed(package, tmp_path):
    outcomes = [{"name": "o", "a": "x", "b": "y", "counts": [1] * 8, "measure": PAID}]
    for study in (
        benchmark(PAID),
        benchmark(measures=[PAID]),
        {"kind": "significance", "name": "s", "outcomes": outcomes},
    ):
        with pytest.raises(ValueError, match=r"measure: 'netpackage\.measures:paid' .* --allow netpackage"):
            sigstats.run_study(study, output=tmp_path / "out", cluster="serial", quiet=True)
    assert "netpackage" not in sys.modules


@pytest.mark.long
def test_joint_outcomes_are_resampled_by_costs_and_own_functions(package, tmp_path):
    counts = [40, 12, 5, 3, 2, 6, 9, 123]
    outcomes = [
        {"name": name, "a": "x", "b": "y", "counts": counts, "measure": measure}
        for name, measure in {
            "own": PAID,
            "costs": "expected-cost(fn=10,fp=1)",
            "right": RIGHT,
            "accuracy": "accuracy",
        }.items()
    ]
    summary = run({"kind": "significance", "name": "s", "outcomes": outcomes}, tmp_path / "out").summary
    rows = summary.set_index("dataset")
    e = np.array(counts)
    miss_a, miss_b = e[1] + e[3], e[2] + e[3]
    false_a, false_b = e[4] + e[6], e[4] + e[5]
    wanted = (10 * (miss_a - miss_b) + false_a - false_b) / e.sum()
    assert rows.estimate["costs"] == pytest.approx(wanted)
    for one, other in (("own", "costs"), ("right", "accuracy")):
        for column in ("estimate", "estimate_low", "estimate_high", "p_value"):
            assert rows[column][one] == pytest.approx(rows[column][other])
