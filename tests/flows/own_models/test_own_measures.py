"""Measures that are functions of a user's, and costs of wrong predictions, in benchmark and significance studies."""

import json
import sys

import numpy as np
import pytest

import sigstats
from sigstats.flows.commands import main
from sigstats.tasks import own_code
from sigstats.tasks.storage import history
from sigstats.tasks.storage.store import Store

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


def run(study, output, allow=("netpackage",)):
    where = {} if study["kind"] == "regression" else {"cluster": "serial"}
    return sigstats.run_study(study, output=output, allow=allow, quiet=True, **where)


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
def test_a_report_needs_no_code_and_a_changed_function_is_called_again(package, tmp_path, monkeypatch, refused):
    output = tmp_path / "out"
    study = benchmark(RIGHT, (RIGHT,))
    before = run(study, output).summary
    monkeypatch.setattr(own_code, "_ALLOWED", {})
    forget()
    assert main(["report", str(output)]) == 0
    assert "netpackage" not in sys.modules
    (output / "summary.parquet").unlink()
    assert "right (--allow netpackage); run the study again" in refused("report", output)
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
        calibration([PAID]),
        {"kind": "regression", "name": "s", "baseline": "a.csv", "candidate": "b.csv", "measures": [PAID]},
    ):
        with pytest.raises(ValueError, match=r"measure: 'netpackage\.measures:paid' .* --allow netpackage"):
            run(study, tmp_path / "out", allow=[])
    assert "netpackage" not in sys.modules


def calibration(measures):
    """A study of the bootstrap of some measures, and of intervals of the first one."""
    populations = [
        {"name": "s", "source": "simulated", "prevalence": [0.4], "recall": [0.7], "precision": [0.7]},
        {"name": "k", "source": "kinds", "kinds": [{"share": 0.5, "label": i, "a": 1 - i, "b": 0} for i in (0, 1)]},
    ]
    tests = [{"test": "bootstrap", "measure": name, "resamples": 99} for name in measures]
    tests += [{"test": "difference-interval", "measure": measures[0], "resamples": 99}]
    return {
        "kind": "calibration",
        "name": "c",
        "populations": populations,
        "tests": tests,
        "sizes": [30],
        "trials": 100,
    }


@pytest.mark.long
def test_own_functions_are_measures_of_a_calibration(package, tmp_path, monkeypatch):
    summary = run(calibration([PAID, "expected-cost(fn=10,fp=1)"]), tmp_path / "out").summary
    own, ready = (group for _, group in summary[summary.test == "calibration"].groupby("method", sort=False))
    assert own.estimate.tolist() == ready.estimate.tolist()
    intervals = summary[summary.test == "performance"].set_index("measure").estimate
    assert intervals["coverage"] >= 0.85  # Binomial(100, .95) is below 86 with a chance below 0.1%
    monkeypatch.setattr(own_code, "_ALLOWED", {})
    forget()
    assert main(["report", str(tmp_path / "out")]) == 0
    assert "netpackage" not in sys.modules


@pytest.mark.long
def test_own_functions_are_measures_of_a_regression_study(package, tmp_path, monkeypatch):
    rng, rows = np.random.default_rng(1), [f"{i},{'abc'[i % 3]}" for i in range(60)]
    for name, right in (("a", 0.9), ("b", 0.4)):
        said = [row[-1] if rng.random() < right else "a" for row in rows]
        lines = [f"{row},{one}" for row, one in zip(rows, said, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,label,prediction", *lines]))
    files = {name: str(tmp_path / f"{file}.csv") for name, file in (("baseline", "a"), ("candidate", "b"))}
    study = {"kind": "regression", "name": "r", **files, "measures": [PAID, RIGHT]}

    def rows_of_all():
        run(study, tmp_path / "out")
        records, _ = history.read(Store(str(tmp_path / "out")))
        return [{row["measure"]: row for row in record.rows} for record in records]

    (first,) = rows_of_all()
    assert {name: row["lower_is_better"] for name, row in first.items()} == {PAID: True, RIGHT: False}
    assert {row["row_verdict"] for row in first.values()} == {"fail"}
    assert len(rows_of_all()) == 1
    monkeypatch.setattr(own_code, "_ALLOWED", {})
    forget()
    assert main(["report", str(tmp_path / "out")]) == 0
    assert "netpackage" not in sys.modules
    file = package / "measures.py"
    file.write_text(file.read_text().replace("np.average(y == prediction,", "0.5 * np.average(y == prediction,"))
    forget()
    first, again = rows_of_all()  # other code is another comparison
    assert first[RIGHT]["baseline_value"] == pytest.approx(2 * again[RIGHT]["baseline_value"])


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
