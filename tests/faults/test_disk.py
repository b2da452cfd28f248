"""A disk that is full, and an output that cannot be written."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from ..flows.conftest import wait_until
from ..programs import needs
from .conftest import Folder, alive, complete, run, start, stored, times

pytestmark = pytest.mark.processes


@pytest.fixture
def disk(tmp_path):
    """A small file system of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64M", "tmpfs", folder], check=False, capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"a file system cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(file):
    """Take what is left of the disk."""
    with file.open("wb", buffering=0) as handle:
        try:
            while True:
                handle.write(bytes(4096))
        except OSError:
            pass


@pytest.mark.parametrize("cluster", [("--cluster", "serial"), ("--workers", "2")], ids=["serial", "workers"])
def test_a_full_disk_is_named_and_the_run_goes_on_once_there_is_room(many, disk, cluster, record):
    path, reference = many
    place = Folder(disk / "out")
    moments, count = random.Random(14), times(3, 1) if "serial" in cluster else 1
    for _ in range(count):
        process = start("run", path, *cluster, place=place, fault={"pause": 0.05})
        goal = stored(place) + moments.randint(1, 300)
        wait_until(lambda goal=goal: stored(place) >= goal, process)
        fill(disk / "ballast")
        _, err = process.communicate(timeout=240)
        assert process.returncode == 3, err
        lines = [line for line in err.splitlines() if line.startswith("sigstats: ")]
        assert lines, err
        assert all("No space left on device" in line and place.url in line for line in lines)
        assert "free some space there, and run the same command" in lines[-1]
        wait_until(lambda process=process: not alive(process), seconds=30)
        (disk / "ballast").unlink()
    fill(disk / "ballast")
    fresh = Folder(disk / "fresh")
    done = run("run", path, *cluster, place=fresh)
    assert done.returncode == 2
    assert f"--output: {fresh.url} cannot be written (No space left on device)" in done.stderr
    (disk / "ballast").unlink()
    complete(path, "--cluster", "serial", place=place, reference=reference)
    assert not list(Path(place.url).rglob("*.partial"))
    where = "a plain loop" if "serial" in cluster else "local workers"
    record(f"the disk is full, with {where}", count=count, seen="named, exit code 3; the same bytes once there is room")


def test_a_read_only_output_is_refused(many, disk, record):
    path, reference = many
    place, fresh = Folder(disk / "out"), Folder(disk / "fresh")
    process = start("run", path, "--cluster", "serial", place=place, fault={"pause": 0.05})
    wait_until(lambda: stored(place) > 100, process)
    process.kill()
    process.communicate()
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for output in (place, fresh):
        done = run("run", path, "--cluster", "serial", place=output)
        assert done.returncode == 2
        assert f"--output: {output.url} cannot be written" in done.stderr
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    assert not Path(fresh.url).exists()
    complete(path, "--cluster", "serial", place=place, reference=reference)
    record("a read-only output", count=2, seen="refused, exit code 2, nothing written; the same bytes once it is not")


#: A library in whose presence one fsync or rename of the store fails, or with 0 each, as on a disk that breaks.
FAILING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int fails(void) {
    static int calls;
    int at = atoi(getenv("FAILS_AT"));
    if (at && ++calls != at) return 0;
    errno = EIO;
    return 1;
}
int fsync(int file) { return fails() ? -1 : ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file); }
int rename(const char *from, const char *to) {
    if (strstr(from, ".partial") && fails()) return -1;
    return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
}
"""


@needs(shutil.which("cc"), "cc")
def test_a_rename_or_fsync_that_fails_is_named_and_the_run_goes_on(many, tmp_path, record):
    path, reference = many
    place, library = Folder(tmp_path / "out"), tmp_path / "failing.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", library, "-ldl"], input=FAILING.encode(), check=True)
    moments, count = random.Random(17), times(13, 4)
    for moment in ["0", *(str(moments.randint(1, 120)) for _ in range(count - 1))]:
        done = run("run", path, "--cluster", "serial", place=place, LD_PRELOAD=str(library), FAILS_AT=moment)
        lines = [line for line in done.stderr.splitlines() if line.startswith("sigstats: ")]
        # A folder that cannot be synced holds whole files, and some file systems cannot sync one.
        assert done.returncode in (0, 2, 3), done.stderr
        assert [("Input/output error" in line, place.url in line) for line in lines] == [(True, True)] * (
            done.returncode > 0
        )
        assert not list(Path(place.url).rglob("*.partial"))
    complete(path, "--cluster", "serial", place=place, reference=reference)
    record(
        "a rename or an fsync fails, or all of them",
        count=count,
        seen="named, or only the folder is not synced; the same bytes",
    )
