"""The services of docker/ by their own commands: PostgreSQL, Prefect, a Dask scheduler, workers, a pool, a bucket."""

import asyncio
import contextlib
import shutil
import subprocess
import urllib.error
import urllib.request
from types import SimpleNamespace

import pandas as pd
import pytest

from ..flows.conftest import PROGRAM, results, run, study_file, wait_until
from ..flows.predictions import write
from ..flows.prefect_server import Api, free_port, postgresql
from ..lazily import lazily
from ..object_store import client, object_store
from ..programs import needs
from .native import DOCKER, SERVICES, Native, cluster_file, dask_places, prefect_places, refuses_without_certificate

asyncpg = lazily("asyncpg")

pytestmark = [pytest.mark.faults, pytest.mark.processes, needs(shutil.which("openssl"), "openssl")]

SECRETS = {"postgres-password": "of/this@test:%3F#", "prefect-auth": "someone:secret"}

STUDY = """\
kind = "benchmark"
datasets = ["iris", "wine"]
classifiers = ["1-nn", "decision-tree"]
permutation = { resamples = 299 }
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """A bucket, and every service that a deployment for the work pool needs, all of them well."""
    folder = tmp_path_factory.mktemp("stack")
    subprocess.run([DOCKER / "make-certificates.sh", folder / "certificates"], check=True)
    with contextlib.ExitStack() as started, pytest.MonkeyPatch.context() as patch:
        connection = started.enter_context(postgresql(SECRETS["postgres-password"]))
        bucket = started.enter_context(object_store("results"))
        keys = {name: bucket[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
        for name in bucket.keys() - keys.keys():
            patch.setenv(name, bucket[name])
        (folder / "secrets").mkdir()
        written = "\n".join(["[default]", *(f"{name.lower()} = {value}" for name, value in keys.items())])
        for name, value in {**SECRETS, "bucket": written}.items():
            (folder / "secrets" / name).write_text(f"{value}\n")
        certificates = folder / "certificates/services"
        places = {**dask_places(certificates, folder), **prefect_places(connection, folder)}
        places |= {"/configs/studies": str(folder), "/results": str(folder / "results")}
        places |= {"/run/secrets": str(folder / "secrets")}
        beside = {port: str(free_port()) for port in ("8788", "8790")}  # a container has ports of its own

        def start(name, **others):
            service = Native(SERVICES[name], {**places, **others})
            started.callback(service.kill)
            return service

        prefect, scheduler = start("prefect"), start("scheduler")
        wait_until(scheduler.healthy, seconds=240, interval=0.5)
        workers = [start("worker"), start("worker", **beside)]
        for service in (*workers, prefect):
            wait_until(service.healthy, seconds=240, interval=0.5)
        pool = start("pool")
        wait_until(pool.healthy, seconds=240, interval=0.5)
        person = {**pool.environment, **keys, "PREFECT_API_AUTH_STRING": SECRETS["prefect-auth"]}
        yield SimpleNamespace(
            person=person, connection=connection, certificates=certificates, folder=folder, places=places, start=start,
            prefect=prefect, scheduler=scheduler, workers=workers, pool=pool,
        )  # fmt: skip


async def recorded(connection):
    """The flow runs that the tables of a PostgreSQL hold: names and states."""
    found = await asyncpg.connect(connection.replace("+asyncpg", ""))
    try:
        return {(row["name"], row["state_type"]) for row in await found.fetch("SELECT * FROM flow_run")}
    finally:
        await found.close()


def test_a_deployed_study_goes_from_the_page_over_workers_one_of_them_killed_to_a_bucket(stack, tmp_path):
    study = study_file(tmp_path, STUDY)
    cluster = study_file(tmp_path, cluster_file(stack.places), "cluster.toml")
    of_a_person = stack.person
    words = ["deploy", study, "--output", "s3://results/quick", "--cluster", cluster, "--work-pool", "sigstats"]
    subprocess.run([*PROGRAM, *map(str, words)], env=of_a_person, check=True, timeout=240)
    api = Api(of_a_person["PREFECT_API_URL"], SECRETS["prefect-auth"])
    started = api.run_now(api.deployment("study"))
    plain = run("run", study, "--output", tmp_path / "plain", "--cluster", "serial")
    assert plain.returncode == 0, plain.stderr
    bucket = client(of_a_person)

    def kept(folder):
        return bucket.list_objects_v2(Bucket="results", Prefix=f"quick/{folder}").get("Contents", [])

    wait_until(lambda: kept("replicates/"), seconds=240)
    stack.workers[1].kill()
    stack.workers[1].start()  # as a restart policy does
    ended = api.ended(started, seconds=400)
    assert ended["state_type"] == "COMPLETED", api.log_of(ended["id"])
    expected = results(tmp_path / "plain")
    stored = {name: bucket.get_object(Bucket="results", Key=f"quick/{name}")["Body"].read() for name in expected}
    assert stored == expected
    receipts = [bucket.get_object(Bucket="results", Key=found["Key"])["Body"].read() for found in kept("receipts/")]
    assert any(b'"dask"' in text for text in receipts)
    cells = {path.split("/")[1] for path in expected if path.startswith("replicates/")}
    wait_until(lambda: cells <= {found["name"] for found in api.tasks_of(ended["id"])}, seconds=60, interval=1)
    assert ("study", "COMPLETED") in asyncio.run(recorded(stack.connection))
    assert not (stack.folder / "prefect/prefect.db").exists()  # SQLite, where Prefect knows of no other database


def test_what_dask_shows_without_proof_is_on_loopback_and_its_other_ports_want_a_certificate(stack):
    names = dict.fromkeys(stack.workers, "worker") | {stack.scheduler: "scheduler"}
    for service, name in names.items():
        wait_until(service.healthy, seconds=60, interval=0.5)
        words = [service.here(word) for word in SERVICES[name]["command"]]
        host, port = words[words.index("--dashboard-address") + 1].split(":")
        everywhere = service.listening()
        assert (host, int(port)) in everywhere
        assert {ip for ip, found in everywhere if found == int(port)} == {"127.0.0.1"}
        others = {address for address in everywhere if address[1] != int(port)}
        assert len(others) >= 1
        for _, found in others:
            refuses_without_certificate(found, stack.certificates)


def test_the_schedule_runs_behind_a_password_and_outlives_kills(stack):
    predictions = stack.folder / "predictions"
    write(predictions / "production.csv", wrong=0.12, at=1000)
    write(predictions / "candidate-1.csv", wrong=0.05, seed=1, at=1001)
    text = (DOCKER.parent / "configs/studies/regression.toml").read_text().replace("predictions", str(predictions))
    study_file(stack.folder, text.replace(".parquet", ".csv"), "regression.toml")
    address = stack.pool.environment["PREFECT_API_URL"]
    with pytest.raises(urllib.error.HTTPError, match="401"):
        Api(address).ask("deployments/filter")
    api = Api(address, SECRETS["prefect-auth"])
    schedule = stack.start("schedule")
    wait_until(schedule.healthy, seconds=240)
    deployment = api.deployment("regression")
    assert [kept["schedule"]["cron"] for kept in deployment["schedules"]] == ["0 6 * * *"]
    assert api.ended(api.run_now(deployment))["state_type"] == "COMPLETED"
    for service in (stack.prefect, schedule):
        service.kill()
    stack.prefect.start()  # as their restart policies do
    wait_until(stack.prefect.healthy, seconds=240)
    schedule.start()
    write(predictions / "candidate-2.csv", wrong=0.12, on_west=0.5, seed=2, at=1002)
    failed = api.ended(api.run_now(deployment))
    assert failed["state_type"] == "FAILED"
    assert "region = west" in failed["state"]["message"]
    found = pd.read_parquet(stack.folder / "results/regression/history").drop_duplicates("evaluation")
    assert sorted(found["verdict"]) == ["fail", "pass"]
