"""`sigstats warm-up` leaves nothing for a study to compile."""

import os
import subprocess
import sys

import pytest

from sigstats.flows.cli import main

from ..conftest import PROGRAM, environment, study_file

numba = pytest.importorskip("numba")

STUDY = """\
kind = "benchmark"
datasets = ["iris", { name = "texts", source = "csv", path = "texts.csv", target = "y" }]
classifiers = ["decision-tree"]
cross_validation = { folds = 2 }
permutation = { resamples = 20 }
"""

CODE = """\
import sys
import numpy as np
import pyarrow as pa
from numba.core.registry import CPUDispatcher
from sigstats import permutation_test
from sigstats.flows.cli import main
from sigstats.learners.batched._tree_growth import predict_fold
from sigstats.tasks.populations.tally import Tally
from sigstats.tasks.populations.tally_numba import count_rows

assert main(["run", sys.argv[1], "--output", sys.argv[2], "--cluster", "serial", "--quiet"]) == 0
for column in (pa.array([1, 2, 1]), pa.array(["x", "y", "x"]).dictionary_encode(), pa.array([1, 2, 1], pa.int8())):
    tally = Tally(("label", "a", "b"), many=True)
    tally.add([column] * 3)
    tally.add([column] * 3)
for levels in (10, 500):
    features, label = np.arange(1000.0)[:, np.newaxis] % levels, np.arange(1000) % 2
    for forest in ("RandomForestClassifier", "ExtraTreesClassifier"):
        permutation_test("sklearn.ensemble." + forest, features, label, cv=2, n_resamples=1, rng=0)
for function in (predict_fold, count_rows):
    assert function.stats.cache_hits
for name, module in list(sys.modules.items()):
    if name.startswith("sigstats."):
        for function in vars(module).values():
            if isinstance(function, CPUDispatcher):
                assert not function.stats.cache_misses, function
"""


@pytest.mark.processes
@pytest.mark.faults  # everything is compiled, which takes half a minute
def test_a_study_after_it_compiles_nothing(tmp_path):
    own = {**environment(), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([*PROGRAM, "warm-up"], env=own, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"compiled in {tmp_path / 'cache'}{os.sep}")
    (tmp_path / "texts.csv").write_text("a,b,y\n" + "u,1.5,p\nv,1.5,q\nu,2.5,p\nw,2.5,q\n" * 5)
    study = study_file(tmp_path, STUDY)
    subprocess.run([sys.executable, "-c", CODE, str(study), str(tmp_path / "out")], env=own, check=True)


def test_without_numba_one_line_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "sigstats.learners.batched._tree_growth", None)  # importing it fails
    assert main(["warm-up"]) == 2
    expected = "sigstats: warm-up: Numba is missing; expected the extra fast: pip install 'sigstats[fast]'\n"
    assert capsys.readouterr().err == expected
