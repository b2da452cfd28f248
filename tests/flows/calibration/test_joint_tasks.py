"""Calibration of decisions over tasks: the population, the decisions of others from their definitions, the study."""

import math

import numpy as np
import pytest
from scipy.stats import combine_pvalues

import sigstats
from sigstats.tasks.calibration.populations.task_rows import TaskRows
from sigstats.tasks.calibration.work import AppliedTest

from ..conftest import study_file
from .conftest import completed

WORLD = {"shares": (1, 2, 7), "discordant": (0.3, 0.1, 0.2)}
TASKS = np.array([[60, 200, 400], [9, 14, 21], [2, 11, 20]])
N, ONLY_A, ONLY_B = TASKS
STUDY = """\
kind = "calibration"
seed = 1
sizes = [400]
trials = 150
tests = [{ test = "joint-tasks", resamples = 199 }, { test = "joint-tasks", method = "all-rows" }]

[[populations]]
name = "nowhere"
source = "tasks"
shares = [1, 2, 7]
discordant = [0.3, 0.3, 0.3]
worse = [0, 0, -1]

[[populations]]
name = "the smallest task"
source = "tasks"
shares = [1, 2, 7]
discordant = [0.3, 0.3, 0.3]
worse = [1, 0, 0]
"""


def p_of(method, *sets, seed=0, resamples=999):
    """The p-values of test sets, or that of one."""
    test = AppliedTest(test="joint-tasks", options={"method": method, "resamples": resamples})
    sets = np.array(sets or (TASKS,))
    p = TaskRows(**WORLD, worse=(0, 0, 0)).run_test(test, sets, np.random.default_rng(seed)).p_value
    return p if len(sets) > 1 else float(p[0])


def test_a_population_is_what_it_is_said_to_be():
    drawn = TaskRows(**WORLD, worse=(1, 0, -0.5), errors=2).draw(5000, np.random.default_rng(1), 4000)
    a, b, n = drawn[:, 1], drawn[:, 2], drawn[0, 0]
    assert n.tolist() == [500, 1000, 3500]
    assert ((a + b) / n).mean(axis=0) == pytest.approx(WORLD["discordant"], rel=0.01)
    tilt = 2 / math.sqrt(500 * 0.3)  # two standard errors of the rows of the first task
    assert (a / (a + b)).mean(axis=0) == pytest.approx([(1 + tilt) / 2, 0.5, (1 - tilt / 2) / 2], rel=0.01)
    assert ((a - b).sum(axis=0) / np.sqrt((a + b).sum(axis=0)))[0] / math.sqrt(4000) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize(
    ("worse", "holds"), [((0, 0, 0), True), ((-1, 0, 0), True), ((0, 1, -1), False), ((0, 0, 0.1), False)]
)
def test_the_null_hypothesis_holds_where_b_is_worse_on_no_task(worse, holds):
    test = AppliedTest(test="joint-tasks", options={})
    assert TaskRows(**WORLD, worse=worse).null_holds(test) is holds
    assert TaskRows(shares=(1, 1), discordant=(0.0, 0.5), worse=(1, 0)).null_holds(test)  # no row tells


def test_the_decisions_are_those_of_the_library():
    found = sigstats.joint_tasks_test(ONLY_A, ONLY_B, N, n_resamples=999, rng=7)
    assert p_of("joint-tasks-test", seed=7) == found.pvalue
    assert p_of("any-task") == found.any_task
    assert p_of("all-rows") == pytest.approx(found.all_rows, rel=1e-12)
    drawn = p_of("mean-over-tasks", resamples=40_000)
    assert drawn == pytest.approx(found.mean_over_tasks, abs=6 * math.sqrt(found.mean_over_tasks / 40_000))


def test_test_sets_of_a_lane_are_held_against_the_same_draws():
    """Each p-value is that of the test set by itself, from the same seed."""
    other = np.array([N, [10, 11, 29], [1, 14, 12]])
    for method in ("joint-tasks-test", "mean-over-tasks", "largest-drop", "three-at-a-third", "any-task"):
        both = p_of(method, TASKS, other, seed=3)
        assert both.tolist() == [p_of(method, each, seed=3) for each in (TASKS, other)]


def test_fishers_combination_is_scipys():
    own = [
        sigstats.mcnemar_test(a, b, alternative="greater").pvalue
        for a, b in zip(ONLY_A.tolist(), ONLY_B.tolist(), strict=True)
    ]
    assert p_of("fisher") == pytest.approx(combine_pvalues(own).pvalue, rel=1e-12)


def test_the_largest_drop_of_one_task_is_mcnemars_test():
    one = np.array([[40], [9], [2]])
    exact = sigstats.mcnemar_test(9, 2, alternative="greater").pvalue
    assert p_of("largest-drop", one, resamples=40_000) == pytest.approx(exact, abs=6 * math.sqrt(exact / 40_000))
    assert p_of("three-at-a-third", one) == pytest.approx(3 * exact, rel=0.3)


def test_a_study_finds_a_loss_on_one_task(tmp_path, printed):
    stored = completed(tmp_path, STUDY)
    rows = {(row["dataset"], row["method"]): row for row in stored.summary.to_pylist()}
    level, power = (rows[name, "joint-tasks-test (resamples = 199)"] for name in ("nowhere", "the smallest task"))
    assert (level["measure"], power["measure"]) == ("type I error", "power")
    assert level["decision"] == "keep"
    assert power["estimate"] > rows["the smallest task", "all-rows"]["estimate"] + 0.2
    said = printed("replay", stored.store.root, "--trial", "120", "--only", "dataset=nowhere")
    assert said.count("as stored") == 2
    assert "only_a" in said
    assert "whether B is worse on any task" in stored.store.files.read("report.html").decode()


def test_values_of_each_task_are_as_many_as_tasks(tmp_path, refused):
    study = study_file(tmp_path, STUDY.replace("worse = [1, 0, 0]", "worse = [1, 0]"))
    assert "worse: 2 values are not valid; expected 3, as shares" in refused("plan", study)
