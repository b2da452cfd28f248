"""The steps that build the image, without an engine: in a clean folder, by the file's own commands."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..flows.conftest import QUICK, environment

pytestmark = [pytest.mark.processes, pytest.mark.faults]

REPOSITORY = Path(__file__).parents[2]


def stages(text):
    """The instructions of each stage, continued lines joined."""
    joined = re.sub(r"\\\n\s*", " ", text)
    lines = [line.strip() for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    found = []
    for line in lines:
        if line.startswith("FROM "):
            found.append([])
        else:
            found[-1].append(tuple(line.split(None, 1)))
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder that the image gets, built in a clean one with this Python."""
    build, installed = tmp_path_factory.mktemp("build"), tmp_path_factory.mktemp("opt") / "sigstats"
    first, _ = stages((REPOSITORY / "docker" / "Dockerfile").read_text())
    for instruction, rest in first:
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
            command = rest.replace("/opt/sigstats", str(installed)).replace("python -m", f"{sys.executable} -m")
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
