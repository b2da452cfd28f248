"""Tests of other packages in a calibration study: what they are given, and what is said of what they return."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest

import sigstats
from sigstats.flows.commands import main
from sigstats.joint.events import JointEvents
from sigstats.tasks.calibration import own_tests
from sigstats.tasks.calibration.population import EventPopulation, Population
from sigstats.tasks.engine.guarded import end_idle
from sigstats.tasks.results import Results
from sigstats.tasks.storage.store import Store

from .conftest import forget

CHECKS = "netpackage.checks"

PLAIN = {"params": {}, "vectorised": False}

#: Two systems that differ, on rows of both classes.
SIMULATED = {
    "name": "simulated",
    "source": "simulated",
    "prevalence": [0.4],
    "recall": [0.7],
    "precision": [0.7],
    "difference": [0.1],
    "dependence": [0.3],
}


def calibration(tests, **more):
    """A study of a few small test sets with these tests."""
    sizes = {"sizes": [40], "trials": 150, "alpha": 0.1, "adjust": "none", "seed": 5}
    named = [{"test": f"{CHECKS}:{test}"} if isinstance(test, str) else test for test in tests]
    return {"kind": "calibration", "name": "own", "populations": [SIMULATED], "tests": named, **sizes, **more}


def run(folder, tests, *, name="out", quiet=True, **more):
    """The replicates of each test by its name, and the summary."""
    output = folder / name
    found = sigstats.run_study(
        calibration(tests, **more), output=output, cluster="serial", allow=["netpackage"], quiet=quiet
    )
    results = Results(Store(str(folder / name)))
    cells = [*results.cells("subsample"), *results.cells("own-test")]
    names = [cell.subject["test"].partition(":")[2].partition(" ")[0] or "ready" for cell in cells]
    return {name: results.table(cell) for name, cell in zip(names, cells, strict=True)}, found.summary


@pytest.fixture
def called(package):
    """Calls a function of the package on test sets, in this process."""

    def call(name, drawn, population, *, vectorised=False, **params):
        function = own_tests.find(f"{CHECKS}:{name}", ["netpackage"])
        test = {"params": params, "vectorised": vectorised}
        return own_tests.run_own_test(function, test, drawn, population, np.random.default_rng(1))

    return call


@pytest.mark.long
def test_a_test_written_anew_says_what_ours_says_and_what_is_undefined_is_named(package, tmp_path):
    tests = [{"test": "mcnemar"}, "sign", {"test": f"{CHECKS}:signs", "vectorised": True}, "fails", "draws_globally"]
    tables, summary = run(tmp_path, tests)
    ours = tables["ready"].column("p_value").to_numpy()
    assert 0.1 < np.mean(ours <= 0.1) < 0.9
    rates = summary.set_index("method")
    assert set(rates["measure"]) == {"power"}
    for name in ("sign", "signs"):
        np.testing.assert_allclose(tables[name].column("p_value").to_numpy(), ours, rtol=1e-12)
        assert tables[name].column("advantage").equals(tables["ready"].column("advantage"))
        assert tables[name].column("problem").null_count == 150
        assert rates.loc[f"{CHECKS}:{name}", "estimate"] == np.mean(ours <= 0.1)
    problems = tables["fails"].column("problem").to_pylist()
    assert {problem for problem in problems if problem} == {
        "ZeroDivisionError: the two are equal, as is one row in 3 of 9 test sets",
        "p is NaN",
    }
    assert np.isnan(tables["fails"].column("p_value")).tolist() == [problem is not None for problem in problems]
    row, undefined = rates.loc[f"{CHECKS}:fails"], sum(problem is not None for problem in problems)
    assert row["estimate"] == pytest.approx((150 - undefined) / 150)
    assert f"p is undefined in {undefined} of 150 test sets, which count as not rejected (" in row["note"]
    assert ", and 1 other reason)" in row["note"]
    assert (row["unanswered"], row["without_class"]) == (undefined, 0)  # whatever an error of the package says
    assert len(set(tables["draws_globally"].column("p_value").to_pylist())) == 150


@pytest.mark.parametrize("kind", ["classes", "categories"])
def test_labels_are_class_numbers_or_rows_of_indicators(called, kind):
    labels = ["x", "y", "z", "x", "y", "z", "x"]
    a, b = ["x", "z", "z", "y", "y", "z", "x"], ["y", "y", "z", "x", "z", "z", "z"]
    events = JointEvents.from_predictions(labels, a, b)
    population = EventPopulation("p", replace(events, kind=kind))
    seen = []

    def look(*columns):
        seen.append(columns)
        return 1.0

    own_tests.run_own_test(look, PLAIN, population.counts, population, np.random.default_rng(3))
    columns = seen[0] if kind == "classes" else [column.argmax(axis=1) for column in seen[0]]
    if kind == "categories":
        assert all(column.shape == (7, 3) and (column.sum(axis=1) == 1).all() for column in seen[0])
    rows = [tuple("xyz"[code] for code in row) for row in zip(*columns, strict=True)]
    assert sorted(rows) == sorted(zip(labels, a, b, strict=True))


def test_eight_outcomes_are_labels_and_answers_of_two_classes():
    seen = []
    population = Population(outcomes=(1, 2, 3, 4, 5, 6, 7, 8))
    drawn = np.array([[1, 2, 3, 4, 5, 6, 7, 8]])
    own_tests.run_own_test(
        lambda *columns: seen.append(columns) or 0.5, PLAIN, drawn, population, np.random.default_rng(0)
    )
    made = pd.DataFrame(dict(zip(("label", "a", "b"), seen[0], strict=True)))
    joint = sigstats.JointOutcomes.from_predictions(made["label"], made["a"], made["b"], positive=1)
    assert joint == sigstats.JointOutcomes(*drawn[0].tolist())


def test_rows_come_in_random_order(called):
    """A share of positives in the first half of 400 rows, sorted, would be 1 or 0; its deviation from 1/2 is 0.035."""
    drawn = np.tile([100, 50, 25, 25, 100, 50, 25, 25], (50, 1))
    shares, _ = called("first_half", drawn, Population(outcomes=(1,) * 8))
    assert abs(shares.mean() - 0.5) < 0.01
    assert shares.min() > 0.3
    assert len(set(shares)) > 5


@pytest.mark.long
def test_draws_and_a_stop_depend_on_the_lanes_alone(package, tmp_path):
    """A rate is drawn until it is precise, as that of a ready test, whose replicates are cut into other blocks."""
    draws = {"test": f"{CHECKS}:draws", "params": {"resamples": 3}}
    tables, _ = run(tmp_path, [{"test": "mcnemar"}, "sign", draws], precision=0.03, trials=500)
    assert 100 < tables["sign"].num_rows < 500
    assert tables["ready"].num_rows == tables["sign"].num_rows
    few, _ = run(tmp_path, [draws], trials=30, name="few")
    assert few["draws"].equals(tables["draws"].slice(0, 30))


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ({"test": f"{CHECKS}:nothing"}, r"import path of a function of labels and two predictions"),
        ({"test": f"{CHECKS}:answer"}, r"import path of a function"),
        ({"test": f"{CHECKS}:_rate"}, r"public names"),
        ({"test": "elsewhere:sign"}, r"'elsewhere:sign' is not valid.*--allow elsewhere"),
        ({"test": f"{CHECKS}:sign", "params": {"alpha": 1}}, r"can be called with labels, two predictions and params"),
        ({"test": f"{CHECKS}:sign", "measure": "acuracy"}, r"acuracy"),
        ({"test": f"{CHECKS}:sign", "vectorized": True}, r"did you mean 'vectorised'"),
        ({"test": "mcnemer"}, r"tests\.0.*mcnemar"),
        ({"test": "mcnemar", "metod": "exact"}, r"did you mean 'method'"),
    ],
)
def test_what_is_no_test_is_refused_in_one_line(package, tmp_path, test, message):
    with pytest.raises(ValueError, match=message) as caught:
        run(tmp_path, [test])
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_p_value_for_each_test_set(called):
    drawn, population = np.array([[5, 1, 2, 0, 4, 3, 0, 1]]), Population(outcomes=(1,) * 8)
    found, _ = called("sign", drawn, population)  # only A gets 2 + 3 rows right, only B 1 + 0
    assert found == pytest.approx(2 * binom.cdf(1, 6, 0.5))
    wrong, why = called("too_many", drawn, population)
    assert np.isnan(wrong).all()
    assert why == ["ValueError: it returned 2 p-values for 1 test set"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("0.01", "ValueError: it did not return a number"),
        (None, "ValueError: it did not return a number"),
        (True, "ValueError: it did not return a number"),
        ([b"0.01"], "ValueError: it did not return a number"),
        (np.array(["0.01"], dtype=object), "ValueError: it did not return a number"),
        (np.ma.masked, "p is NaN"),
        (np.ma.array([0.01], mask=[True]), "p is NaN"),
        (float("inf"), "p is not between 0 and 1"),
        (-1e-300, "p is not between 0 and 1"),
    ],
)
def test_what_is_no_p_value_is_undefined(value, said):
    drawn, population = np.array([[5, 1, 2, 0, 4, 3, 0, 1]]), Population(outcomes=(1,) * 8)
    found, why = own_tests.run_own_test(lambda *_: value, PLAIN, drawn, population, np.random.default_rng(1))
    assert np.isnan(found).all()
    assert why == [said]


@pytest.mark.long
@pytest.mark.processes
def test_a_test_without_a_p_value_in_any_test_set_fails_its_own_cells(package, tmp_path):
    """A rate of no rejections would say that its level holds."""
    said = r"p is undefined in the first 100 test sets \(ValueError: it returned 2 p-values for 1 test set\)"
    with pytest.raises(Exception, match=said):
        run(tmp_path, ["sign", "too_many"])
    results = Results(Store(str(tmp_path / "out")))
    done = {cell.subject["test"]: results.table(cell) is not None for cell in results.cells("own-test")}
    assert done == {f"{CHECKS}:sign": True, f"{CHECKS}:too_many": False}


@pytest.mark.long
@pytest.mark.processes
def test_a_test_set_is_replayed(package, tmp_path, capsys, refused):
    """The rows give SciPy's answer, all answers are as stored, a test that fails says why; what runs is allowed."""
    with pytest.raises(Exception, match="SystemExit: no licence"):
        run(tmp_path, ["sign", "draws", "draws_globally", "leaves", {"test": "mcnemar"}], trials=150)
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    command = ["replay", str(tmp_path / "out"), "--trial", "117", "--rows", str(tmp_path / "rows.csv")]
    assert "--allow netpackage" in refused(*command)
    assert (
        refused(*command, "--allow", "netpackage", "--allow", "numpy")
        == "sigstats: --allow: 'numpy' is not valid; expected netpackage\n"
    )
    assert main([*command, "--allow", "netpackage"]) == 3
    said = capsys.readouterr()
    assert said.out.count("  as stored\n") == 4
    (failed,) = (line for line in said.out.splitlines() if "checks:leaves" in line)
    assert failed.endswith("fails (RuntimeError: its code raised SystemExit: no licence)  not stored")
    assert said.err == "sigstats: 1 of 5 tests fail\n"
    rows = pd.read_csv(tmp_path / "rows.csv")
    only_a, only_b = (
        rows.loc[(rows[one] == rows.label) & (rows[other] != rows.label), "count"].sum()
        for one, other in (("pred_a", "pred_b"), ("pred_b", "pred_a"))
    )
    results = Results(Store(str(tmp_path / "out")))
    (sign,) = (cell for cell in results.cells("own-test") if cell.subject["test"].endswith(":sign"))
    stored = results.table(sign).column("p_value")[117].as_py()
    assert stored == binomtest(int(only_a), int(only_a + only_b)).pvalue
    assert {path: path.read_bytes() for path in before} == before
    checks = package / "checks.py"
    checks.write_text(checks.read_text().replace("The exact sign test", "The sign test"))
    end_idle()
    assert main([*command, "--allow", "netpackage"]) == 3
    said = capsys.readouterr()
    assert len(re.findall(r"fails \(OtherCode: .* planned with netpackage", said.out)) == 1
    assert said.out.count("  as stored\n") == 3


@pytest.mark.faults
@pytest.mark.processes
def test_a_test_that_hangs_fails_its_own_cells_and_in_a_replay_too(package, tmp_path, capsys):
    slow = {"test": f"{CHECKS}:slow", "time_limit": 0.3}
    with pytest.raises(
        Exception, match=r"test netpackage\.checks:slow: a call took longer than 0\.3 s, its time_limit"
    ):
        run(tmp_path, ["sign", slow], trials=100)
    results = Results(Store(str(tmp_path / "out")))
    assert [cell.subject["test"] for cell in results.cells("own-test") if results.table(cell) is not None] == [
        f"{CHECKS}:sign"
    ]
    command = ["replay", str(tmp_path / "out"), "--trial", "3", "--allow", "netpackage"]
    assert main(command) == 3
    said = capsys.readouterr()
    assert f"fails (TimeLimit: test {CHECKS}:slow: a call took longer than 0.3 s, its time_limit)" in said.out
    assert said.out.count("  as stored\n") == 1
    assert said.err == "sigstats: 1 of 2 tests fail\n"


@pytest.mark.long
def test_a_changed_test_is_applied_again(package, tmp_path, capsys):
    run(tmp_path, ["sign", {"test": "mcnemar"}], trials=100)
    checks = package / "checks.py"
    checks.write_text(checks.read_text().replace("else 1.0", "else 0.5"))
    forget()
    run(tmp_path, ["sign", {"test": "mcnemar"}], trials=100, quiet=False)
    assert f"computed again: {CHECKS}:sign, since the source of netpackage has changed" in capsys.readouterr().err
    assert len(list((tmp_path / "out" / "replicates").glob("own-test.*"))) == 2
    assert len(list((tmp_path / "out" / "replicates").glob("subsample.*"))) == 1
