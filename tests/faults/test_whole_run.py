"""The whole run is killed, again and again, and taken up again."""

import json
import random
from pathlib import Path

import pytest

from ..flows.conftest import wait_until
from .conftest import Folder, complete, kill, start, stored, times

pytestmark = pytest.mark.processes

in_both_places = pytest.mark.parametrize(
    ("study", "cells", "place", "kills"),
    # on S3 every start waits until the lease of the killed run has expired
    [
        pytest.param("few", (4, 8), "folder", 1, marks=pytest.mark.smoke),
        ("many", (20, 40), "folder", times(20, 4)),
        ("many", (20, 40), "s3", times(5, 2)),
    ],
    indirect=["place"],
    ids=["once", "folder", "s3"],
)


@in_both_places
def test_a_run_killed_at_random_moments_is_taken_up_without_loss(request, study, cells, place, kills, record):
    path, reference = request.getfixturevalue(study)
    moments, total = random.Random(11), cells[0] + 49 * cells[1]
    for kill_number in range(kills):
        process = start("run", path, "--cluster", "serial", place=place, fault={"pause": 0.02, "lease": [0.5, 2.5]})
        ahead = total * (kill_number + 1) // (kills + 2)
        goal = min(stored(place) + moments.randint(1, 2 * total // kills), ahead)
        wait_until(lambda goal=goal: stored(place) >= goal, process)
        kill(process)
    assert stored(place) < total
    complete(path, "--cluster", "serial", place=place, reference=reference, fault={"lease": [0.5, 2.5]})
    record(
        "the whole run is killed (kill -9) and started again", where=place.url[:2], count=kills, seen="the same bytes"
    )


def test_what_ended_cells_took_is_stored_when_the_run_is_killed(many, tmp_path):
    place = Folder(tmp_path / "out")
    process = start("run", many[0], "--cluster", "serial", place=place, fault={"pause": 0.02})
    wait_until(lambda: [name for name in place.names() if name.startswith("receipts/")], process)
    kill(process)
    receipts = [json.loads(place.read(name)) for name in place.names() if name.startswith("receipts/")]
    assert receipts
    for receipt in receipts:
        files = Path(place.url, "replicates", receipt["cell"]).glob("*.parquet")
        assert max(block["last"] for block in receipt["blocks"]) == max(int(path.stem[-9:]) for path in files)
