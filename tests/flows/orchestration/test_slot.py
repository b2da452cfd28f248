"""A run of this host is known by its process, whatever the clock says meanwhile."""

import os
import subprocess
import sys
import uuid

from sigstats.flows.orchestration import environment  # noqa: F401 - before Prefect
from sigstats.flows.orchestration.slot import _computes


def test_a_process_is_told_from_another_of_its_number():
    run = uuid.uuid4()
    own = {**os.environ, "PREFECT__FLOW_RUN_ID": str(run)}
    with subprocess.Popen([sys.executable, "-c", "input()"], env=own, stdin=subprocess.PIPE) as process:
        assert _computes(process.pid, run)
        assert not _computes(process.pid, uuid.uuid4())
        process.communicate(b"\n")
    assert not _computes(process.pid, run)
