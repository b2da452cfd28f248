"""A command whose memory is limited, as by `ulimit -v` or a batch system: done, or one line that says what to do."""

import pytest

from .conftest import Folder, alive, results, run, times

pytestmark = pytest.mark.processes

#: KiB: from what has no room for NumPy to what has room for workers and compiled code.
LIMITS = range(400_000, 2_000_000, times(80_000, 500_000))
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
    said = "this process is limited to 195 MiB of addresses (ulimit -v); expected 512 MiB or more for a command"
    assert ended.stderr == f"sigstats: cannot start: MemoryError: {said}\n"
