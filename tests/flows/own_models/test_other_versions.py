"""Workers whose package differs from that of the run: one line says so, whatever the cluster."""

import json
import os
import re
import shutil
import subprocess

import pytest

from ..clusters.stand_ins import stand_ins
from ..conftest import PROGRAM, environment
from .conftest import PACKAGE, named, study_of


@pytest.mark.processes
@pytest.mark.faults
def test_jobs_of_a_batch_system_with_another_version_are_refused(tmp_path):
    """The job's script has another PYTHONPATH than the run, as the modules of a site may."""
    for name, version in (("here", "1.0"), ("there", "1.1")):
        copy = tmp_path / name / "netpackage"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / "__init__.py").write_text(f'__version__ = "{version}"\n')
    cluster = tmp_path / "cluster.toml"
    cluster.write_text(
        'class = "dask_jobqueue.PBSCluster"\nworkers = 1\ncores = 1\nmemory = "500 MiB"\n'
        f'shared_temp_directory = "{tmp_path}"\ntls = false\n'
    )
    study = study_of(tmp_path, ['"lda"', named("net", "netpackage.models:Net")], nulls="")
    prologue = json.dumps([f"export PYTHONPATH={tmp_path / 'there'}"])
    own = {
        "PATH": f"{stand_ins(tmp_path)}:{os.environ['PATH']}",
        "PYTHONPATH": str(tmp_path / "here"),
        "DASK_JOBQUEUE__PBS__JOB_SCRIPT_PROLOGUE": prologue,
    }
    command = ["run", study, "--cluster", cluster, "--allow", "netpackage", "--output", tmp_path / "out"]
    ended = subprocess.run(
        [*PROGRAM, *map(str, command)], env=environment() | own, capture_output=True, text=True, timeout=200
    )
    assert ended.returncode == 3, ended.stderr
    source = r"\(source [0-9a-f]{10}\)"
    said = rf"has netpackage 1\.1 {source}, but the run was planned with netpackage 1\.0 {source}"
    assert len(re.findall(said, ended.stderr)) == 1
    cells = [path.parent.name for path in (tmp_path / "out" / "replicates").rglob("*.parquet")]
    assert [name.split(".")[2] for name in cells] == ["lda"]
