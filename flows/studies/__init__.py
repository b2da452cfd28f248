"""The kinds of study. A new kind is one new module of this folder.

The name of a kind is that of its module; a study file gives it as ``kind``. A kind whose work is computed in cells is a
`sigstats.flows.studies._cell_study.CellStudyKind`, which leaves the model of its study file and its plan to write.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from sigstats._common.credentials import refuse_credentials
from sigstats._common.registry import Registry
from sigstats._common.validation import did_you_mean, refuse, shown
from sigstats.tasks.storage.store import Store

from ..config.model import Study, validated
from ..config.toml_files import apply_settings, place_of, read_toml, ready_studies
from ..errors import BadInput
from ..running.from_python import GivenCode, plain
from ..running.options import RunOptions
from ..running.result import StudyResult


class StudyKind(Protocol):
    """A kind of study: its study file, its plan, its run and its report."""

    @property
    def model(self) -> type[Study]:
        """The model of a study file of this kind."""

    @property
    def has_cells(self) -> bool:
        """True if it is computed in cells, on the workers of a cluster; otherwise it runs in this process."""

    def plan(self, study: Any, options: RunOptions, /, *, workers: int | None, timing: bool) -> str:
        """What a run would do and cost, as text; nothing is written.

        `workers`: their number in the estimate; None for those of this machine. `timing`: whether a replicate of each
        cell is timed.
        """

    def run(self, study: Any, options: RunOptions, /) -> StudyResult:
        """Run a study to its report. Replicates that the output holds are not computed again.

        Raises
        ------
        BadInput
            If the data or the output do not fit the study; nothing was written.
        """

    def report(self, store: Store, /) -> str:
        """Summarise what an output holds, write its report again, and return the location of the report.

        Raises FileNotFoundError if the output holds no results. Raises sigstats.tasks.storage.seal.Damaged if its
        results cannot be used.
        """


class StudyModule(Protocol):
    """The members that a module of this folder must have."""

    @property
    def KIND(self) -> StudyKind:  # noqa: N802
        """The kind of study."""


REGISTRY = Registry(__name__, StudyModule, what="kind of study")


def kind_of(study: Study) -> StudyKind:
    """The kind of a study."""
    return REGISTRY.module(study.kind).KIND


def find_study(study: Any, settings: Sequence[str] = (), code: GivenCode | None = None) -> tuple[Study, Path]:
    """The validated study of a person's call, and the folder that its relative paths start from."""
    if isinstance(study, Study):
        return study, Path()
    if isinstance(study, Mapping):
        return parse_study(apply_settings(plain(study, code=code), settings), source="study"), Path()
    if not isinstance(study, (str, PathLike)):
        raise refuse("study", study, "the path of a study file, or what one says")
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
        said = str(error).removeprefix(f"{source}: ")
        given = {setting.partition("=")[0].strip() for setting in settings}
        # An unknown table is named without the key that was set within it.
        if any(f"{key}.".startswith(f"{said.partition(': ')[0]}.") for key in given):
            raise BadInput(f"--set: {said}") from None
        raise


def parse_study(values: Mapping[str, Any], *, source: str, default_name: str = "study") -> Study:
    """Validate the tables of a study file, which is named `source` in messages."""
    refuse_credentials(values, source=source, error=BadInput)
    known = REGISTRY.names()
    kind = values.get("kind")
    if kind is None:
        raise BadInput(f"{source}: kind: is missing; expected one of {', '.join(known)}")
    if not isinstance(kind, str) or kind not in known:
        hint = did_you_mean(kind, known)
        raise BadInput(f"{source}: kind: {shown(kind)} is not valid; expected one of {', '.join(known)}{hint}")
    model = REGISTRY.module(kind).KIND.model
    return validated(model, {"name": default_name, **values}, source=source).of_source(source)
