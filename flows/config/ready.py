"""The ready studies, which come with the package: they are found by name, installed or in a checkout."""

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

import sigstats
from sigstats._common.messages import did_you_mean, shown

from ..errors import BadInput

_FOLDER = Path(sigstats.__file__).parent / "ready_studies"


@dataclass(frozen=True)
class StudyPlace:
    """The place of a study file, and the folder that its relative paths of data start from."""

    path: Path
    #: The folder of a study file; the working folder for a ready study, which a person starts by its name.
    base: Path
    #: The name of a ready study.
    ready: str | None = None


def ready_studies() -> dict[str, Path]:
    """The files of the ready studies by their names, sorted."""
    return {path.stem: path for path in sorted(_FOLDER.glob("*.toml"))}


def place_of(study: "str | PathLike[str]") -> StudyPlace:
    """The place of a study file, or of the ready study of a name.

    If there is a folder of the name, the ready study is meant: the folder may hold its results.

    >>> place_of("quickstart").path.name
    'quickstart.toml'
    >>> place_of("quickstrat")
    Traceback (most recent call last):
    ...
    sigstats.flows.errors.BadInput: study: 'quickstrat' is not valid; ... (did you mean 'quickstart'?)
    """
    path, ready = Path(fspath(study)), ready_studies()
    named = fspath(study) in ready
    if named and isinstance(study, str) and path.is_file():
        raise BadInput(f"study: {study!r} is a file here and a ready study; expected './{study}', or another folder")
    if _exists(path) and not (named and path.is_dir()):
        return StudyPlace(path, path.parent)
    if named:
        return StudyPlace(ready[path.name], Path(), ready=path.name)
    if path.stem in ready:
        raise BadInput(f"{path}: there is no such file; the ready study is started by its name, {path.stem!r}")
    if "://" in fspath(study):
        raise BadInput(f"study: {shown(fspath(study))} is not valid; expected a file of this machine, or a ready study")
    if path.suffix or path.name != str(path):
        return StudyPlace(path, path.parent)  # reading it reports what is wrong
    hint = did_you_mean(path.name, ready)
    expected = f"a study file, or one of the ready studies {', '.join(ready)}{hint}"
    raise BadInput(f"study: {shown(str(path))} is not valid; expected {expected}")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a path that no file system can have
        return True


def summary_of(path: Path) -> str:
    """The description of a study file: its first line, a comment.

    >>> summary_of(ready_studies()["quickstart"])
    'Four real data sets, four classifiers: what did each one learn, and which is better?'
    """
    with path.open(encoding="utf-8") as lines:
        return next(lines, "").removeprefix("#").strip()
