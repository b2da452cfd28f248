"""Prefect's server dies: it is a view of the run, which goes on."""

import pytest

from ..flows.conftest import wait_until
from ..flows.prefect_server import started
from .conftest import Folder, results, start, stored

pytestmark = pytest.mark.processes


def test_a_prefect_server_that_dies_takes_nothing_with_it(many, tmp_path, record):
    path, reference = many
    place = Folder(tmp_path / "out")
    with started("sqlite") as server:
        place.environment = {"PREFECT_API_URL": server.url, "PREFECT_HOME": str(tmp_path / "prefect")}
        process = start("run", path, "--workers", "2", place=place)
        wait_until(lambda: stored(place) > 100, process)
        server.kill()
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert results(place) == reference
    assert (tmp_path / "out/report.html").read_text().endswith("</html>\n")
    assert len([line for line in err.splitlines() if line.startswith("note: Prefect does not follow the run")]) == 1
    assert "Traceback" not in err
    record("Prefect's server is killed (kill -9)", count=1, seen="the run continues without it; the same bytes")
