"""The mean over tasks, in which each task counts the same, beside simulation."""

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.ranking.means import task_weights

from ...random_weights import NEAR, not_worse

RNG = np.random.default_rng(36)
TASK = np.repeat(["a", "b", "c"], [6, 3, 10])


def frames(baseline, candidate, task=TASK, **more):
    table = pd.DataFrame({"id": range(len(task)), "label": 1, "prediction": baseline, "task": task, **more})
    return table, table.assign(prediction=candidate)


@pytest.mark.parametrize("grouped", [False, True])
def test_it_is_the_law_of_random_weights(grouped):
    for _ in range(3):
        a, b = RNG.integers(0, 2, (2, len(TASK)))
        group = np.arange(len(TASK)) // 2 if grouped else np.arange(len(TASK))
        rule = sigstats.ComparisonRule(adjust="none")
        found = sigstats.compare(
            *frames(a, b, group=group), task="task", groups="group" if grouped else None, rule=rule
        )
        row = next(row for row in found.rows if row.slice == "mean over tasks")
        weights = task_weights(np.unique(TASK, return_inverse=True)[1])
        sums = np.bincount(group, weights * (b - a))
        assert row.pvalue == pytest.approx(not_worse(sums, np.bincount(group, weights).max()), abs=NEAR)
        assert row.difference == pytest.approx(np.mean([(b - a)[name == TASK].mean() for name in "abc"]), abs=1e-12)
        assert row.low <= row.difference <= row.high
        assert row.baseline == pytest.approx(np.mean([a[name == TASK].mean() for name in "abc"]))


@pytest.mark.parametrize("score", ["passed", "wrong"])
def test_marks_of_right_and_wrong_are_decided_over_like_labels(score):
    task = np.repeat(["a", "b"], [90, 60])
    a, b = (RNG.random((2, 150)) < [[0.8], [0.6]]).astype(int)
    of_labels = sigstats.compare(*frames(a, b, task), task="task").joint
    direction = {"lower_is_better": score} if score == "wrong" else {"score": score}
    given = (1.0 - each if score == "wrong" else 1.0 * each for each in (a, b))
    marks = [pd.DataFrame({"id": range(150), "task": task, score: each}) for each in given]
    assert sigstats.compare(*marks, task="task", **direction).joint == of_labels
    marks[0].loc[0, score] = 0.5
    assert sigstats.compare(*marks, task="task", **direction).joint is None


@pytest.mark.long
def test_its_interval_holds_the_mean_difference_of_unequal_tasks():
    """In 300 comparisons of two tasks of 300 and 60 rows; of fewer than 270 with a chance below 1e-4."""
    task, held = np.repeat(["a", "b"], [300, 60]), 0
    for _ in range(300):
        a, b = RNG.random((2, 360)) < np.repeat([[0.7, 0.8], [0.8, 0.6]], [300, 60], axis=1)
        row = sigstats.compare(*frames(a.astype(int), b.astype(int), task), task="task").rows[1]
        held += row.low <= -0.05 <= row.high
    assert held >= 270


@pytest.mark.long
def test_the_first_line_says_where_it_disagrees_with_all_rows(tmp_path, answer, printed):
    sizes = [600, 60, 60]
    parts = [slice(600), slice(600, 660), slice(660, 720)]
    a, b = (
        np.concatenate([np.arange(n) < n * share for n, share in zip(sizes, shares, strict=True)]).astype(int)
        for shares in ([0.7, 0.8, 0.8], [0.8, 0.6, 0.6])
    )
    both = frames(a, b, np.repeat(["a", "b", "c"], sizes))
    found = sigstats.compare(*both, task="task")
    said = "accuracy: +5.00 points on all rows, −10.00 points in the mean over tasks"
    assert found.answer.headline.startswith("FAIL: accuracy in the mean over tasks fell by 10.00 points (")
    assert ("Beware:", said) in found.answer.also
    for name, table in zip(("base", "new"), both, strict=True):
        (tmp_path / name).mkdir()
        for task, rows in table.groupby("task"):
            rows.drop(columns="task").to_csv(tmp_path / name / f"{task}.csv", index=False)
    paths = [str(tmp_path / name) for name in ("base", "new")]
    joint = answer("compare", *paths, code=1)["joint"]
    only_a, only_b = ([int((one > other)[part].sum()) for part in parts] for one, other in ((a, b), (b, a)))
    expected = sigstats.joint_tasks_test(only_a, only_b, sizes, n_resamples=10_000, rng=0)
    assert found.joint == expected
    assert joint["pvalue"] == expected.pvalue
    assert joint["tasks"] == [*expected.tasks]
    note = next(note for note in found.notes if note.startswith("one decision over 3 tasks: worse, p "))
    assert note.endswith("; worse on b, c")
    assert printed("compare", *paths, code=1).splitlines()[0] == found.answer.headline
    said = "new is the best of 2 models on all rows; in the mean over tasks base comes first."
    assert printed("rank", *paths).splitlines()[0] == said
