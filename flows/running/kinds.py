"""The kinds of study by name, as a study file gives it; each is imported when a study is of it."""

import importlib
from typing import Any, Protocol

from sigstats.tasks.storage.store import Store

from ..config.model import Study
from .options import RunOptions
from .result import StudyResult

#: The modules whose `KIND` is a kind of study.
KINDS = {
    "benchmark": "sigstats.flows.benchmark.plan",
    "calibration": "sigstats.flows.calibration.plan",
    "regression": "sigstats.flows.regression.result",
    "significance": "sigstats.flows.significance.plan",
}


class StudyKind(Protocol):
    """A kind of study: its study file, its plan, its run and its report."""

    #: The model of a study file of this kind.
    model: type[Study]
    #: Whether it is computed in cells, on the workers of a cluster; otherwise it runs in this process.
    has_cells: bool

    def plan(self, study: Any, options: RunOptions, /, *, workers: int | None, timing: bool) -> str:
        """The work and cost of a run, as text; nothing is written.

        `workers`: their number in the estimate, None for this machine's. `timing`: time one replicate of each cell.
        """

    def run(self, study: Any, options: RunOptions, /) -> StudyResult:
        """Run a study to its report. Replicates that the output holds are not computed again.

        Raises BadInput if the data or the output do not fit the study; nothing was written.
        """

    def report(self, store: Store, /) -> str:
        """Summarise what an output holds, write its report again, and return the location of the report.

        Raises FileNotFoundError if the output holds no results. Raises sigstats.tasks.storage.seal.Damaged if its
        results cannot be used.
        """


def kind_named(name: str) -> StudyKind:
    """The kind of this name."""
    kind: StudyKind = importlib.import_module(KINDS[name]).KIND
    return kind


def kind_of(study: Study) -> StudyKind:
    """The kind of a study."""
    return kind_named(study.kind)
