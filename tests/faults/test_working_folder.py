"""A downloaded folder in which somebody calls the program: none of its files is run."""

import subprocess
import sys

import pytest

from ..flows.conftest import environment

#: What Python itself, the starts of workers and the libraries of a run import by name.
OTHERS = "dask distributed numpy pandas prefect scipy sitecustomize sklearn usercustomize uvicorn"
NAMES = sorted(
    {each for each in sys.stdlib_module_names - set(sys.builtin_module_names) if not each.startswith("_")}
    | set(OTHERS.split())
)
STUDY = """\
kind = "benchmark"
datasets = ["iris"]
classifiers = ["1-nn"]

[permutation]
resamples = 19
"""


@pytest.fixture
def hostile_folder(tmp_path):
    folder = tmp_path / "downloaded"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r} + '\\n')\n")
    (folder / "study.toml").write_text(STUDY)
    return folder


@pytest.mark.parametrize("cluster", ["serial", "local"])
def test_a_run_imports_no_file_of_the_working_folder(hostile_folder, cluster):
    # A plain ``python -m`` imports from the working folder before sigstats begins; the installed program does not.
    command = [sys.executable, "-P", "-m", "sigstats", "run", "study.toml", "--cluster", cluster]
    found = {key: value for key, value in environment().items() if key != "PYTHONSAFEPATH"}
    done = subprocess.run(
        command, cwd=hostile_folder, env=found, capture_output=True, text=True, timeout=240, check=False
    )
    ran = hostile_folder.parent / "ran"
    assert (done.returncode, ran.exists()) == (0, False), done.stderr + (ran.read_text() if ran.exists() else "")
    assert any((hostile_folder / "results" / "study" / "replicates").iterdir())
