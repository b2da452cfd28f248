"""The stack of docker/: what its files say, and its Dask services started by their own commands on loopback."""

import os
import re
import shutil
import subprocess
import urllib.error

import pandas as pd
import pytest

from ..flows.conftest import results, run, study_file, wait_until
from ..flows.predictions import write
from ..flows.prefect_server import Api, postgresql
from ..programs import needs
from .native import DOCKER, SERVICES, Native, cluster_file, dask_places, prefect_places

openssl = needs(shutil.which("openssl"), "openssl")


def test_every_service_restarts_and_says_whether_it_is_well():
    for name, service in SERVICES.items():
        if name == "run":
            assert service["restart"] == "no"
            continue
        assert service["restart"] == "unless-stopped", name
        assert service["healthcheck"]["test"][0] == "CMD", name
    for name, service in SERVICES.items():
        user = "postgres" if name == "database" else "sigstats"
        assert (service["user"], service["read_only"], service["cap_drop"]) == (user, True, ["ALL"]), name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert re.fullmatch(r"\dg", service["mem_limit"]), name


def test_secrets_come_from_the_environment_and_ports_stay_on_loopback():
    text = (DOCKER / "compose.yaml").read_text()
    for name in ("PASSWORD", "AUTH_STRING"):
        for value in re.findall(rf"^ +\w*{name}: (.+)$", text, flags=re.MULTILINE):
            assert re.match(r"\$\{\w+:\?", value), value
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_image_is_built_in_stages_from_the_lock_and_runs_without_root():
    lines = (DOCKER / "Dockerfile").read_text()
    assert lines.count("\nFROM ") == 2
    assert "COPY docker/requirements.lock ./\n" in lines
    assert "--require-hashes -r requirements.lock" in lines
    assert re.search(r"^USER sigstats$", lines, flags=re.MULTILINE)
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", lines, flags=re.MULTILINE)
    allowed = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    for name in " ".join(copied).split():
        assert (DOCKER.parent / name).exists()
        assert f"!{name}" in allowed


def test_base_images_are_named_by_their_digests():
    (base,) = re.findall(r"^ARG PYTHON=(.+)$", (DOCKER / "Dockerfile").read_text(), flags=re.MULTILINE)
    for image in (base, SERVICES["database"]["image"].removeprefix("${POSTGRES_IMAGE:-").removesuffix("}")):
        assert re.fullmatch(r"[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}", image)


def listed(folder):
    """The permissions of a folder and of what is in it."""
    return {str(path.relative_to(folder)): path.stat().st_mode & 0o777 for path in [folder, *folder.rglob("*")]}


@openssl
def test_certificates_are_readable_to_containers_and_the_authority_s_key_to_its_owner(tmp_path):
    folder = tmp_path / "certificates"
    subprocess.run([DOCKER / "make-certificates.sh", folder], umask=0, check=True)
    assert listed(folder) == {
        ".": 0o700,
        "ca.key": 0o600,
        "services": 0o755,
        **{f"services/{name}.pem": 0o644 for name in ("ca", "cert", "key")},
    }
    mounts = {mount for service in SERVICES.values() for mount in service.get("volumes", []) if "certificates" in mount}
    assert mounts == {"./certificates/services:/certificates:ro"}
    if os.geteuid() == 0:
        stranger = {"user": 65534, "group": 65534, "extra_groups": [], "capture_output": True, "check": False}
        # a process that stands in a folder needs not pass those above it: as with a mount
        names = ["ca.pem", "cert.pem", "key.pem"]
        assert subprocess.run(["cat", *names], cwd=folder / "services", **stranger).returncode == 0
        assert subprocess.run(["cat", "services/key.pem"], cwd=folder, **stranger).returncode != 0
    subprocess.run([DOCKER / "make-certificates.sh", folder], check=True)  # again, as when they expire


@openssl
def test_no_key_is_made_in_a_folder_that_others_may_enter(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    done = subprocess.run(
        [DOCKER / "make-certificates.sh", tmp_path / "open"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "others may enter it" in done.stderr
    assert not list((tmp_path / "open").iterdir())


STUDY = """\
kind = "benchmark"
datasets = ["iris", "wine"]
classifiers = ["1-nn", "decision-tree"]
permutation = { resamples = 59 }
"""


@pytest.mark.faults
@pytest.mark.processes
@openssl
def test_the_dask_services_run_a_study_over_tls_and_outlive_a_killed_worker(tmp_path):
    subprocess.run([DOCKER / "make-certificates.sh", tmp_path / "certificates"], check=True)
    certificates = tmp_path / "certificates" / "services"
    places = dask_places(certificates, tmp_path)
    study = study_file(tmp_path, STUDY)
    scheduler = Native("scheduler", places)
    worker = None
    try:
        wait_until(scheduler.healthy, seconds=60)
        worker = Native("worker", places)
        wait_until(worker.healthy, seconds=60)
        where = study_file(tmp_path, cluster_file(places), "cluster.toml")
        first = run("run", study, "--output", tmp_path / "first", "--cluster", where)
        assert first.returncode == 0, first.stderr
        worker.kill()
        worker.start()  # as a restart policy does
        wait_until(worker.healthy, seconds=60)
        second = run("run", study, "--output", tmp_path / "second", "--cluster", where)
        assert second.returncode == 0, second.stderr
        plain = run("run", study, "--output", tmp_path / "plain", "--cluster", "serial")
        assert plain.returncode == 0, plain.stderr
        assert results(tmp_path / "first") == results(tmp_path / "second") == results(tmp_path / "plain")
    finally:
        for service in (worker, scheduler):
            if service is not None and service.process.poll() is None:
                service.kill()


@pytest.mark.faults
@pytest.mark.processes
def test_prefect_on_postgresql_runs_the_schedule_behind_its_password_and_outlives_kills(tmp_path):
    folder = tmp_path / "predictions"
    write(folder / "production.csv", wrong=0.12, at=1000)
    write(folder / "candidate-1.csv", wrong=0.05, seed=1, at=1001)
    study = (DOCKER.parent / "configs/studies/regression.toml").read_text()
    study = study.replace("predictions", str(folder)).replace(".parquet", ".csv")
    study_file(tmp_path, study, "regression.toml")
    values = {"POSTGRES_PASSWORD": "of/this@test:%3F#", "PREFECT_AUTH": "someone:secret"}
    with postgresql(values["POSTGRES_PASSWORD"]) as connection:
        places = {
            **prefect_places(connection, tmp_path),
            "/configs/studies": str(tmp_path),
            "/results": str(tmp_path / "results"),
        }
        address = f"{places['http://prefect:4200']}/api"
        prefect = Native("prefect", places, values)
        schedule = None
        try:
            wait_until(prefect.healthy, seconds=240)
            with pytest.raises(urllib.error.HTTPError, match="401"):
                Api(address).ask("deployments/filter")
            api = Api(address, values["PREFECT_AUTH"])
            schedule = Native("schedule", places, values)
            wait_until(schedule.healthy, seconds=240)
            deployment = api.deployment("regression")
            assert [kept["schedule"]["cron"] for kept in deployment["schedules"]] == ["0 6 * * *"]
            assert api.ended(api.run_now(deployment))["state_type"] == "COMPLETED"
            prefect.kill()
            schedule.kill()
            prefect.start()  # as their restart policies do
            wait_until(prefect.healthy, seconds=240)
            schedule.start()
            write(folder / "candidate-2.csv", wrong=0.12, on_west=0.5, seed=2, at=1002)
            failed = api.ended(api.run_now(deployment))
            assert failed["state_type"] == "FAILED"
            assert "region = west" in failed["state"]["message"]
            assert len({run["id"] for run in api.runs(types=["COMPLETED", "FAILED"])}) == 2
            assert not (tmp_path / "prefect" / "prefect.db").exists()  # SQLite, where it knows of no other database
        finally:
            for service in (schedule, prefect):
                if service is not None and service.process.poll() is None:
                    service.kill()
    found = pd.read_parquet(tmp_path / "results/regression/history").drop_duplicates("evaluation")
    assert sorted(found["verdict"]) == ["fail", "pass"]
