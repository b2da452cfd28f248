"""Kinds of studies: study file, plan, run and report; and the studies of users.

A study is a file, the name of a ready study, or a dictionary.
"""

import importlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from sigstats._common.credentials import refuse_credentials
from sigstats._common.validation import did_you_mean, refuse, shown
from sigstats.tasks.storage.store import Store

from ..config.model import Study, validated
from ..config.toml_files import apply_settings, fetched_by, place_of, read_toml, ready_studies
from ..errors import BadInput
from ..kinds import KINDS, kind_named
from .from_python import GivenCode, plain
from .options import Prepared, Progress, RunOptions, no_progress
from .progress import Display
from .result import StudyResult

S = TypeVar("S", bound=Study)


class InProcess(NamedTuple):
    """Methods of a kind whose studies are evaluated in this process; see `Kind`."""

    plan: Callable[[Any, RunOptions], str]
    run: Callable[[Any, RunOptions], StudyResult]
    report: Callable[[Store], str]


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[S]):
    """A kind of study. Its cells are computed on the workers of a cluster, unless it is evaluated in this process."""

    #: The model of a study file of this kind.
    model: type[S]
    #: ``layout(study, base, progress, allow)`` reads the inputs, reports progress, and returns them with the plan, as
    #: `Prepared`. `allow` names the packages whose code the study may import. It writes nothing. ValueError, one line,
    #: names the data set or the setting, the value and what would be right.
    layout: Callable[[S, Path, Progress, Sequence[str]], Prepared] | None = None
    #: The module whose ``ways_of_fitting(cells, scratch)`` yields lines about the classifiers of the timed cells.
    fits: str = ""
    #: The functions of the analyses in plans, as ``module:function``; ``function(results, name)`` yields the hypotheses
    #: of an analysis.
    analyses: Mapping[str, str] = field(default_factory=dict)
    #: The module whose `PAGE` is the `sigstats.flows.report.evidence.KindPage`; by default a page has nothing special.
    page: str = ""
    in_process: InProcess | None = None

    @property
    def has_cells(self) -> bool:
        """True if studies of this kind are computed in cells."""
        return self.in_process is None

    def prepare(self, study: S, base: Path, progress: Progress = no_progress, allow: Sequence[str] = ()) -> Prepared:
        """Return the plan of a study and its data; relative paths start from `base`.

        Code of the packages `allow` may be imported.
        """
        assert self.layout is not None
        try:
            return self.layout(study, base, progress, allow)
        except ValueError as error:
            raise BadInput(f"{study.source}: {error}{fetched_by(study, base)}") from None

    def plan(self, study: S, options: RunOptions, /, *, timing: bool) -> str:
        """Describe the work and cost of a run; nothing is written. `timing`: time one replicate of each cell."""
        if self.in_process is not None:
            return self.in_process.plan(study, options)
        from ..clusters.local import processors  # a study in this process needs none of it
        from .estimate import count, counts_in_words, render
        from .output import identity_of, refuse_another
        from .timing import estimate

        display = Display(study=study.name)
        with display.reading() as progress:
            prepared = self.prepare(study, options.base, progress, options.allow)
        refuse_another(Store(options.output), identity_of(study, prepared), prepared)
        estimates = count(prepared.plan, options.output)
        fits: list[str] = []
        if timing and any(one.left for one in estimates):
            display.say(f"{counts_in_words(prepared.plan, estimates)}; timing cells (--no-timing leaves it out)")
            with tempfile.TemporaryDirectory(prefix="sigstats-plan-") as folder:
                scratch = Store(folder)
                estimates = estimate(prepared, estimates, scratch=scratch, say=display.say)
                if self.fits:
                    timed = [one.cell for one in estimates if one.seconds]
                    fits = list(importlib.import_module(self.fits).ways_of_fitting(timed, scratch))
        notes = [f"note: {note}" for note in prepared.notes]
        text = render(prepared.plan, estimates, workers=processors())
        return "\n".join([*notes, text, *fits])

    def run(self, study: S, options: RunOptions, /) -> StudyResult:
        """Run a study to its report. Stored replicates are not computed again.

        Raises BadInput if the data or the output do not fit the study; nothing was written.
        """
        if self.in_process is not None:
            return self.in_process.run(study, options)
        from .study import run_study  # a plan needs it as little

        return run_study(study, partial(self.prepare, study, options.base, allow=options.allow), options)

    def report(self, store: Store, /) -> str:
        """Summarise an output, write its report again, and return the location of the report.

        Raises FileNotFoundError if the output holds no results. Raises sigstats.tasks.storage.seal.Damaged if its
        results cannot be used.
        """
        if self.in_process is not None:
            return self.in_process.report(store)
        from sigstats.tasks.summary import summarize  # a plan needs neither

        from ..report.page import write_report

        summarize(store, self.analyses)
        return write_report(store)


def kind_of(study: S) -> Kind[S]:
    """Return the kind of a study."""
    kind: Kind[S] = kind_named(study.kind)
    return kind


def find_study(study: Any, settings: Sequence[str] = (), code: GivenCode | None = None) -> tuple[Study, Path]:
    """Return the validated study of a call, and the folder to which its relative paths refer."""
    if isinstance(study, Study):
        return study, Path()
    if isinstance(study, Mapping):
        return parse_study(apply_settings(plain(study, code=code), settings), source="study"), Path()
    if not isinstance(study, (str, PathLike)):
        raise refuse("study", study, "the path or the content of a study file")
    place = place_of(study)
    return load_study(place.path, settings), place.base


def load_study(path: Path, settings: Sequence[str] = ()) -> Study:
    """Load and validate a study file; each ``key=value`` of `settings` replaces a value of the file."""
    values = apply_settings(read_toml(path), settings)
    source = path.stem if path in ready_studies().values() else str(path)
    try:
        study = parse_study(values, source=source, default_name=path.stem)
        return study.of_source(f"{source} with --set") if settings else study
    except BadInput as error:
        problem = str(error).removeprefix(f"{source}: ")
        given = {setting.partition("=")[0].strip() for setting in settings}
        # Errors name an unknown table without the key within it.
        if any(f"{key}.".startswith(f"{problem.partition(': ')[0]}.") for key in given):
            raise BadInput(f"--set: {problem}") from None
        raise


def parse_study(values: Mapping[str, Any], *, source: str, default_name: str = "study") -> Study:
    """Validate the tables of a study file, which is named `source` in messages."""
    refuse_credentials(values, source=source, error=BadInput)
    kind = values.get("kind")
    if kind is None:
        raise BadInput(f"{source}: kind: is missing; expected one of {', '.join(KINDS)}")
    if not isinstance(kind, str) or kind not in KINDS:
        hint = did_you_mean(kind, KINDS)
        raise BadInput(f"{source}: kind: {shown(kind)} is not valid; expected one of {', '.join(KINDS)}{hint}")
    model: type[Study] = kind_named(kind).model
    return validated(model, {"name": default_name, **values}, source=source).of_source(source)
