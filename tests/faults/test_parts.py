"""Parts of a study as processes of their own on one output: any of them, at once, one of them killed, then gathered."""

import re

import pytest

from ..flows.conftest import wait_until
from .conftest import Folder, kill, results, run, start, stored

pytestmark = pytest.mark.processes


def test_parts_at_once_one_of_them_killed_give_the_bytes_of_a_whole_run(many, place, record):
    path, reference = many
    parts = [
        start("run", path, "--cluster", "serial", "--part", f"{k}/4", place=place, fault={"pause": 0.01})
        for k in (1, 2, 3)  # the fourth never runs
    ]
    wait_until(lambda: stored(place) > 100, parts[0])
    kill(parts[0])
    for part in parts[1:]:
        _, err = part.communicate(timeout=240)
        assert part.returncode == 0, err
        assert "summary.parquet" not in place.names()
    before = stored(place)
    again = run("run", path, "--cluster", "serial", "--part", "2/4", place=place)
    assert again.returncode == 0, again.stderr
    assert "nothing was left to compute" in again.stderr
    assert stored(place) == before
    gathered = run("run", path, "--cluster", "serial", place=place)
    assert gathered.returncode == 0, gathered.stderr
    assert results(place) == reference
    left = [name for name in place.names() if name.startswith("blocks/") or name.endswith(".partial")]
    assert left == []
    record(
        "three of four parts of a study at once, one of them killed",
        where=place.url[:2],
        count=1,
        seen="the run without --part computes the rest; the same bytes",
    )


def test_each_part_computes_its_own_lanes(many, tmp_path):
    path, _ = many
    place = Folder(tmp_path / "out")
    done = run("run", path, "--cluster", "serial", "--part", "7/1000", place=place)
    assert done.returncode == 0, done.stderr
    assert re.search(r"part 7/1000: \d computations?, \d+ replicates?", done.stderr)
    assert 0 < stored(place) <= 10


def test_a_whole_run_waits_for_no_part_in_a_folder(many, tmp_path):
    path, _ = many
    place = Folder(tmp_path / "out")
    part = start("run", path, "--cluster", "serial", "--part", "1/2", place=place, fault={"pause": 0.05})
    wait_until(lambda: stored(place), part)
    whole = run("run", path, "--cluster", "serial", place=place)
    assert whole.returncode == 2
    assert f"is locked by another run (a part of the study, process {part.pid} on host" in whole.stderr
    kill(part)
