"""Two runs on one output: one of them works, and where they meet all the same, nothing is lost or counted twice."""

import os
import platform
import signal

import pytest

from ..flows.conftest import wait_until
from .conftest import results, run, start, stored

pytestmark = pytest.mark.processes

#: Seconds between two renewals of a lease, and after which it expires, in place of 4 and 15.
LEASE = [1, 4]


def test_a_second_run_is_refused_and_the_first_goes_on(many, place, record):
    path, reference = many
    first = start("run", path, "--cluster", "serial", place=place, fault={"pause": 0.05})
    wait_until(lambda: stored(place), first)
    second = run("run", path, "--cluster", "serial", place=place)
    assert second.returncode == 2
    assert f"is locked by another run (process {first.pid} on host {platform.node()})" in second.stderr
    _, err = first.communicate(timeout=240)
    assert first.returncode == 0, err
    assert results(place) == reference
    assert [name for name in place.names() if name.startswith(".lock/")] == []
    record(
        "two runs on one output",
        where=place.url[:2],
        count=1,
        seen="the second is refused, exit code 2; the same bytes",
    )


def test_of_two_runs_that_start_together_one_works(many, place, record):
    path, reference = many
    both = [start("run", path, "--cluster", "serial", place=place, fault={"pause": 0.05}) for _ in range(2)]
    said = [process.communicate(timeout=240)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 2], said
    assert results(place) == reference
    record("two runs start together", where=place.url[:2], count=1, seen="one is refused, exit code 2; the same bytes")


def test_a_run_that_slept_past_its_lease_meets_its_successor(many, bucket, record):
    path, reference = many
    place = bucket()
    fault = {"pause": 0.05, "lease": LEASE}
    first = start("run", path, "--cluster", "serial", place=place, fault=fault)
    wait_until(lambda: stored(place) > 300, first)
    os.kill(first.pid, signal.SIGSTOP)  # as a laptop that is closed
    before = stored(place)
    second = start("run", path, "--cluster", "serial", place=place, fault=fault)
    wait_until(lambda: stored(place) > before, second)
    os.kill(first.pid, signal.SIGCONT)
    for process in (second, first):
        _, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
    assert results(place) == reference
    record(
        "two runs meet, one of them asleep until after its lease",
        where="s3",
        count=1,
        seen="both end well; the same bytes",
    )
