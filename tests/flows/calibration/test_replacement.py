"""Calibration on test sets that are drawn with replacement, as from an infinite population of the rows at hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, multinomial

from sigstats.flows.api.run import run_study
from sigstats.joint.events import JointEvents
from sigstats.tasks.calibration.population import EventPopulation

N, SIZE = 60, 40


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    label = rng.integers(0, 3, N)
    a, b = (np.where(rng.random(N) < share, label, (label + 1) % 3) for share in (0.8, 0.6))
    return pd.DataFrame({"label": label, "pred_a": a, "pred_b": b})


def study(tmp_path, rows, tests, **options):
    rows.to_parquet(tmp_path / "rows.parquet")
    population = {"name": "mine", "source": "parquet", "path": str(tmp_path / "rows.parquet"), **options}
    return {
        "kind": "calibration",
        "name": "s",
        "seed": 3,
        "sizes": [SIZE, 2 * N],
        "trials": 400,
        "populations": [population],
        "tests": tests,
    }


@pytest.mark.long
def test_power_is_that_of_new_rows(tmp_path, rows):
    """McNemar's rejections, summed over the trinomial of who alone is right, also with more rows than there are."""
    found = run_study(
        study(tmp_path, rows, [{"test": "mcnemar"}], replacement=True), output=tmp_path / "out", cluster="serial"
    )
    right_a, right_b = rows.pred_a == rows.label, rows.pred_b == rows.label
    only_a, only_b = (right_a & ~right_b).mean(), (right_b & ~right_a).mean()
    law = multinomial(SIZE, [only_a, only_b, 1 - only_a - only_b])
    power = sum(
        law.pmf([i, j, SIZE - i - j])
        for i in range(SIZE + 1)
        for j in range(SIZE + 1 - i)
        if i + j and binomtest(i, i + j).pvalue <= 0.05
    )
    (row,) = found.summary[(found.summary.measure == "power") & (found.summary.n == SIZE)].to_dict("records")
    assert row["null_mean"] == pytest.approx(power, rel=1e-9)
    assert abs(row["estimate"] - power) < 4 * np.sqrt(power * (1 - power) / row["replicates"])
    assert set(found.summary.n.dropna()) >= {SIZE, 2 * N}


def test_events_are_drawn_independently():
    joint = JointEvents((0, 1), "classes", (((0,), (0,), (0,)), ((0,), (1,), (0,)), ((1,), (1,), (1,))), (30, 20, 10))
    drawn = EventPopulation("p", joint, endless=True).draw(50, np.random.default_rng(1), 20_000)
    shares = np.array([30, 20, 10]) / 60
    order = [list(EventPopulation("p", joint).shape.events).index(event) for event in joint.events]
    assert (drawn.sum(axis=1) == 50).all()
    np.testing.assert_allclose(drawn[:, order].mean(axis=0), 50 * shares, atol=0.1)
    np.testing.assert_allclose(drawn[:, order].var(axis=0), 50 * shares * (1 - shares), rtol=0.05)


@pytest.mark.long
def test_measures_of_classes_take_more_rows_than_there_are(tmp_path, rows):
    tests = [{"test": "bootstrap", "measure": "macro-f1", "resamples": 99}]
    with pytest.raises(ValueError, match=f"sizes: {2 * N} is not valid; expected at most {N}, the rows of mine"):
        run_study(study(tmp_path, rows, tests), output=tmp_path / "without", cluster="serial")
    found = run_study(study(tmp_path, rows, tests, replacement=True), output=tmp_path / "with", cluster="serial")
    assert set(found.summary.n.dropna()) == {SIZE, 2 * N}


def test_large_parts_of_a_population_are_told(tmp_path, rows):
    own = study(tmp_path, rows, [{"test": "mcnemar"}])
    found = run_study({**own, "sizes": [SIZE]}, output=tmp_path / "out", cluster="serial")
    assert "up to 66.7% of the population at once" in Path(found.report).read_text(encoding="utf-8")
