"""Regression studies under a real Prefect server: schedules that fire, artifacts, verdicts, faults, pages."""

import contextlib
import fcntl
import os
import signal
import socket
import subprocess

import pandas as pd
import pytest

from ...programs import missing
from ..browser import CHROMIUM, open_page
from ..conftest import PROGRAM, QUICK, python, study_file, wait_until
from ..predictions import STUDY, write
from ..prefect_server import DATABASES, started

pytestmark = [pytest.mark.processes, pytest.mark.faults]


@pytest.fixture(scope="module", params=DATABASES)
def server(request):
    with started(request.param) as found:
        yield found


#: A test that does not depend on the database. Schedules, runs that overlap and a killed server are tested on both.
on_one = pytest.mark.parametrize("server", DATABASES[:1], indirect=True)


@contextlib.contextmanager
def deployed(server, folder, name, *more, study="nightly.toml", outage=False):
    """``sigstats deploy`` as it stays and runs what falls due; Prefect tells of an `outage` in its own words."""
    process, log = server.deploy(folder, name, *more, study=study)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert outage or "Traceback" not in log.read_text()
    assert process.returncode == 0, log.read_text()


def evaluations(folder):
    return (
        pd.read_parquet(folder / "out/history").drop_duplicates("evaluation")
        if (folder / "out/history").exists()
        else []
    )


@contextlib.contextmanager
def held_up(folder):
    """Evaluations wait for the lock of the history meanwhile."""
    (folder / "out").mkdir(exist_ok=True)
    with (folder / "out/.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def test_a_schedule_fires_and_leaves_its_artifacts_and_pages(server, folder, tmp_path_factory):
    with deployed(server, folder, "nightly", "--cron", "* * * * *"):
        deployment = server.deployment("nightly")
        assert [kept["schedule"]["cron"] for kept in deployment["schedules"]] == ["* * * * *"]

        def fired():
            found = [run for run in server.runs(types=["COMPLETED"]) if run["deployment_id"] == deployment["id"]]
            return next((run for run in found if run["auto_scheduled"]), None)

        run = wait_until(fired, seconds=240)
    assert run["state"]["message"].startswith(("PASS", "INCONCLUSIVE"))
    assert len(evaluations(folder)) == 1
    artifacts = {kept["key"]: kept for kept in server.ask("artifacts/latest/filter")}
    assert {"nightly-measures", "nightly-comparison", "nightly-report", "nightly-page"} <= set(artifacts)
    assert artifacts["nightly-measures"]["type"] == "table"
    assert "region = west" in artifacts["nightly-measures"]["data"]
    assert artifacts["nightly-comparison"]["data"].startswith("### ")
    assert f"{socket.gethostname()}:{folder / 'out/report.html'}" in artifacts["nightly-report"]["data"]
    link = (folder / "out/report.html").as_uri()
    if CHROMIUM is None:
        missing("chromium")
    report = open_page(link, tmp_path_factory.mktemp("report"))
    assert (report.console, report.hosts) == ([], set())
    assert report.dom.count('class="point ') == 16
    assert report.dom.count("<th ") == report.dom.count("<th scope") == report.dom.count('<button type="button">') > 5
    page = open_page(f"{server.page}/runs/flow-run/{run['id']}", tmp_path_factory.mktemp("page"), milliseconds=30_000)
    assert [line for line in page.console if "ERROR" in line.upper()] == []
    assert "Completed" in page.dom
    assert run["name"] in page.dom


@on_one
def test_a_failing_verdict_fails_the_run_with_its_reason(server, folder):
    write(folder / "predictions/candidate-2.csv", wrong=0.08, on_west=0.40, seed=2, at=1002)
    with deployed(server, folder, "failing"):
        run = server.ended(server.run_now(server.deployment("failing")))
    assert (run["state_type"], run["state_name"]) == ("FAILED", "Failed")
    assert "StudyFailed: FAIL: accuracy on region = west fell by " in run["state"]["message"]
    assert "Keep the baseline" in run["state"]["message"]
    assert list(evaluations(folder)["verdict"]) == ["fail"]
    with deployed(
        server, folder, "failing"
    ):  # which does not take it for left behind by the process of its first attempt
        retry = {"state": {"type": "SCHEDULED", "name": "AwaitingRetry"}, "force": True}
        server.ask(f"flow_runs/{run['id']}/set_state", retry)
        again = server.ended(run["id"])
    assert (again["state_type"], again["run_count"]) == ("FAILED", 2)
    assert list(evaluations(folder)["verdict"]) == ["fail"]
    since = evaluations(folder)["evaluated_at"].iloc[0]
    said = f"StudyFailed: still failing since {since:%Y-%m-%d %H:%M} UTC: FAIL: accuracy on region = west fell by "
    assert said in again["state"]["message"]
    assert again["state"]["message"] != run["state"]["message"]
    for name, ended in [("failed", run), ("still-failing", again)]:
        event = server.event(f"sigstats.study.{name}")
        assert event["payload"]["message"] in ended["state"]["message"]
        assert event["resource"]["prefect.resource.name"] == "failing"
        assert f"prefect.flow-run.{ended['id']}" in [found["prefect.resource.id"] for found in event["related"]]


@on_one
def test_one_model_that_misses_the_bar_fails_the_run_and_one_that_reaches_it_again_is_told(server, folder):
    bar = STUDY.replace('baseline = "predictions/production.csv"', "at_least = 0.85").replace(', "macro-f1"', "")
    bar = bar.split("\n[rule]")[0]
    study_file(folder, bar, "bar.toml")
    events = []
    for number, wrong in ((1, 0.40), (2, 0.02)):
        write(folder / f"predictions/candidate-{number}.csv", wrong=wrong, seed=number, at=1000 + number)
        with deployed(server, folder, f"bar-{number}", study="bar.toml"):
            events.append(server.ended(server.run_now(server.deployment(f"bar-{number}"))))
    assert [run["state_type"] for run in events] == ["FAILED", "COMPLETED"]
    assert "points below the bar (" in events[0]["state"]["message"]
    assert "Do not accept the model" in events[0]["state"]["message"]
    assert "points above the bar (" in server.event("sigstats.study.repaired")["payload"]["message"]
    assert list(evaluations(folder)["verdict"]) == ["fail", "pass"]


@on_one
def test_bad_input_fails_the_run_with_its_line_and_appends_nothing(server, folder):
    (folder / "predictions/candidate-1.csv").write_text("id,label\n1,2\n")
    with deployed(server, folder, "unreadable"):
        run = server.ended(server.run_now(server.deployment("unreadable")))
    assert run["state_type"] == "FAILED"
    assert "column 'prediction' was not found" in run["state"]["message"]
    assert len(evaluations(folder)) == 0


@on_one
def test_a_deployed_study_is_one_run_whose_tasks_are_its_cells(server, folder):
    study_file(folder, QUICK, "quick.toml")
    with deployed(server, folder, "studied", "--cluster", "serial", study="quick.toml"):
        deployment = server.deployment("studied")
        before = {each["id"] for each in server.runs()}
        run = server.ended(server.run_now(deployment))
    # A schedule of an earlier test may have made another run meanwhile.
    new = [
        each for each in server.runs() if each["id"] not in before and each["deployment_id"] in (None, deployment["id"])
    ]
    assert (run["state_type"], run["name"], [each["id"] for each in new]) == ("COMPLETED", "studied", [run["id"]])
    cells = {path.name for path in (folder / "out/replicates").iterdir()}
    tasks = server.tasks_of(run["id"], expected=len(cells) + 1)
    assert {task["state_type"] for task in tasks} == {"COMPLETED"}
    assert {task["name"] for task in tasks if task["name"][:8] != "results-"} == cells
    log = server.log_of(run["id"])
    assert any(line.startswith("studied: which classifiers") for line in log)
    assert any(" computations" in line and "hypotheses" in line for line in log), log  # the last line


def test_a_tick_is_cancelled_while_a_run_is_under_way(server, folder):
    with deployed(server, folder, "overlapping"):
        deployment = server.deployment("overlapping")
        with held_up(folder):
            first = server.run_now(deployment)
            wait_until(lambda: server.run_of(first)["state_type"] == "RUNNING", seconds=120)
            second = server.ended(server.run_now(deployment))
            assert second["state_type"] == "CANCELLED"
            assert server.run_of(first)["state_type"] == "RUNNING"
        assert server.ended(first)["state_type"] == "COMPLETED"
        third = server.ended(server.run_now(deployment))
        assert third["state_type"] == "COMPLETED"
    assert len(evaluations(folder)) == 1


@on_one
def test_a_run_under_way_ends_with_the_process_that_serves_it(server, folder):
    with held_up(folder):
        with deployed(server, folder, "interrupted"):
            run = server.run_now(server.deployment("interrupted"))
            wait_until(lambda: server.run_of(run)["infrastructure_pid"], seconds=120)
        ended = server.run_of(run)  # while no other process serves it
    assert (ended["state_type"], ended["state"]["message"]) == ("CRASHED", "its process is gone")
    with deployed(server, folder, "interrupted"):
        assert server.ended(server.run_now(server.deployment("interrupted")))["state_type"] == "COMPLETED"


@on_one
def test_a_deployment_that_replaces_another_study_names_it(server, folder):
    study_file(folder, QUICK, "quick.toml")
    log = folder / "deploy.log"

    def served(study):
        before = log.stat().st_size if log.exists() else 0
        with deployed(server, folder, "one-name", study=study):
            server.ended(server.run_now(server.deployment("one-name")))
        return log.read_text()[before:]

    assert "no longer runs" not in served("nightly.toml")
    assert "no longer runs" not in served("nightly.toml")
    said = f"note: sigstats/one-name no longer runs {folder / 'nightly.toml'}, with results in {folder / 'out'}; "
    assert served("quick.toml").startswith(said)


def test_a_server_that_is_killed_harms_neither_the_result_nor_the_next_run(server, folder):
    with deployed(server, folder, "outliving", outage=True):
        deployment = server.deployment("outliving")
        with held_up(folder):
            first = server.run_now(deployment)
            wait_until(lambda: any("worse than the baseline" in line for line in server.log_of(first)), seconds=120)
            server.kill()
        report = folder / "out/report.html"
        wait_until(lambda: report.exists() and report.read_text().endswith("</html>\n"), seconds=120)
        assert len(evaluations(folder)) == 1
        server.start()
        write(folder / "predictions/candidate-2.csv", wrong=0.08, seed=3, at=1002)
        with deployed(server, folder, "the-next", outage=True):
            run = server.ended(server.run_now(server.deployment("the-next")))
    assert run["state_type"] == "COMPLETED"
    assert list(evaluations(folder).sort_values("evaluated_at")["look"]) == [1, 2]


@on_one
def test_a_missing_work_pool_is_named(server, folder):
    words = ["deploy", folder / "nightly.toml", "--output", folder / "out", "--work-pool", "nowhere"]
    refused = python(*PROGRAM[1:], *words, env=server.environment)
    assert refused.returncode == 2
    assert "--work-pool: 'nowhere' is not valid; expected a work pool of the server" in refused.stderr
