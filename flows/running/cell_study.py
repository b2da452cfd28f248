"""The common part of the kinds of study whose work is computed in cells."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from sigstats.tasks.storage.store import Store

from ..clusters.local import processors
from ..config.fetch import fetched_by
from ..config.model import Study
from ..errors import BadInput
from .estimate import Estimate, count, counts_in_words, render
from .options import Prepared, Progress, RunOptions, no_progress
from .output import identity_of, refuse_another
from .progress import Display
from .result import CellStudyResult
from .study import run_study
from .timing import estimate

S = TypeVar("S", bound=Study)


@dataclass(frozen=True)
class CellStudyKind(Generic[S]):
    """A `sigstats.flows.running.kinds.StudyKind` that needs a model and a function that lays out the cells."""

    #: The model of a study file of this kind.
    model: type[S]
    #: ``layout(study, base, progress, allow)`` reads what comes in, tells of it, and returns it with the plan, as
    #: `Prepared`. `allow` names the packages whose code the study may import. It writes nothing. ValueError, one line,
    #: names the data set or the setting, the value and what would be right.
    layout: Callable[[S, Path, Progress, Sequence[str]], Prepared]
    #: ``savings(study, estimates, scratch)`` gives a line for each change that would make the study cheaper.
    savings: Callable[[S, Sequence[Estimate], Store], Iterable[str]] = lambda study, estimates, scratch: ()
    has_cells: bool = True

    def prepare(self, study: S, base: Path, progress: Progress = no_progress, allow: Sequence[str] = ()) -> Prepared:
        """The plan of a study and its data; relative paths start from `base`.

        Code of the packages `allow` may be imported.
        """
        try:
            return self.layout(study, base, progress, allow)
        except ValueError as error:
            raise BadInput(f"{study.source}: {error}{fetched_by(study, base)}") from None

    def plan(self, study: S, options: RunOptions, /, *, workers: int | None, timing: bool) -> str:
        """The notes and the cost of each cell."""
        display = Display(study=study.name)
        with display.reading() as progress:
            prepared = self.prepare(study, options.base, progress, options.allow)
        refuse_another(Store(options.output), identity_of(study, prepared), prepared.plan)
        estimates = count(prepared.plan, options.output)
        cheaper: list[str] = []
        if timing and any(one.left for one in estimates):
            display.say(f"{counts_in_words(prepared.plan, estimates)}; timing cells (--no-timing leaves it out)")
            with tempfile.TemporaryDirectory(prefix="sigstats-plan-") as folder:
                scratch = Store(folder)
                estimates = estimate(prepared, estimates, scratch=scratch, say=display.say)
                cheaper = list(self.savings(study, estimates, scratch))
        notes = [f"note: {note}" for note in prepared.notes]
        text = render(prepared.plan, estimates, workers=workers or processors())
        return "\n".join([*notes, text, *cheaper])

    def run(self, study: S, options: RunOptions, /) -> CellStudyResult:
        """Compute all cells, summarise and report."""
        prepare = partial(self.prepare, study, options.base, allow=options.allow)
        return run_study(study, prepare, options)

    def report(self, store: Store, /) -> str:
        """Summarise the stored cells and write the report again."""
        from sigstats.tasks.summary.summarize import summarize  # a plan needs neither

        from ..report.page import write_report

        summarize(store)
        return write_report(store)
