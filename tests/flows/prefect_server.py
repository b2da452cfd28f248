"""A real Prefect server for tests, on SQLite or on a PostgreSQL of its own, on loopback."""

import base64
import contextlib
import http
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from urllib.parse import quote

from ..programs import missing
from .conftest import PROGRAM, environment, wait_until

DATABASES = ("sqlite", "postgresql")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Api:
    """What a Prefect server answers."""

    def __init__(self, url, authentication=None):
        self.url = url
        self.headers = {"Content-Type": "application/json"}
        if authentication is not None:
            self.headers["Authorization"] = f"Basic {base64.b64encode(authentication.encode()).decode()}"

    def ask(self, path, body=None):
        """What a POST to the API answers, asked again as Prefect's own client does while SQLite is locked."""
        content = json.dumps(body or {}).encode()
        asked = urllib.request.Request(f"{self.url}/{path}", content, self.headers)

        def answered():
            try:
                with urllib.request.urlopen(asked, timeout=60) as answer:
                    return (json.load(answer),)
            except urllib.error.HTTPError as error:
                if error.code != http.HTTPStatus.SERVICE_UNAVAILABLE:
                    raise
                return None
            except TimeoutError:  # of a machine with much other work; no question does anything twice
                return None

        return wait_until(answered, interval=0.5)[0]

    def deployment(self, name):
        """The deployment of this name, once it is there."""
        named = {"deployments": {"name": {"any_": [name]}}}
        return wait_until(lambda: next(iter(self.ask("deployments/filter", named)), None), seconds=120)

    def run_now(self, deployment):
        """A flow run of a deployment, outside of its schedule; its id."""
        asked = {"state": {"type": "SCHEDULED"}, "idempotency_key": str(uuid.uuid4())}
        return self.ask(f"deployments/{deployment['id']}/create_flow_run", asked)["id"]

    def runs(self, **states):
        """All flow runs, the earliest first."""
        found = self.ask("flow_runs/filter", {"sort": "EXPECTED_START_TIME_ASC"})
        return [run for run in found if not states or run["state_type"] in states["types"]]

    def run_of(self, identity):
        """One flow run."""
        return self.ask("flow_runs/filter", {"flow_runs": {"id": {"any_": [identity]}}})[0]

    def tasks_of(self, identity, expected=None):
        """The task runs of a flow run, once there are as many as `expected`; Prefect records them a little later."""
        asked = {"flow_runs": {"id": {"any_": [identity]}}}

        def there():
            found = self.ask("task_runs/filter", asked)
            return (found,) if expected in (None, len(found)) else None

        return wait_until(there, seconds=60)[0]

    def log_of(self, identity):
        """What a flow run has said so far."""
        found = self.ask("logs/filter", {"logs": {"flow_run_id": {"any_": [identity]}}})
        return [line["message"] for line in found]

    def event(self, name):
        """The only event of this name, once it is there."""

        def there():
            found = self.ask("events/filter", {"filter": {"event": {"name": [name]}}})["events"]
            return found or None

        (event,) = wait_until(there, seconds=60)
        return event

    def ended(self, identity, seconds=240):
        """One flow run after its end."""

        def there():
            found = self.run_of(identity)
            return found if found["state_type"] in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED") else None

        return wait_until(there, seconds=seconds, interval=0.2)


class Server(Api):
    """Prefect's server; started again after a kill it has the same port and database."""

    def __init__(self, folder, connection=None):
        self.port = free_port()
        super().__init__(f"http://127.0.0.1:{self.port}/api")
        self.page = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **environment(),
            "PREFECT_HOME": str(folder / "prefect"),
            "PREFECT_API_URL": self.url,
            "PREFECT_SERVER_UI_API_URL": self.url,
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
            "PREFECT_RUNNER_POLL_FREQUENCY": "1",
            "PREFECT_WORKER_QUERY_SECONDS": "1",
        }
        if connection is not None:
            self.environment["PREFECT_API_DATABASE_CONNECTION_URL"] = connection
        self.log = folder / "server.log"
        self.start()

    def start(self):
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(self.port)],
                env={key: value for key, value in self.environment.items() if key != "PREFECT_API_URL"},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            wait_until(self.answers, seconds=900)  # on an idle machine it takes seconds
        except BaseException:
            self.kill()
            raise

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the server ended: {self.log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def deploy(self, folder, name, *more, study="nightly.toml", **environment):
        """``sigstats deploy`` as it stays and runs what falls due; the process and its log."""
        words = ["deploy", folder / study, "--output", folder / "out", "--set", f"name={name}", *more]
        log, environment = folder / "deploy.log", self.environment | environment
        with log.open("a") as kept:
            streams = {"stdout": kept, "stderr": subprocess.STDOUT}
            return subprocess.Popen([*PROGRAM, *words], env=environment, start_new_session=True, **streams), log

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)


@contextlib.contextmanager
def started(database):
    """A server on a database of its own."""
    with contextlib.ExitStack() as held:
        folder = Path(tempfile.mkdtemp(prefix="prefect-"))
        held.callback(shutil.rmtree, folder, ignore_errors=True)
        connection = held.enter_context(postgresql()) if database == "postgresql" else None
        server = Server(folder, connection)
        held.callback(server.kill)
        yield server


def _postgresql_programs():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    if found:
        return found[-1]
    elsewhere = shutil.which("initdb")
    return Path(elsewhere).resolve().parent if elsewhere else None


@contextlib.contextmanager
def postgresql(password="of-this-test"):
    """A PostgreSQL with a database prefect of a user prefect with a password; its connection URL for Prefect."""
    programs = _postgresql_programs()
    if programs is None:
        missing("postgresql")
    root = os.geteuid() == 0
    as_user = {"user": "nobody"} if root else {}  # PostgreSQL refuses to run as root
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
    if root:
        shutil.chown(folder, "nobody")
    port = free_port()
    (folder / "password").write_text(password)
    (folder / "password").chmod(0o644)
    subprocess.run(
        [programs / "initdb", "--pgdata", folder / "data", "--username=prefect", "--auth=scram-sha-256",
         f"--pwfile={folder / 'password'}", "--no-sync"],
        check=True, capture_output=True, cwd=folder, **as_user,
    )  # fmt: skip
    process = subprocess.Popen(
        [programs / "postgres", "-D", folder / "data", "-h", "127.0.0.1", "-p", str(port), "-k", "", "-c", "fsync=off"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        **as_user,
    )
    try:
        ready = [programs / "pg_isready", "-h", "127.0.0.1", "-p", str(port), "-U", "prefect"]
        wait_until(lambda: subprocess.run(ready, capture_output=True, check=False).returncode == 0, seconds=120)
        created = [programs / "createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "prefect", "prefect"]
        subprocess.run(created, env={**os.environ, "PGPASSWORD": password}, check=True)
        yield f"postgresql+asyncpg://prefect:{quote(password, safe='')}@127.0.0.1:{port}/prefect"
    finally:
        process.kill()
        process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)
