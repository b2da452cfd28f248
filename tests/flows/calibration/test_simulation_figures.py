"""The figures and the design of a simulation study: what they draw is what is stored."""

import re

import numpy as np
import pytest

from sigstats.flows.calibration.report import null_p_values, rate_curves, same_test_sets
from sigstats.flows.calibration.report.design import design
from sigstats.flows.report.evidence import Evidence
from sigstats.intervals import clopper_pearson
from sigstats.mcnemar.mcnemar_test import mcnemar_test

from .conftest import completed

STUDY = """\
kind = "calibration"
seed = 6
sizes = [30, 90]
trials = 200

[[populations]]
name = "grid"
source = "simulated"
prevalence = [0.4, 0.1]
recall = [0.8]
precision = [0.8]
difference = [0.0, 0.1]

[[tests]]
test = "mcnemar"

[[tests]]
test = "mcnemar"
method = "mid-p"

[[tests]]
test = "f1-interval"

[[tests]]
test = "f1-interval"
of = "a"
method = "wilson"

[[tests]]
test = "f1-interval"
of = "a"
method = "jeffreys"
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    return Evidence(completed(tmp_path_factory.mktemp("figures"), STUDY))


def p_values(evidence, **subject):
    (cell,) = evidence.results.cells("subsample", **subject)
    return evidence.results.table(cell).column("p_value").to_numpy()


@pytest.mark.long
def test_two_tests_are_compared_on_the_same_test_sets(evidence):
    exact, mid_p = (
        p_values(evidence, slice="difference = 0.1, prevalence = 0.4", n="90", test=f"McNemar ({method})") <= 0.05
        for method in ("exact", "mid-p")
    )
    only_exact, only_mid_p = int(np.sum(exact & ~mid_p)), int(np.sum(mid_p & ~exact))
    assert only_exact == 0 < only_mid_p  # mid-p is never above the exact p
    drawn = {figure.title: str(figure.body) for figure in same_test_sets.draw_pairs(evidence)}
    body = drawn["Methods on the same test sets: rejections, grid, difference = 0.1, prevalence = 0.4"]
    assert f"{only_exact} : {only_mid_p}" in body
    assert f"{only_mid_p} : {only_exact}" in body
    p = mcnemar_test(only_exact, only_mid_p).pvalue
    assert ("p0" if p <= 0.001 else "p1" if p <= 0.01 else "p") in body
    assert any(title.endswith("F1 of A") for title in drawn)
    assert not any("difference of F1" in title for title in drawn)  # one method has nothing beside it


@pytest.mark.long
def test_a_nested_loop_has_every_setting_once(evidence):
    (coverage,) = [
        figure
        for figure in rate_curves.draw_loops(evidence)
        if "Coverage" in figure.title and "F1 of A" in figure.title
    ]
    (grid,) = [
        grid for grid in rate_curves.grids(evidence) if grid.measure == "coverage" and grid.estimand == "F1 of A"
    ]
    order = grid.order
    assert order == sorted((d, p, n) for d in (0.0, 0.1) for p in (0.1, 0.4) for n in (30.0, 90.0))
    body = str(coverage.body)
    curves = re.findall(r'class="observed" d="([^"]*)"', body)
    assert [curve.count("H") for curve in curves] == [8, 8]
    assert re.findall(r'text-anchor="start">([^<]*)<', body) == list(grid.names) == ["difference", "prevalence", "rows"]
    top, base = 12.0, 300.0
    low = min(
        0.95, *(row.estimate for row in evidence.rows if row.method.startswith("F1 of A") and row.measure == "coverage")
    )
    first = next(
        row
        for row, setting in zip(grid.rows, grid.settings, strict=True)
        if row.method == "F1 of A (wilson)" and setting == order[0]
    )
    height = base - (first.estimate - low) / (1 - low) * (base - top)
    assert float(re.match(r"M\S+ ([\d.]+)H", curves[0])[1]) == pytest.approx(height, abs=0.06)


@pytest.mark.long
def test_a_zip_has_each_interval_once(evidence):
    (figure,) = same_test_sets.draw_zips(evidence)
    panels = re.findall(r"<figure>.*?</figure>", str(figure.body))
    assert len(panels) == 3
    for panel in panels:
        assert sum(path.count("M") for path in re.findall(r'class="(?:mean|observed)" d="([^"]*)"', panel)) == 150


def test_how_far_an_estimate_is_from_the_truth():
    found = same_test_sets.distances(np.array([0.5, 0.7, 0.5, 0.6]), np.array([0.1, 0.1, 0.0, 0.0]), 0.5)
    assert found == pytest.approx([0.0, 2.0, 0.0, np.inf])


@pytest.mark.long
def test_the_law_of_p_is_that_of_the_test_sets(evidence):
    drawn = list(null_p_values.draw_law(evidence))
    assert [figure.title for figure in drawn] == [
        f"The law of p where the null hypothesis is true, grid, difference = 0, prevalence = {p}" for p in (0.4, 0.1)
    ]
    panel = re.findall(r"<figure>.*?</figure>", str(drawn[0].body))[1]
    curves = re.findall(r'class="observed" d="([^"]*)"', panel)
    assert len(curves) == 2
    share = np.mean(p_values(evidence, slice="difference = 0, prevalence = 0.4", n="90", test="McNemar (mid-p)") <= 0.2)
    height = float(curves[1].rsplit(" ", 1)[1])
    low = np.log10(0.5e-4)
    assert height == pytest.approx(196 - (np.log10(share) - low) / -low * 184, abs=0.06)


@pytest.mark.long
def test_the_design_says_what_was_done(evidence):
    stated = dict(design(evidence))
    assert list(stated) == ["Aims", "Data", "Estimands", "Methods", "Performance measures"]
    assert (
        "4 populations (endless, drawn independently); 200 test sets of each of 2 sizes (30, 90 rows)" in stated["Data"]
    )
    assert "difference 0, 0.1" in stated["Data"]
    assert "prevalence 0.1, 0.4" in stated["Data"]
    assert stated["Estimands"] == "accuracy of B minus that of A; difference of F1; F1 of A."
    assert "F1 of A (jeffreys)" in stated["Methods"]
    assert "size-adjusted power" in stated["Performance measures"]


@pytest.mark.long
def test_every_rate_has_its_error_and_what_was_undefined(evidence):
    report = evidence.results.store.files.read("report.html").decode()
    assert '<section id="design">' in report
    for header in ("MC error", "Failed", "Without a class"):
        assert f">{header}</th>" in report
    row = next(row for row in evidence.rows_of("calibration") if row.measure == "power")
    assert (row.estimate_low, row.estimate_high) == tuple(clopper_pearson(round(200 * row.estimate), 200))
    error = np.sqrt(row.estimate * (1 - row.estimate) / 200)
    assert f">{100 * error:.2f}%<" in report
