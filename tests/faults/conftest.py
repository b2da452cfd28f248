"""A cheap study of many blocks, its undisturbed results, and places to keep it: a folder and an S3 bucket."""

import json
import os
import re
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import psutil
import pytest

from ..flows.conftest import environment, run_serial, wait_until
from ..object_store import client, object_store

PROGRAM = Path(__file__).with_name("program.py")


def times(recorded, usual):
    """How often a fault is repeated: `recorded` where the figures of docs/reliability.md are made, else `usual`."""
    return recorded if "SIGSTATS_FAULT_RECORD" in os.environ else usual


#: 40 cells of 5 lanes that are retrained, 20 of one: 220 blocks, most of which take milliseconds.
STUDY = """\
kind = "benchmark"
seed = 6
datasets = ["iris", "wine"]
classifiers = ["1-nn", "naive-bayes"{neighbours}]

[cross_validation]
folds = 5

[permutation]
resamples = 49
"""
FEW = STUDY.replace("{neighbours}", "")
MANY = STUDY.replace(
    "{neighbours}",
    "".join(f', {{ name = "{k}-nn", learner = "k-nn", params = {{ n_neighbors = {k} }} }}' for k in range(3, 19, 2)),
)


class Folder:
    """Results in a folder, seen without the program's own code."""

    def __init__(self, path):
        self.url = str(path)
        self.environment = {}

    def names(self):
        # Path.rglob raises where a folder goes while it looks.
        found = (Path(folder, file) for folder, _, files in os.walk(self.url) for file in files)
        return sorted(str(path.relative_to(self.url)) for path in found)

    def read(self, name):
        return Path(self.url, name).read_bytes()

    def write(self, name, content):
        Path(self.url, name).write_bytes(content)


class Bucket:
    """Results under a prefix of an S3 bucket, seen with Amazon's own client."""

    def __init__(self, client, prefix, environment):
        self.url = f"s3://studies/{prefix}"
        self.environment = environment
        self._client = client
        self._prefix = f"{prefix}/"

    def names(self):
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket="studies", Prefix=self._prefix)
        return sorted(item["Key"].removeprefix(self._prefix) for page in pages for item in page.get("Contents", ()))

    def read(self, name):
        return self._client.get_object(Bucket="studies", Key=self._prefix + name)["Body"].read()

    def write(self, name, content):
        self._client.put_object(Bucket="studies", Key=self._prefix + name, Body=content)


def results(place):
    """All bytes of a run that must not depend on what happened to it."""
    names = [
        name for name in place.names() if re.fullmatch(r"replicates/.*\.parquet|summary\.parquet|report\.html", name)
    ]
    return {name: place.read(name) for name in names}


def stored(place):
    """How many replicates are stored; one that lies in a block and in its cell's joined file is one."""
    found = (re.fullmatch(r"(?:replicates|blocks)/(.*)/(\d+)-(\d+)\.parquet", name) for name in place.names())
    return len({(match[1], number) for match in found if match for number in range(int(match[2]), int(match[3]))})


def start(*arguments, place, fault=None, before=(), **more):
    """Start the program in a session of its own, as a shell starts a job; everything it starts bears its mark."""
    mark = uuid.uuid4().hex
    output = ["--output", place.url] if arguments[0] == "run" else []
    own = {"SIGSTATS_FAULT": json.dumps(fault or {}), "SIGSTATS_TEST": mark, **place.environment, **more}
    process = subprocess.Popen(
        [*before, sys.executable, str(PROGRAM), *map(str, arguments), *output],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(), **own},
        start_new_session=True,
    )
    process.mark = mark
    return process


def run(*arguments, place, timeout=300, **more):
    """Run the program to its end."""
    process = start(*arguments, place=place, **more)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        for left in alive(process):
            left.kill()
        raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    done.mark = process.mark
    return done


def complete(path, *cluster, place, reference, **more):
    """Run a study to its end: it has the undisturbed results."""
    done = run("run", path, *cluster, place=place, **more)
    assert done.returncode == 0, done.stderr
    assert results(place) == reference
    return done


def kill(process):
    """SIGKILL to the run alone, as the kernel does when memory is short; what it started must go by itself."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not alive(process), seconds=60)
    process.stdout.close()
    process.stderr.close()


def alive(process):
    """The living processes that a run has started, itself among them, in whatever session they are."""
    found = []
    for one in psutil.process_iter():
        try:
            if one.status() != psutil.STATUS_ZOMBIE and one.environ().get("SIGSTATS_TEST") == process.mark:
                found.append(one)
        except psutil.Error:
            continue
    return found


def workers(process):
    """The worker processes of a run's local cluster."""
    found = []
    for one in alive(process):
        try:
            if one.ppid() == process.pid and "spawn_main" in " ".join(one.cmdline()):
                found.append(one)
        except psutil.Error:
            continue
    return found


def _undisturbed(folder, text):
    """The study file, and its results by the plain loop."""
    path = folder / "study.toml"
    path.write_text(text)
    place = Folder(folder / "out")
    assert run_serial(path, place.url) == 0
    return path, results(place)


@pytest.fixture(scope="session")
def many(tmp_path_factory):
    return _undisturbed(tmp_path_factory.mktemp("many"), MANY)


@pytest.fixture(scope="session")
def few(tmp_path_factory):
    return _undisturbed(tmp_path_factory.mktemp("few"), FEW)


@pytest.fixture(scope="session")
def bucket(tmp_path_factory):
    """Makes places in an S3 bucket, on a server of its own."""
    with object_store("studies") as own:
        own["PREFECT_HOME"] = str(tmp_path_factory.mktemp("prefect"))
        yield lambda: Bucket(client(own), uuid.uuid4().hex, own)


@pytest.fixture(params=["folder", "s3"])
def place(request, tmp_path):
    """Where a study's results go: a folder, then an object store."""
    return Folder(tmp_path / "out") if request.param == "folder" else request.getfixturevalue("bucket")()


@pytest.fixture
def record(request):
    """Adds a line to the file that SIGSTATS_FAULT_RECORD names; `tools/reliability.py` makes the table of it."""
    smoke = request.node.get_closest_marker("smoke")  # the same test stands there with more faults

    def write(fault, *, count, seen, where="folder"):
        if (path := os.environ.get("SIGSTATS_FAULT_RECORD")) and not smoke:
            line = {"fault": fault, "where": where, "count": count, "seen": seen}
            line["test"] = os.environ["PYTEST_CURRENT_TEST"].split(" ")[0]
            with Path(path).open("a") as file:
                file.write(json.dumps(line) + "\n")

    return write
