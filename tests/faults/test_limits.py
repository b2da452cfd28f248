"""A run whose memory is limited, as by `ulimit -v` or a batch system: it ends, in one line, and says what to do."""

import pytest

from .conftest import Folder, alive, run, times

pytestmark = pytest.mark.processes

#: KiB: from what does not import SciPy to what starts workers.
LIMITS = range(600_000, 1_000_000, times(40_000, 130_000))


@pytest.mark.parametrize("cluster", [("--cluster", "serial"), ("--workers", "2")], ids=["serial", "workers"])
def test_a_run_without_enough_memory_ends_in_one_line(many, tmp_path, cluster, record):
    for limit in LIMITS:
        place = Folder(tmp_path / str(limit))
        done = run("run", many[0], *cluster, place=place, before=("sh", "-c", f'ulimit -v {limit}; exec "$@"', "-"))
        assert "Traceback" not in done.stderr
        if done.returncode == 127:  # the C library's own line, where a module's data of threads find no room
            assert "cannot allocate memory" in done.stderr
            continue
        assert done.returncode in (0, 3), done.stderr
        last = done.stderr.splitlines()[-1]
        assert done.returncode == 0 or last.startswith("sigstats: ")
        assert not alive(done)
    where = "a plain loop" if "serial" in cluster else "local workers"
    seen = "exit code 3 and one line, or done; no process left"
    record(f"the memory of a run is limited (ulimit -v), with {where}", count=len(LIMITS), seen=seen)
