"""A run of thousands of tiny blocks: its processes take no more memory and no more files than after a tenth of them."""

import pytest

from ..flows.conftest import wait_until
from .conftest import Folder, alive, results, run, start, times

pytestmark = pytest.mark.processes

STUDY = """\
kind = "benchmark"
seed = 6
datasets = ["iris"]
classifiers = ["1-nn"]

[cross_validation]
folds = 3

[permutation]
resamples = {resamples}
nulls = ["labels"]
"""


def taken(process):
    """The resident bytes, and the open files, of the processes of a run, the largest first."""
    found = []
    for each in alive(process):
        with each.oneshot():
            found.append((each.memory_info().rss, each.num_fds()))
    return [sum(each) for each in zip(*found, strict=True)]


@pytest.mark.parametrize("cluster", [("--cluster", "serial"), ("--workers", "2")], ids=["serial", "workers"])
def test_many_tiny_blocks_take_no_more_memory_or_files(tmp_path, cluster, record):
    blocks = times(20_000, 600)
    study = tmp_path / "study.toml"
    study.write_text(STUDY.format(resamples=10 * blocks))
    place = Folder(tmp_path / "out")
    process = start("run", study, *cluster, place=place, fault={"tiny": True})
    seen = []
    for part in (0.1, 0.5, 0.9):
        wait_until(lambda part=part: len(place.names()) >= part * blocks, process, seconds=3000, interval=0.5)
        seen.append(taken(process))
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    (memory, files), *_, (memory_then, files_then) = seen
    assert memory_then < 1.1 * memory + (30 << 20)
    assert files_then <= files + 4
    whole = Folder(tmp_path / "whole")
    assert run("run", study, "--cluster", "serial", place=whole).returncode == 0
    assert results(place) == results(whole)
    where = "a plain loop" if "serial" in cluster else "local workers"
    said = f"{memory >> 20} MB and {files} open files after a tenth, {memory_then >> 20} MB and {files_then} at the end"
    record(f"blocks of one lane, {where}", count=blocks, seen=f"{said}; the same bytes")
