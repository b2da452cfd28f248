"""Studies as people give them: a file, the name of a ready study, or a dictionary."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from sigstats._common.credentials import refuse_credentials
from sigstats._common.validation import did_you_mean, refuse, shown

from ..config.model import Study, validated
from ..config.toml_files import apply_settings, place_of, read_toml, ready_studies
from ..errors import BadInput
from ..kinds import KINDS, kind_named
from .from_python import GivenCode, plain


def find_study(study: Any, settings: Sequence[str] = (), code: GivenCode | None = None) -> tuple[Study, Path]:
    """The validated study of a person's call, and the folder that its relative paths start from."""
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
        said = str(error).removeprefix(f"{source}: ")
        given = {setting.partition("=")[0].strip() for setting in settings}
        # An unknown table is named without the key that was set within it.
        if any(f"{key}.".startswith(f"{said.partition(': ')[0]}.") for key in given):
            raise BadInput(f"--set: {said}") from None
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
