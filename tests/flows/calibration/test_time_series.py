"""Calibration of tests of rows in time: the population, and the rates at which tests reject."""

import numpy as np
import pytest

from sigstats.flows.commands import main
from sigstats.tasks.calibration.populations.series import Series
from sigstats.tasks.calibration.work import AppliedTest

from .conftest import completed

STUDY = """\
kind = "calibration"
seed = 5
sizes = [200]
trials = 50
tests = [{ test = "time-series" }, { test = "time-series", method = "independent" }]

[[populations]]
name = "equal"
source = "time-series"
correlation = 0.8

[[populations]]
name = "B better"
source = "time-series"
correlation = 0.5
difference = 1.0
"""


def test_differences_are_a_stationary_series_with_the_stated_moments():
    sets = Series(correlation=0.6, difference=0.4).draw(60, np.random.default_rng(2), 4000)
    differences = np.array([b - a for a, b in sets])
    assert differences.mean() == pytest.approx(0.4, abs=0.02)
    centred = differences - 0.4
    assert (centred**2).mean(axis=0) == pytest.approx(np.ones(60), abs=0.12)
    for lag in (1, 2, 3):
        assert (centred[:, lag:] * centred[:, :-lag]).mean() == pytest.approx(0.6**lag, abs=0.03)


@pytest.mark.long
def test_methods_without_autocorrelation_agree_with_student_and_with_power():
    rng = np.random.default_rng(3)
    for difference, low, high in ((0.0, 0.0, 0.12), (1.0, 0.95, 1.0)):
        population = Series(correlation=0.0, difference=difference)
        sets = population.draw(60, rng, 60)
        for method in ("independent", "ordered", "compare"):
            test = AppliedTest(test="time-series", options={"method": method})
            assert population.null_holds(test) == (difference == 0)
            assert low <= np.mean(population.run_test(test, sets, rng).p_value <= 0.05) <= high


@pytest.mark.long
def test_a_study_shows_that_only_the_test_with_the_order_keeps_its_level(tmp_path, capsys):
    stored, rows = completed(tmp_path, STUDY), tmp_path / "rows"
    found = {(row["dataset"], row["method"]): row for row in stored.summary.to_pylist()}
    assert found["equal", "equal means (independent)"]["decision"] == "reject"
    assert found["equal", "equal means (independent)"]["estimate"] > 0.3
    assert found["equal", "equal means (ordered)"]["estimate"] < 0.15
    assert found["B better", "equal means (ordered)"]["measure"] == "power"
    capsys.readouterr()
    assert main(["replay", stored.store.root, "--trial", "7", "--only", "dataset=equal", "--rows", str(rows)]) == 0
    assert rows.read_text().splitlines()[0] == '"time","score_a","score_b"'
