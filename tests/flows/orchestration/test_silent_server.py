"""Prefect servers that never answer, or say only that they are up."""

import http
import http.server
import socket
import threading

import pytest

from ..conftest import environment, python, results, study_file
from ..predictions import STUDY, write

pytestmark = [pytest.mark.processes, pytest.mark.faults]  # they wait for clocks, or start a server


@pytest.fixture
def silent():
    """The address of a server that takes connections, and says nothing to any of them."""
    taken = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            while True:
                try:
                    taken.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/api"
        server.shutdown(socket.SHUT_RDWR)
    for connection in taken:
        connection.close()


class _Healthy(http.server.BaseHTTPRequestHandler):
    """Says that the server is up, and answers nothing else."""

    def do_GET(self):
        if not self.path.endswith("/health"):
            self.do_POST()
        self.send_response(http.HTTPStatus.OK)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"true")

    def do_POST(self):
        self.server.over.wait()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def healthy():
    """The address of a server that answers the question whether it is up, and no other."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Healthy) as server:
        server.over = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/api"
        server.over.set()
        server.shutdown()


def run(*arguments, api, home, timeout):
    more = {"PREFECT_API_URL": api, "PREFECT_HOME": str(home)}
    return python("-m", "sigstats", *arguments, env={**environment(), **more}, timeout=timeout)


@pytest.fixture
def nightly(tmp_path):
    write(tmp_path / "predictions/production.csv", wrong=0.12, at=1000)
    write(tmp_path / "predictions/candidate-1.csv", wrong=0.08, seed=1, at=1001)
    return study_file(tmp_path, STUDY, "nightly.toml")


@pytest.fixture(params=["silent", "healthy"])
def stalling(request):
    """The addresses of both."""
    return request.getfixturevalue(request.param)


def test_a_whole_study_goes_on_without_a_silent_server(nightly, tmp_path, stalling):
    # Prefect's own patience is six minutes and a half: the limit here tells the two apart on the busiest machine.
    done = run("run", nightly, "--output", tmp_path / "out", api=stalling, home=tmp_path / "prefect", timeout=180)
    assert done.returncode == 0, done.stderr
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: Prefect does not follow the run")]
    assert len(notes) == 1
    assert "did not answer for 10 s" in notes[0]


def test_so_does_a_study_in_cells(quick, tmp_path, healthy):
    path, reference, _ = quick
    out = tmp_path / "out"
    done = run("run", path, "--output", out, "--cluster", "serial", api=healthy, home=tmp_path / "prefect", timeout=180)
    assert done.returncode == 0, done.stderr
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: Prefect does not follow the run")]
    assert len(notes) == 1
    assert results(out) == reference


def test_deploy_refuses_a_silent_server_in_one_line(nightly, tmp_path, stalling):
    done = run("deploy", nightly, "--output", tmp_path / "out", api=stalling, home=tmp_path / "prefect", timeout=180)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == f"sigstats: deploy: no Prefect server answers at {stalling}; start it or set PREFECT_API_URL\n"
    )
