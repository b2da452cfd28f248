"""A command whose memory is limited, by `ulimit -v`, a batch system or a control group, or without temporary files."""

import contextlib
import errno
import uuid
from pathlib import Path

import pytest

from ..flows.conftest import wait_until
from .conftest import Folder, alive, results, run, times

pytestmark = pytest.mark.processes

#: KiB: from what has no room for NumPy to what has room for workers and compiled code.
LIMITS = range(400_000, 2_000_000, times(80_000, 750_000))
COMMANDS = {
    "a plain loop": ["run", "{study}", "--cluster", "serial"],
    "local workers": ["run", "{study}", "--workers", "2"],
    "report": ["report", "{whole}"],
    "compare": ["compare", "{old}", "{new}"],
}


def limited(limit, *command, place):
    """Run the program itself: one with a fault built in has imported libraries before it begins."""
    itself = f'ulimit -v {limit}; shift; exec "$0" -m sigstats "$@"'
    return run(*command, place=place, before=("sh", "-c", itself))


@pytest.fixture
def inputs(many, tmp_path):
    for name, right in (("old", 4), ("new", 5)):
        rows = [f"{row},{row % 3},{row % 3 if row % right else 0}" for row in range(500)]
        (tmp_path / name).write_text("\n".join(["id,label,prediction", *rows]))
    return {"study": many[0], "old": tmp_path / "old", "new": tmp_path / "new"}


@pytest.mark.parametrize("what", COMMANDS)
def test_a_command_without_enough_memory_ends_in_one_line(many, inputs, tmp_path, what, record):
    whole, done = Folder(tmp_path / "whole"), 0
    if what == "report":
        assert run("run", many[0], "--cluster", "serial", place=whole).returncode == 0
    command = [word.format(**inputs, whole=whole.url) for word in COMMANDS[what]]
    for limit in LIMITS:
        place = whole if what == "report" else Folder(tmp_path / str(limit))
        ended = limited(limit, *command, place=place)
        assert ended.returncode in (0, 3), ended.stderr
        if ended.returncode == 3:
            assert not done, ended.stderr  # more memory is enough, too
            complaints = [line for line in ended.stderr.splitlines() if line.startswith("sigstats: ")]
            assert len(complaints) == 1
            assert "is limited to" in complaints[0]
        else:
            done += 1
            assert results(place) == ({} if what == "compare" else many[1])
        assert not alive(ended)
    assert done
    seen = f"{len(LIMITS) - done} refused, exit code 3 and one line; {done} done, the same bytes; no process left"
    record(f"memory is limited (ulimit -v) from 0.4 to 2 GB, {what}", count=len(LIMITS), seen=seen)


def test_the_limit_that_a_library_would_hang_under_is_refused(inputs, tmp_path):
    ended = limited(200_000, "compare", inputs["old"], inputs["new"], place=Folder(tmp_path / "out"))
    assert ended.returncode == 3
    said = "this process is limited to 195 MiB of addresses (ulimit -v); a command needs at least 512 MiB"
    assert ended.stderr == f"sigstats: cannot start: MemoryError: {said}: raise the limit\n"


@contextlib.contextmanager
def control_group(most):
    """A control group below that of this process, of so many bytes of memory."""
    groups = dict(line.split(":")[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    old = "memory" in groups
    above = Path("/sys/fs/cgroup", *(["memory"] if old else []), groups.get("memory", groups.get("", "/"))[1:])
    group = above / f"sigstats-{uuid.uuid4().hex}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(most))
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        pytest.skip(f"no control group may be made here: {error}")
    try:
        yield group
    finally:
        wait_until(lambda: _is_removed(group))


def _is_removed(group):
    """Remove a control group; False while a process that has ended has not left it yet."""
    try:
        group.rmdir()
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
    return not group.exists()


@pytest.mark.parametrize("what", ["a plain loop", "local workers"])
def test_a_control_group_out_of_memory_costs_no_replicate(many, inputs, tmp_path, what, record):
    command, limits = [word.format(**inputs) for word in COMMANDS[what][:4]], range(120, 601, times(120, 240))
    ended = []
    for limit in limits:
        place = Folder(tmp_path / str(limit))
        with control_group(limit << 20) as group:
            enter = ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")
            done = run(*command, place=place, before=enter)
            assert not alive(done)
        ended.append(done.returncode)
        assert done.returncode in (0, 3, -9), done.stderr
        assert run("run", many[0], "--cluster", "serial", place=place).returncode == 0
        assert results(place) == many[1]
    seen = (
        f"{ended.count(-9)} killed, {ended.count(3)} with exit code 3, {ended.count(0)} done; no process left, the same"
    )
    record(f"a control group is out of memory, from 120 to 600 MiB, {what}", count=len(limits), seen=f"{seen} bytes")


def test_where_no_folder_takes_temporary_files_a_run_is_done_or_says_so(many, inputs, tmp_path, record):
    for what, code in {"compare": 0, "a plain loop": 0, "local workers": 3}.items():
        place, fault = Folder(tmp_path / what), {"folders": False}
        done = run(*(word.format(**inputs) for word in COMMANDS[what]), place=place, fault=fault)
        assert done.returncode == code, done.stderr
        assert code or "Traceback" not in done.stderr
        assert not code or "name a folder that can be written as TMPDIR" in done.stderr.splitlines()[-1]
        assert what != "a plain loop" or results(place) == many[1]
    seen = "a comparison and a plain loop done, the same bytes; local workers end with one line that names TMPDIR"
    record("no folder takes temporary files", count=3, seen=seen)
