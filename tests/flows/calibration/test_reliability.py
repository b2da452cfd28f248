"""The reliability diagram: the confidence that p-values state, and whether the population says so."""

import re
from dataclasses import replace

import numpy as np
import pytest

from sigstats.flows.calibration.report import rates, stated_confidence
from sigstats.flows.report.evidence import Evidence
from sigstats.mcnemar.mcnemar_test import mcnemar_test

from .conftest import completed

STUDY = """\
kind = "calibration"
seed = 2
sizes = [60, 300]
trials = 300

[[populations]]
name = "rows"
source = "simulated"
prevalence = [0.4]
recall = [0.7]
precision = [0.7]
difference = [0.0, -0.04, 0.05]

[[tests]]
test = "mcnemar"
method = "mid-p"

[[tests]]
test = "mcnemar"
method = "mid-p"
alternative = "less"
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    return Evidence(completed(tmp_path_factory.mktemp("reliability"), STUDY))


@pytest.mark.parametrize(("only_a", "only_b"), [(12, 5), (3, 9), (6, 7), (0, 8)])
def test_the_confidence_is_that_of_the_side_which_is_better(only_a, only_b):
    better = "greater" if only_a > only_b else "less"
    wanted = 1 - mcnemar_test(only_a, only_b, method="mid-p", alternative=better).pvalue
    for alternative in ("two-sided", "greater", "less"):
        p = np.array([mcnemar_test(only_a, only_b, method="mid-p", alternative=alternative).pvalue])
        found = stated_confidence.confidences(p, np.array([only_b - only_a]), alternative)
        assert found[0] == pytest.approx(wanted, abs=1e-12)


def test_right_is_what_the_population_says(evidence):
    rows = [row for row in evidence.rows_of("calibration") if row.n == 300]
    two_sided = [row for row in rows if row.method == "McNemar"]
    said = stated_confidence.statements_of_test(two_sided, evidence)
    right = stated = 0
    for row in two_sided:
        (cell,) = evidence.cells_of(row)
        table = evidence.results.table(cell)
        sign = {"difference = -0.04": -1, "difference = 0.05": 1, "difference = 0": 0}[row.slice]
        ahead = table.column("advantage").to_numpy()
        if sign:
            right += np.count_nonzero(ahead * sign > 0)
            stated += np.sum((1 - table.column("p_value").to_numpy() / 2)[ahead != 0])
    assert said.right.sum() == right
    assert said.stated.sum() == pytest.approx(stated)
    one_sided = stated_confidence.statements_of_test([row for row in rows if row.method != "McNemar"], evidence)
    assert np.array_equal(one_sided.right, said.right)
    assert one_sided.stated == pytest.approx(said.stated, abs=1e-12)


def test_a_bin_holds_what_is_stated_in_it():
    said = stated_confidence.Statements(
        np.array([0.52, 0.58, 0.6, 0.99, 1.0]), np.array([True, False, True, True, True])
    )
    assert [(round(x, 3), share, total) for x, share, _, _, total in stated_confidence.binned(said)] == [
        (0.55, 0.5, 2),
        (0.6, 1.0, 1),
        (0.995, 1.0, 2),
    ]


def test_a_panel_a_size_says_what_is_stated_and_right(evidence):
    drawn = list(stated_confidence.draw_reliability(evidence))
    assert [figure.title.split(" stated by ")[1] for figure in drawn] == ["McNemar, rows", "McNemar (less), rows"]
    body = str(drawn[0].body)
    assert re.findall(r"<strong>([^<]*)</strong>", body) == ["60 rows", "300 rows"]
    rows = [row for row in evidence.rows_of("calibration") if row.n == 300 and row.method == "McNemar"]
    said = stated_confidence.statements_of_test(rows, evidence)
    assert f"right on {100 * said.right.mean():.1f}%" in body


def test_the_headline_and_the_advice_name_the_intervals_and_sizes_at_which_a_fault_was_found(evidence):
    (row, *_) = evidence.rows_of("calibration")

    def verdict(*cells):
        rows = [
            replace(
                row, measure="coverage", method=name, n=n, estimate=held, null_mean=0.95, p_adjusted=p, decision=what
            )
            for name, n, held, p, what in cells
        ]
        return rates.SECTIONS[0].verdict(rows, evidence)

    narrow = ("narrow", 60, 0.7, 1e-9, "reject"), ("narrow", 300, 0.9, 1e-3, "reject")
    shorter = verdict(("wide", 60, 0.96, 1.0, "keep"), *narrow)
    assert shorter.to_do == "At these sizes use wide."
    assert shorter.headline == (
        "Not all: the interval of narrow contains the truth on 70.0% of the test sets (60 rows; 95.0% is stated); no "
        "fault was shown for wide."
    )
    at = ("Wald", 60, 0.7, 1e-9, "reject"), ("Wald", 300, 0.94, 1.0, "keep"), ("Wald", 1000, 0.95, 1.0, "keep")
    assert verdict(*at).to_do == "With 60 rows do not use Wald; with 300 and 1,000 rows no fault was shown."


def test_the_first_screen_answers_whether_the_test_can_be_trusted(evidence):
    (row, *_) = evidence.rows_of("calibration")
    kept = replace(row, measure="coverage", method="wide", n=60, estimate=0.96, null_mean=0.95, decision="keep")
    power = next(row for row in evidence.rows_of("calibration") if row.measure == "power")
    by_coverage = rates.SECTIONS[0].verdict([kept, power], evidence)
    assert by_coverage.headline == (
        "No fault was shown: at worst the interval of wide contains the truth on 96.0% of the test sets (60 rows; "
        "95.0% is stated)."
    )
    assert [what.partition(",")[0] for what, _ in by_coverage.also] == ["Power"]
    by_power = rates.SECTIONS[0].verdict([power], evidence)
    assert by_power.headline.startswith(
        "Type I errors were not examined: in every population one classifier is better. "
    )
    short = replace(kept, estimate=0.7, p_adjusted=1e-9, decision="reject")
    wrong = rates.SECTIONS[0].verdict([short, power], evidence)
    assert [what.partition(",")[0] for what, _ in wrong.also] == ["Power", "Rates:"]
