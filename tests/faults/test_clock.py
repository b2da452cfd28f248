"""The clock jumps, and files bear any time."""

import os
import random
from pathlib import Path

import pytest

from ..flows.conftest import wait_until
from ..programs import needs
from .conftest import Folder, complete, results, start, stored

pytestmark = pytest.mark.processes

LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
#: By how many seconds the clock is wrong: hours, days and more than a year, there and back.
JUMPS = [10_800, -172_800, 34_560_000, -3_600, 600, -2_592_000, 0]
#: The same for Dask, whose connections hold their messages back for as long as the clock is put back.
FORWARD = [10_800, 10_798, 183_600, 183_598, 34_743_600]


def jump_about(process, place, clock, text, jumps):
    """Make the clock jump at random moments of a run, by the file it is read from."""
    moments = random.Random(15)
    for jump in jumps:
        goal = stored(place) + moments.randint(50, 150)
        wait_until(lambda goal=goal: stored(place) >= goal, process)
        clock.with_name("next").write_text(text.format(jump))
        clock.with_name("next").replace(clock)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err


@needs(LIBRARIES, "faketime")
def test_jumps_of_the_systems_clock_change_nothing(many, tmp_path, record):
    path, reference = many
    place = Folder(tmp_path / "out")
    clock = tmp_path / "clock"
    clock.write_text("+0\n")
    faked = {
        "LD_PRELOAD": str(LIBRARIES[0]),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_CACHE_DURATION": "1",  # or every look at the clock would read the file
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",  # which no one can set, so it does not jump on a real machine either
        "FAKETIME_DISABLE_SHM": "1",
    }
    process = start("run", path, "--cluster", "serial", place=place, fault={"pause": 0.1}, **faked)
    jump_about(process, place, clock, "{:+d}\n", JUMPS)
    assert results(place) == reference
    record("the system's clock jumps, with a plain loop", count=len(JUMPS), seen="the same bytes")


def test_jumps_of_the_engines_clock_change_nothing(many, tmp_path, record):
    # Not by libfaketime, under which event loops spin: the run, its scheduler and its workers read time.time() wrong.
    path, reference = many
    place = Folder(tmp_path / "out")
    clock = tmp_path / "clock"
    clock.write_text("0")
    fault = {"pause": 0.1, "clock": str(clock)}
    process = start("run", path, "--workers", "2", place=place, fault=fault)
    jump_about(process, place, clock, "{}", FORWARD)
    assert results(place) == reference
    what = "the clock jumps by up to a year, and 2 seconds back, as scheduler and local workers see it"
    record(what, count=len(FORWARD), seen="the same bytes")


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
    done = complete(path, "--cluster", "serial", place=place, reference=reference)
    assert "computed again" not in done.stderr
    assert before > 500
    record("files dated 1970 to 2100", count=len(files), seen="read; the same bytes")
