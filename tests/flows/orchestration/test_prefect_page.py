"""What docs/prefect.md shows, on a real Prefect server."""

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import PROGRAM, python, wait_until
from ..predictions import write

pytestmark = [pytest.mark.processes, pytest.mark.faults]

PAGE = (Path(__file__).parents[3] / "docs/prefect.md").read_text(encoding="utf-8")
READY, RELEASE, SERVED, AUTOMATIONS = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
(PREFECT_YAML,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
_, POOL = re.findall(r"^```sh\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def run(server, folder, *words):
    """What a program prints, which ends by itself."""
    environment = {**server.environment, "PWD": str(folder)}
    done = python(*words, env=environment, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fail(folder):
    """Let the next candidate be worse."""
    write(folder / "predictions/candidate-2.csv", wrong=0.08, on_west=0.40, seed=2, at=1002)


def test_the_first_lines_run_as_they_are(server, folder):
    (folder / "ready.py").write_text(READY)
    said = run(server, folder, "ready.py").split()
    assert (int(said[-2]) > 0, said[-1]) == (True, str(folder / "results/nyssen/report.html"))
    assert [each["state_type"] for each in server.runs() if each["name"] == "nyssen"] == ["COMPLETED"]


def test_a_study_in_a_flow_of_ones_own_is_a_run_below_it(server, folder):
    (folder / "release.py").write_text(RELEASE)
    said = run(server, folder, "release.py").split()
    assert said[-2] in ("pass", "inconclusive")
    assert said[-1] == str(folder / "results/nightly/report.html")
    below = [found for found in server.runs() if found["parent_task_run_id"] is not None]
    assert [(found["name"], found["state_type"]) for found in below] == [("nightly", "COMPLETED")]
    fail(folder)
    with pytest.raises(AssertionError, match="StudyFailed: FAIL: accuracy on region = west fell by "):
        run(server, folder, "release.py")


def test_a_served_study_runs(server, folder):
    (folder / "served.py").write_text(SERVED)
    process = subprocess.Popen([sys.executable, "served.py"], env=server.environment, cwd=folder)
    try:
        ended = server.ended(server.run_now(server.deployment("served")))
        assert (ended["state_type"], ended["name"]) == ("COMPLETED", "nightly")
    finally:
        process.terminate()
        process.wait(60)


def test_a_work_pool_runs_what_was_deployed_by_both_programs(server, folder):
    server.ask("work_pools/", {"name": "here", "type": "process"})
    deploy, work = (line.split() for line in POOL.splitlines())
    run(server, folder, *PROGRAM[1:], *deploy[1:])
    (folder / "prefect.yaml").write_text(PREFECT_YAML)
    run(server, folder, "-m", "prefect", "--no-prompt", "deploy", "--all")
    deployments = [server.deployment(name) for name in ("nightly", "from-yaml")]
    asked = []
    for deployment in deployments:
        asked.append(server.run_now(deployment))
        run(server, folder, "-m", "prefect", *work[1:], "--run-once")
    ended = [server.ended(identity) for identity in asked]
    assert [(found["state_type"], found["name"]) for found in ended] == [("COMPLETED", "nightly")] * 2
    assert ended[1]["state"]["message"].startswith("nothing new since ")


def test_automations_hear_of_a_failed_gate_and_of_its_history(server, folder):
    run(server, folder, "-c", AUTOMATIONS)
    fail(folder)
    (folder / "release.py").write_text(RELEASE)
    with pytest.raises(AssertionError, match="StudyFailed"):
        run(server, folder, "release.py")

    def heard():
        asked = {"filter": {"event": {"name": ["prefect.automation.triggered"]}}}
        found = server.ask("events/filter", asked)["events"]
        names = {event["resource"]["prefect.resource.name"] for event in found}
        return names >= {"a gate failed", "a history grew"}

    wait_until(heard, seconds=90)


def test_a_runner_that_was_killed_leaves_no_run_that_blocks_the_others(server, folder):
    (folder / "out").mkdir()
    with (folder / "out/.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # the evaluation waits for it
        process, log = server.deploy(folder, "one-at-a-time")
        deployment = server.deployment("one-at-a-time")
        first = server.run_now(deployment)
        wait_until(lambda: server.run_of(first)["infrastructure_pid"], process, seconds=120)
        assert server.ended(server.run_now(deployment))["state_type"] == "CANCELLED"
        wait_until(lambda: "is cancelled: another is under way" in log.read_text(), process)
        os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(server.run_of(first)["infrastructure_pid"].rpartition(":")[2]), signal.SIGKILL)
        process.wait(30)
    process, log = server.deploy(folder, "one-at-a-time")
    try:
        assert server.ended(first)["state_type"] == "CRASHED"
        assert server.ended(server.run_now(deployment))["state_type"] == "COMPLETED"
        assert "note: the run one-at-a-time is ended, since its process is gone" in log.read_text()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


#: A run of another host whose last sign of life is old counts as left behind; one that gives another does not.
ELSEWHERE = """\
from sigstats.flows.orchestration import set_up

set_up()
from prefect.client.orchestration import get_client
from prefect.states import Running
from sigstats.flows.orchestration import server
from sigstats.flows.orchestration.study_flow import study_flow

server._LEFT_BEHIND = 1e-9
with get_client(sync_client=True) as client:
    deployment = client.create_deployment(client.create_flow(study_flow), name="elsewhere")
    run = client.create_flow_run_from_deployment(deployment, state=Running()).id
    watch = server.Slot(deployment, print)
    for _ in range(2):
        client.update_flow_run(run, infrastructure_pid="elsewhere:1")
        watch.look(client)
        assert client.read_flow_run(run).state.is_running()
    watch.look(client)
    assert client.read_flow_run(run).state.is_crashed()
"""


def test_a_run_of_another_host_that_gives_no_sign_of_life_is_ended(server, folder):
    (folder / "elsewhere.py").write_text(ELSEWHERE)
    assert run(server, folder, "elsewhere.py").endswith("is ended, since its process is gone\n")
