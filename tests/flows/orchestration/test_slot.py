"""A run of this host is known by its process, whatever the clock says meanwhile."""

import os
import subprocess
import sys
import uuid

from ...lazily import lazily

server = lazily("sigstats.flows.orchestration.server")


def test_a_process_is_told_from_another_of_its_number():
    run = uuid.uuid4()
    own = {**os.environ, "PREFECT__FLOW_RUN_ID": str(run)}
    waits = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(waits, env=own, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert server._computes(process.pid, run)
        assert not server._computes(process.pid, uuid.uuid4())
        process.communicate(b"\n")
    assert not server._computes(process.pid, run)
