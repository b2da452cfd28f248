"""The whole run is killed, again and again, and taken up again."""

import os
import random

import pytest

from ..flows.conftest import wait_until
from .conftest import kill, results, run, start, stored

pytestmark = pytest.mark.processes

KILLS = int(os.environ.get("SIGSTATS_RUN_KILLS", "20"))


def test_a_run_killed_at_random_moments_is_taken_up_without_loss(many, tmp_path, place, record):
    path, reference = many
    on_s3 = place.url.startswith("s3")  # where every start waits until the lease of the killed run has expired
    kills, moments = KILLS // 4 if on_s3 else KILLS, random.Random(11)
    total = 20 + 40 * 49
    for kill_number in range(kills):
        process = start("run", path, "--cluster", "serial", place=place, fault={"pause": 0.02})
        ahead = total * (kill_number + 1) // (kills + 2)
        goal = min(stored(place) + moments.randint(1, 2 * total // kills), ahead)
        wait_until(lambda goal=goal: stored(place) >= goal, process)
        kill(process)
    assert stored(place) < total
    done = run("run", path, "--cluster", "serial", place=place)
    assert done.returncode == 0, done.stderr
    assert results(place) == reference
    record(
        "the whole run is killed (kill -9) and started again", where=place.url[:2], count=kills, seen="the same bytes"
    )
