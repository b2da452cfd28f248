"""The clock jumps, and files bear any time."""

import os
import random
from pathlib import Path

import pytest

from ..flows.conftest import wait_until
from .conftest import Folder, results, run, start, stored

pytestmark = pytest.mark.processes

LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
JUMPS = ["+3h", "-2d", "+400d", "-1h", "+10m", "-30d", "+0"]


@pytest.mark.skipif(not LIBRARIES, reason="libfaketime is not installed (Debian package faketime)")
@pytest.mark.parametrize("cluster", [("--cluster", "serial"), ("--workers", "2")], ids=["serial", "workers"])
def test_clock_jumps_change_nothing(many, tmp_path, cluster, record):
    path, reference = many
    place = Folder(tmp_path / "out")
    clock = tmp_path / "clock"
    clock.write_text("+0\n")
    faked = {
        "LD_PRELOAD": str(LIBRARIES[0]),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",  # which no one can set, so it does not jump on a real machine either
        "FAKETIME_DISABLE_SHM": "1",
    }
    process = start("run", path, *cluster, place=place, fault={"pause": 0.1}, **faked)
    moments = random.Random(15)
    for jump in JUMPS:
        goal = stored(place) + moments.randint(50, 150)
        wait_until(lambda goal=goal: stored(place) >= goal, process)
        (tmp_path / "next").write_text(f"{jump}\n")
        (tmp_path / "next").replace(clock)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert results(place) == reference
    where = "a plain loop" if "serial" in cluster else "local workers"
    record(f"the clock jumps, with {where}", count=len(JUMPS), seen=f"{', '.join(JUMPS)}: the same bytes")


def test_files_of_any_time_are_taken_up(many, tmp_path, record):
    path, reference = many
    place = Folder(tmp_path / "out")
    process = start("run", path, "--cluster", "serial", place=place, fault={"pause": 0.05})
    wait_until(lambda: stored(place) > 500, process)
    process.kill()
    process.communicate()
    chance = random.Random(16)
    files = [name for name in place.names() if name.endswith((".parquet", ".json"))]
    for name in files:
        moment = chance.choice([0, 1, 2**31, 4102444800])
        os.utime(Path(place.url, name), (moment, moment))
    before = stored(place)
    done = run("run", path, "--cluster", "serial", place=place)
    assert done.returncode == 0, done.stderr
    assert "made again" not in done.stderr
    assert before > 500
    assert results(place) == reference
    record("files of 1970 to 2100", count=len(files), seen="taken up; the same bytes")
