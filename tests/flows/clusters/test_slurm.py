"""Studies as jobs of a real Slurm: the same bytes, lost jobs replaced, nothing left behind."""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from ...faults.conftest import PROGRAM, Folder, kill, results, run, start, stored
from ..conftest import wait_until
from .slurm import asked, jobs, slurm

pytestmark = [pytest.mark.processes, pytest.mark.faults]

ONE_CORE = 'cores = 1\nmemory = "500 MiB"'


@pytest.fixture(scope="module")
def site():
    with slurm() as environment:
        yield environment


@pytest.fixture
def place(tmp_path, site):
    at = Folder(tmp_path / "out")
    at.environment = site
    return at


def cluster_file(folder, text):
    path = folder / "cluster.toml"
    logs = folder / "logs"
    own = f'shared_temp_directory = "{folder}"\nlog_directory = "{logs}"\n'
    path.write_text(f'class = "dask_jobqueue.SLURMCluster"\n{own}{text}\n')
    return path


def test_a_study_runs_as_jobs_and_a_lost_job_is_replaced(many, tmp_path, place, site, record):
    path, reference = many
    cluster = cluster_file(tmp_path, f"workers = 2\n{ONE_CORE}")
    process = start("run", path, "--cluster", cluster, place=place)
    wait_until(lambda: stored(place) > 100, process)
    first = jobs(site)
    assert len(first) == 2
    names = asked(site, "squeue", "--noheader", "--format=%j").split()
    assert set(names) == {"sigstats"}
    # Only this user may read the keys of the run, which are gone with it.
    (keys,) = tmp_path.glob(".sigstats-tls-*")
    assert {file.stat().st_mode & 0o077 for file in [keys, *keys.iterdir()]} == {0}
    asked(site, "scancel", first[0])
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert results(place) == reference
    wait_until(lambda: not jobs(site), seconds=60)
    assert not list(tmp_path.glob(".sigstats-tls-*"))
    record("a job of a real Slurm is cancelled", count=1, seen="the same bytes; no job left")


def test_a_job_that_ends_before_its_worker_came_is_replaced_and_said(many, tmp_path, place, site, record):
    path, reference = many
    process = start(
        "run", path, "--cluster", cluster_file(tmp_path, f"workers = 1\nresubmit_after = 60\n{ONE_CORE}"), place=place
    )
    wait_until(lambda: jobs(site), process)
    asked(site, "scancel", *jobs(site))  # before it could start Python
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "note: there are no workers; the blocks wait for one\n" in err
    assert results(place) == reference
    wait_until(lambda: not jobs(site), seconds=60)
    record(
        "a job of a real Slurm ends before its worker connects",
        count=1,
        seen="replaced after resubmit_after; the same bytes",
    )


def test_as_many_jobs_as_there_is_work_for(many, tmp_path, place, site):
    path, reference = many
    cluster = cluster_file(tmp_path, f"workers = {{ minimum = 0, maximum = 3 }}\n{ONE_CORE}")
    process = start("run", path, "--cluster", cluster, place=place, fault={})
    wait_until(lambda: len(jobs(site)) > 1, process)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert results(place) == reference
    wait_until(lambda: not jobs(site), seconds=60)


def test_a_killed_run_leaves_no_job(many, tmp_path, place, site, record):
    path, reference = many
    cluster = cluster_file(tmp_path, 'workers = 2\ncores = 2\nmemory = "1000 MiB"')
    process = start("run", path, "--cluster", cluster, place=place)
    wait_until(lambda: stored(place) > 100, process)
    assert len(jobs(site)) == 1
    kill(process)
    wait_until(lambda: not jobs(site), seconds=120)
    assert run("run", path, "--cluster", "serial", place=place).returncode == 0
    assert results(place) == reference
    record("a run on a real Slurm is killed (kill -9)", count=1, seen="no job left after a minute; the same bytes")


ARRAY = Path(__file__).parents[3] / "configs/clusters/array.slurm"


def test_an_array_of_parts_one_of_them_killed_is_gathered(many, tmp_path, place, site, record):
    path, reference = many
    job, program = tmp_path / "array.slurm", tmp_path / "bin/sigstats"
    job.write_text(ARRAY.read_text().replace("=1-40\n", "=1-4\n").replace('/40"', '/4"'))
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(PROGRAM)])} "$@"\n')
    program.chmod(0o755)
    own = {"SIGSTATS_FAULT": json.dumps({"pause": 0.01}), "PATH": f"{program.parent}:{os.environ['PATH']}"}
    words = ["sbatch", "--parsable", f"--chdir={tmp_path}", str(job), str(path), place.url]
    array = asked({**site, **own}, *words).strip()
    wait_until(lambda: stored(place) > 100)
    assert f"{array}_3" in asked(site, "squeue", "--array", "--noheader", "--format=%i", "--states=RUNNING").split()
    asked(site, "scancel", "--full", "--signal=KILL", f"{array}_3")
    wait_until(lambda: not jobs(site), seconds=120)
    said = {number: (tmp_path / f"slurm-{array}_{number}.out").read_text() for number in (1, 2, 4)}
    assert all("part " in text for text in said.values()), said
    assert 100 < stored(place) < 20 + 40 * 49
    assert "summary.parquet" not in place.names()
    gathered = run("run", path, "--cluster", "serial", place=place)
    assert gathered.returncode == 0, gathered.stderr
    assert results(place) == reference
    record(
        "one of four elements of an array of a real Slurm is killed",
        count=1,
        seen="the last run computes the rest; the same bytes",
    )


def test_what_the_batch_system_refuses_is_said_in_one_line(many, tmp_path, place):
    path, _ = many
    cluster = cluster_file(tmp_path, f'workers = 2\nqueue = "nosuch"\n{ONE_CORE}')
    done = run("run", path, "--cluster", cluster, place=place)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("sigstats:")]
    assert line == (
        "sigstats: cluster: dask_jobqueue.SLURMCluster cannot start a worker: sbatch: error: "
        "invalid partition specified: nosuch"
    )
    assert "Traceback" not in done.stderr
    assert place.names() == []
