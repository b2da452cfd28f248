"""Without the folder of compiled code studies run by scikit-learn's own estimators, and decide the same."""

import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from sigstats.learners.base import Room, compiled

from ...examples import retrained
from ...flows.conftest import environment

STUDY = f"""
kind = "benchmark"
seed = 3
alpha = 0.2
datasets = ["iris"]
cross_validation.folds = 3
permutation.resamples = {retrained(19)}
classifiers = [
  "1-nn", "k-nn", "naive-bayes", "lda", "logistic-regression", "linear-svm", "svm", "decision-tree", "c4.5",
  {{ name = "forest", learner = "sklearn.ensemble.RandomForestClassifier", params = {{ n_estimators = 3 }} }},
  {{ name = "extra trees", learner = "sklearn.ensemble.ExtraTreesClassifier", params = {{ n_estimators = 3 }} }},
  {{ name = "boosting", learner = "sklearn.ensemble.HistGradientBoostingClassifier", params = {{ max_iter = 2 }} }},
]
"""

RUN = """\
import sys
{hidden}
from sigstats.flows.commands import main
code = main(["run", "study.toml", "--output", sys.argv[1], "--cluster", "serial", "--quiet"])
assert ("numba" in sys.modules) == {compiles}
sys.exit(code)
"""

ANSWERS = """cell test dataset classifier null_hypothesis
estimate exceedances p_value p_adjusted decision"""


def summary(folder, output, hidden="", compiles=True):
    code = RUN.format(hidden=hidden, compiles=compiles)
    words = [sys.executable, "-c", code, output]
    done = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = pq.read_table(folder / output / "summary.parquet")
    return table.select(ANSWERS.split()).to_pylist()


@pytest.mark.long
def test_a_study_decides_the_same_where_compiled_code_is_hidden(tmp_path):
    pytest.importorskip("numba")
    (tmp_path / "study.toml").write_text(STUDY)
    hidden = "sys.modules['sigstats.learners.compiled'] = None"
    rows = summary(tmp_path, "with")
    assert len(rows) > 24
    assert rows == summary(tmp_path, "without", hidden, compiles=False)


@pytest.mark.parametrize("room", Room.__args__)
def test_a_room_offers_what_it_names(room):
    pytest.importorskip("numba")
    offered = compiled(room)
    assert all(hasattr(offered, name) for name in offered.__all__)
