"""Calibration studies that are run in this process."""

from sigstats.tasks.results import Results
from sigstats.tasks.storage.store import Store

from ..conftest import run_serial, study_file


def completed(folder, text, *more):
    """The results of a study, `text`, that is run in a folder without a failure."""
    assert run_serial(study_file(folder, text), folder / "out", *more) == 0
    return Results(Store(str(folder / "out")))
