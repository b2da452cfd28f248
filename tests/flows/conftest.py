"""Runs of the program as real processes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sigstats.flows.clusters import load_cluster
from sigstats.flows.commands import main
from sigstats.flows.running import interrupt
from sigstats.flows.running.kind import kind_of, load_study
from sigstats.flows.running.options import RunOptions

QUICK = """\
kind = "benchmark"
seed = 5
datasets = ["iris", "wine"]
classifiers = ["1-nn", "naive-bayes"]

[permutation]
resamples = 59
"""

PROGRAM = [sys.executable, "-m", "sigstats"]


def environment():
    """The environment of the tests but for what was set in it, also by Dask for workers that this process started."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "DASK_", "MALLOC_"))}
    return {**kept, "CI": "true", "COLUMNS": "200"}


def start(*arguments):
    """Start the program in a session of its own, as a shell starts a job."""
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    )


def run(*arguments, timeout=240):
    """Run the program to its end."""
    process = start(*arguments)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def python(*words, **how):
    """Run Python to its end, by default in the environment of the tests; `how`: as for `subprocess.run`."""
    kept = {"env": environment(), "capture_output": True, "text": True, "check": False, "timeout": 300, **how}
    return subprocess.run([sys.executable, *map(str, words)], **kept)


def run_serial(study, output, *more):
    """Run a study in this process by a plain loop; the exit code."""
    return main(["run", str(study), "--output", str(output), "--cluster", "serial", *more])


def run_on(path, output, cluster, workers=None):
    """Run a study in this process on a cluster that it names, followed by nobody: Prefect's start takes seconds."""
    study = load_study(path)
    where = load_cluster(str(cluster), workers)
    result = kind_of(study).run(study, RunOptions(base=path.parent, output=str(output), cluster=where))
    assert result.code == 0, result.reasons
    return result


@pytest.fixture
def refused_study(tmp_path, refused):
    """Runs a study that must be refused in one line before anything is written; what is said."""

    def run_study(study):
        said = refused("run", study, "--output", tmp_path / "out", "--cluster", "serial")
        assert not (tmp_path / "out").exists()
        return said

    return run_study


class Ended(BaseException):
    """The program would end its process here, with this exit code."""


@pytest.fixture
def program(capsys, monkeypatch):
    """Runs the program in this process: `run` without the seconds that a process takes to start."""

    def end(code):
        raise Ended(code)

    # What would end this process, without waiting for a server that has gone, ends the program alone.
    monkeypatch.setattr(interrupt, "end_at_once", end)

    def call(*arguments):
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except Ended as ended:
            (code,) = ended.args
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, said.out, said.err)

    return call


def results(output):
    """All bytes of a run that must not depend on how it was run."""
    output = Path(output)
    paths = [*output.glob("replicates/**/*.parquet"), output / "summary.parquet", output / "report.html"]
    return {str(path.relative_to(output)): path.read_bytes() for path in sorted(paths)}


def wait_until(condition, process=None, seconds=300, interval=0.02):
    """Poll until something is so; fail when the process ended first or it takes too long.

    At least `interval` seconds lie between two polls; after a slow one up to a second, since others want the processor.
    """
    deadline = time.monotonic() + seconds
    while (began := time.monotonic()) < deadline:
        value = condition()
        if value:
            return value
        if process is not None and process.poll() is not None:
            raise AssertionError(f"the run ended first with {process.returncode}: {process.stderr.read()[-2000:]}")
        time.sleep(max(interval, min(1.0, 3 * (time.monotonic() - began))))
    raise AssertionError("waited in vain")


def blocks(output):
    """The number of replicate files on disk."""
    kept = (folder for name in ("replicates", "blocks") for folder in os.walk(Path(output, name)))
    return sum(file.endswith(".parquet") for _, _, files in kept for file in files)


def session(pid):
    """The living processes of a session."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == pid and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, ProcessLookupError):
            continue
    return found


def study_file(folder, text, name="study.toml"):
    path = folder / name
    path.write_text(text)
    return path


@pytest.fixture(scope="session")
def quick(tmp_path_factory):
    """A quick study and its results by the plain loop: the reference."""
    folder = tmp_path_factory.mktemp("quick")
    path = study_file(folder, QUICK)
    assert run_serial(path, folder / "out") == 0
    return path, results(folder / "out"), folder / "out"


def as_outputs(*places):
    """The options of a command that write these files."""
    return [part for at in map(str, places) for part in ("--json" if at.endswith(".json") else "--report", at)]
