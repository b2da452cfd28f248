"""A study whose tests stop together, killed again and again: it ends as one that nothing disturbs."""

import json

import numpy as np
import pytest

from ..flows.conftest import wait_until
from .conftest import Folder, kill, results, run, start, stored

pytestmark = pytest.mark.processes

STUDY = """\
kind = "benchmark"
seed = 5
alpha = 0.1
adjust = "benjamini-hochberg"
tests = ["permutation"]
classifiers = ["1-nn", "naive-bayes"]
datasets = ["iris", { name = "hint", source = "csv", path = "hint.csv", target = "class" }]

[cross_validation]
folds = 3

[permutation]
resamples = 299
stopping = "joint"
"""


@pytest.fixture
def study(tmp_path):
    rng, y = np.random.default_rng(4), np.arange(40) % 2
    x = rng.standard_normal((40, 3)) + 0.55 * y[:, None]
    rows = (",".join([*(f"{value:.6f}" for value in row), str(label)]) for row, label in zip(x, y, strict=True))
    (tmp_path / "hint.csv").write_text("a,b,c,class\n" + "\n".join(rows) + "\n")
    path = tmp_path / "joint.toml"
    path.write_text(STUDY)
    return path


def test_a_killed_study_resumes_and_its_tests_end_where_they_would(study, tmp_path):
    whole, place = Folder(tmp_path / "whole"), Folder(tmp_path / "out")
    done = run("run", study, "--cluster", "serial", "--log-format", "json", place=whole)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert all(event["replicates_done"] <= event["replicates"] for event in events if event["event"] == "progress")
    total = stored(whole)
    for share in (0.2, 0.5, 0.8):
        killed = start("run", study, "--cluster", "serial", place=place, fault={"pause": 0.02, "tiny": True})
        wait_until(lambda share=share: stored(place) >= share * total, killed)
        assert killed.poll() is None
        kill(killed)
        assert "summary.parquet" not in place.names()
    again = run("run", study, "--cluster", "serial", place=place)
    assert again.returncode == 0, again.stderr
    assert results(place) == results(whole)
