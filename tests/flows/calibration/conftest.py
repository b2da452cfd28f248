"""Calibration studies that are run in this process."""

import pytest

from sigstats.tasks.results import Results
from sigstats.tasks.storage.store import Store

from ..conftest import run_serial, study_file


def completed(folder, text, *more):
    """The results of a study, `text`, that is run in a folder without a failure."""
    assert run_serial(study_file(folder, text), folder / "out", *more) == 0
    return Results(Store(str(folder / "out")))


@pytest.fixture
def refusal(tmp_path, refused_study):
    """Returns the line with which a study is refused once `old` is replaced by `new` in its text."""

    def of(text, old, new, folder=tmp_path):
        assert old in text
        return refused_study(study_file(folder, text.replace(old, new, 1), name="bad.toml"))

    return of
