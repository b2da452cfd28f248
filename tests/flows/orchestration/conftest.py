"""What the tests on a real Prefect server share: one for each file, and a regression study with its first candidate."""

import pytest

from ..conftest import study_file
from ..predictions import STUDY, write
from ..prefect_server import started


@pytest.fixture(scope="module")
def server():
    with started("sqlite") as found:
        yield found


@pytest.fixture
def folder(tmp_path):
    study_file(tmp_path, STUDY, "nightly.toml")
    write(tmp_path / "predictions/production.csv", wrong=0.12, at=1000)
    write(tmp_path / "predictions/candidate-1.csv", wrong=0.08, seed=1, at=1001)
    return tmp_path
