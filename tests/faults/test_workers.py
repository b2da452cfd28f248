"""Workers are killed at random, by their own work, or for the memory they take."""

import random
import re

import pyarrow.parquet as pq
import pytest

from ..flows.conftest import wait_until
from .conftest import Folder, alive, complete, results, run, start, stored, times, workers

pytestmark = pytest.mark.processes

KILLS = times(50, 8)

#: More than the eight deaths that Dask's own count allows a block in two trials.
PREEMPTIONS = 10

in_both_places = pytest.mark.parametrize(
    ("place", "kills"), [("folder", KILLS), ("s3", times(10, 2))], indirect=["place"], ids=["folder", "s3"]
)

#: The cell whose block is the poisoned one, and what a person reads of it.
CELL, SUBJECT = "retrain.wine.7-nn.labels", "wine, 7-nn, labels"


@in_both_places
def test_killed_workers_are_replaced_and_nothing_is_counted_twice(many, place, kills, record):
    path, reference = many
    process = start("run", path, "--workers", "4", place=place, fault={"pause": 0.5})
    moments, total = random.Random(12), 20 + 40 * 49
    killed = set()
    for number in range(kills):
        goal = total * number // (kills + 2) + moments.randint(1, total // (kills + 2))
        wait_until(lambda goal=goal: stored(place) >= goal, process)
        living = wait_until(lambda: [one for one in workers(process) if one.pid not in killed], process)
        victim = moments.choice(living)
        victim.kill()
        killed.add(victim.pid)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, ""), err
    assert len(killed) == kills
    assert re.search(
        r"note: (worker \S+ is|\d+ workers are) gone, \d+ left; blocks that were not stored are computed again\n", err
    )
    assert re.search(r"by .*workers, of which \d+ (was|were) lost\n", err)
    assert not [line for line in err.splitlines() if "rror" in line or "arning" in line or "failed:" in line]
    assert results(place) == reference
    wait_until(lambda: not alive(process), seconds=30)
    record("workers are killed in one run (kill -9)", where=place.url[:2], count=kills, seen="replaced; the same bytes")


def missing_alone(place, reference):
    """Whether the replicates are the reference's except those of the poisoned cell."""
    found = {name: content for name, content in results(place).items() if name.startswith("replicates")}
    expected = {name for name in reference if name.startswith("replicates") and CELL not in name}
    others = {name: content for name, content in found.items() if CELL not in name}
    return others.keys() == expected and all(reference[name] == content for name, content in others.items())


def test_no_number_of_preemptions_is_laid_to_a_block(many, tmp_path, record):
    path, reference = many
    place = Folder(tmp_path / "out")
    left = tmp_path / "left"
    left.write_text(str(PREEMPTIONS))
    fault = {"preempt": [CELL, 25, str(left)]}
    complete(path, "--workers", "2", place=place, reference=reference, fault=fault, timeout=900)
    assert left.read_text() == "0"
    what = "the worker of the same block is taken away each time (kill -9)"
    record(what, count=PREEMPTIONS, seen="computed elsewhere; the same bytes")


@pytest.mark.parametrize("fault", ["kill", "hog"])
def test_a_block_that_ends_its_worker_every_time_is_named_and_the_rest_completes(many, tmp_path, fault, record):
    path, reference = many
    place = Folder(tmp_path / "out")
    (tmp_path / "always").touch()
    cluster = tmp_path / "cluster.toml"
    cluster.write_text('kind = "local"\nworkers = 2\nmemory_limit = "500 MB"\n')
    built_in = {fault: [CELL, 25, str(tmp_path / "always")]}
    done = run("run", path, "--cluster", cluster, place=place, fault=built_in)
    assert done.returncode == 3, done.stderr
    (failed,) = [line for line in done.stderr.splitlines() if line.startswith("sigstats:")]
    seen = {
        "kill": "Killed: classifier 7-nn: its process was ended by SIGKILL",
        "hog": "MemoryLimit: classifier 7-nn: its process took more than 0.466 GiB of memory",
    }
    assert failed == f"sigstats: failed: {SUBJECT}: {seen[fault]}"
    assert missing_alone(place, reference)
    rows = pq.read_table(tmp_path / "out" / "summary.parquet").to_pylist()
    (row,) = [row for row in rows if row["decision"] == "missing"]
    assert (row["dataset"], row["classifier"]) == ("wine", "7-nn")
    again = run("run", path, "--cluster", "serial", place=place)
    assert again.returncode == 0, again.stderr
    assert results(place) == reference
    what = {"kill": "a block kills its worker every time", "hog": "a block takes its worker over its memory every time"}
    record(
        what[fault],
        count=1,
        seen="named as failed, the rest complete, exit code 3; the same bytes once it is corrected",
    )


def test_a_worker_over_its_memory_limit_is_replaced(many, tmp_path, record):
    path, reference = many
    place = Folder(tmp_path / "out")
    (tmp_path / "once").touch()
    cluster = tmp_path / "cluster.toml"
    cluster.write_text('kind = "local"\nworkers = 2\nmemory_limit = "500 MB"\n')
    fault = {"hog": [CELL, 25, str(tmp_path / "once")]}
    complete(path, "--cluster", cluster, place=place, reference=reference, fault=fault)
    assert not (tmp_path / "once").exists()
    record("a worker goes over its memory limit once", count=1, seen="replaced; the same bytes")
