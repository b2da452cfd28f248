"""The steps that build the image, without an engine: in a clean folder, by the file's own commands."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..flows.conftest import QUICK, environment, study_file

pytestmark = [pytest.mark.processes, pytest.mark.faults]

REPOSITORY = Path(__file__).parents[2]
DOCKERFILE = REPOSITORY / "docker" / "Dockerfile"

#: A study that uses compiled code, and calls of all of it: none may be compiled after the warm-up.
COMPILED_STUDY = """\
kind = "benchmark"
datasets = ["iris", { name = "texts", source = "csv", path = "texts.csv", target = "y" }]
classifiers = ["decision-tree"]
cross_validation = { folds = 2 }
permutation = { resamples = 20 }
"""

CODE = """\
import sys
import numpy as np
from numba.core.registry import CPUDispatcher
from sigstats import permutation_test
from sigstats.flows.commands import main
from sigstats.learners.compiled.trees import predict_all

assert main(["run", sys.argv[1], "--output", sys.argv[2], "--cluster", "serial", "--quiet"]) == 0
for levels in (10, 500):
    features, label = np.arange(1000.0)[:, np.newaxis] % levels, np.arange(1000) % 2
    for forest in ("RandomForestClassifier", "ExtraTreesClassifier"):
        permutation_test("sklearn.ensemble." + forest, features, label, cv=2, n_resamples=1, rng=0)
assert predict_all.stats.cache_hits
for name, module in list(sys.modules.items()):
    if name.startswith("sigstats."):
        for function in vars(module).values():
            if isinstance(function, CPUDispatcher):
                assert not function.stats.cache_misses, function
"""


def stages(text):
    """The instructions of each stage by its name, continued lines joined."""
    joined = re.sub(r"\\\n\s*", " ", text)
    lines = [line.strip() for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    found = {}
    for line in lines:
        if line.startswith("FROM "):
            current = found.setdefault(line.rpartition(" AS ")[2], [])
        elif found:  # what stands before the first stage are its arguments
            current.append(tuple(line.split(None, 1)))
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder that the image gets, built in a clean one with this Python."""
    build, installed = tmp_path_factory.mktemp("build"), tmp_path_factory.mktemp("opt") / "sigstats"
    found = stages(DOCKERFILE.read_text())
    for instruction, rest in (*found["build"], *found["for-computing"]):
        if instruction == "COPY":
            *sources, target = shlex.split(rest)
            for source in sources:
                origin, place = REPOSITORY / source, build / target
                if origin.is_dir():
                    ignored = shutil.ignore_patterns("__pycache__")
                    shutil.copytree(origin, place, ignore=ignored, symlinks=True)  # as COPY does
                else:
                    shutil.copy(origin, place)
        elif instruction == "RUN":
            command = rest.replace("python -m", f"{sys.executable} -m")
            # by the pip of this environment: that which Python brings may take twice as long
            pip = f"{sys.executable} -m pip --python /opt/sigstats/bin/python "
            command = command.replace("/opt/sigstats/bin/pip ", pip).replace("/opt/sigstats", str(installed))
            # what `make setup` has downloaded is not fetched again, and what is never imported not made byte code
            command = command.replace("--no-cache-dir ", "--no-compile ")
            done = subprocess.run(
                ["/bin/sh", "-ec", command], cwd=build, env=environment(), capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr[-3000:]
        else:
            assert (instruction, rest) == ("WORKDIR", "/build")
    return installed


def test_the_built_folder_runs_a_study_and_holds_no_tools(built, tmp_path):
    (tmp_path / "study.toml").write_text(QUICK)
    asked = [built / "bin" / "sigstats", "run", "study.toml", "--output", "out", "--cluster", "serial"]
    done = subprocess.run(asked, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "report.html").exists()
    assert not {path.name for path in (built / "bin").iterdir()} & {"pip", "pytest", "mypy", "ruff"}
    code = "from sigstats import __file__ as top, flows, tasks; print(top, flows.__file__, tasks.__file__)"
    seen = subprocess.run(
        [built / "bin" / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert all(str(built) in path for path in seen.stdout.split())
    assert not list(built.glob("lib/python*/site-packages/scipy/**/tests"))
    assert not list(built.glob("lib/python*/site-packages/kubernetes*"))


def test_a_study_in_it_compiles_nothing(built, tmp_path):
    """As with a root that is read-only: what was compiled is copied to a folder that may be written to."""
    start = tmp_path / "start.sh"
    start.write_text((REPOSITORY / "docker" / "start.sh").read_text().replace("/opt/sigstats", str(built)))
    start.chmod(0o755)
    of_image = dict(re.findall(r"(NUMBA_\w+)=(\S+)", dict(stages(DOCKERFILE.read_text())["runtime"])["ENV"]))
    assert of_image == {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": "/tmp/numba"}
    own = {**environment(), **of_image, "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    before = {path: path.stat().st_mtime_ns for path in (built / "compiled").rglob("*")}
    assert any(path.suffix == ".nbc" for path in before)
    (tmp_path / "texts.csv").write_text("a,b,y\n" + "u,1.5,p\nv,1.5,q\nu,2.5,p\nw,2.5,q\n" * 5)
    study = study_file(tmp_path, COMPILED_STUDY)
    command = [start, built / "bin" / "python", "-c", CODE, str(study), str(tmp_path / "out")]
    done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert before == {path: path.stat().st_mtime_ns for path in (built / "compiled").rglob("*")}
