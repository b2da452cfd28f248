"""TOML files, including the ready studies, and values of the command line that replace values of a file."""

import copy
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import sigstats
from sigstats._common.messages import did_you_mean, nearest, shown

from ..errors import BadInput

#: Tables and lists in one another; a study or a cluster file has five.
_DEEPEST = 50


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file."""
    deep = f"{path}: is nested too deeply; expected tables and lists of a few levels"
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # with a byte order mark or without
    except FileNotFoundError:
        neighbours = [entry.name for entry in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        near = nearest(path.name, neighbours)
        hint = f" (did you mean {path.with_name(near)}?)" if near else ""
        raise BadInput(f"{path}: there is no such file{hint}") from None
    except IsADirectoryError:
        raise BadInput(f"{path}: is a folder; expected a TOML file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error})") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: is not TOML: {error}{_unquoted(path, str(error))}") from None
    except RecursionError:
        raise BadInput(deep) from None
    except ValueError as error:  # a path with a null character, a number of thousands of digits
        raise BadInput(f"{path}: cannot be read ({error})") from None
    level: list[Any] = [values]
    for _ in range(_DEEPEST):
        inner = (value.values() if isinstance(value, dict) else value for value in level)
        level = [value for values_of in inner for value in values_of if isinstance(value, dict | list)]
    if level:
        raise BadInput(deep)
    return values


def _unquoted(path: Path, error: str) -> str:
    """Return the quoted form of an unquoted word in the line of an error, if there is one."""
    line = re.search(r"at line (\d+)", error)
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    match = line and re.fullmatch(r"\s*([\w.-]+)\s*=\s*([A-Za-z][\w./-]*)\s*", lines[int(line[1]) - 1])
    return f'; text needs quotes: {match[1]} = "{match[2]}"' if match else ""


def apply_settings(values: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Return `values` with each ``key=value`` of the command line set.

    The key is dotted; numbers, from 0, select entries of lists. A value that is not TOML is taken as a string.
    """
    result = dict(values)
    for setting in settings:
        key, separator, text = setting.partition("=")
        parts = key.strip().split(".")
        if not separator or not all(parts) or len(parts) > _DEEPEST:
            raise BadInput(f"--set: {shown(setting)} is not valid; expected key=value, as in seed=7")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text.strip()
        except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists in lists
            raise BadInput(f"--set: {shown(setting)} is not valid; expected a value that a study may have") from None
        table: Any = result
        for depth, part in enumerate(parts):
            if isinstance(table, list) and not (part.isdecimal() and int(part) < len(table)):
                wanted = f"a number below {len(table)}, that of an entry of {'.'.join(parts[:depth])}"
                raise BadInput(f"--set: {shown(setting)} is not valid; {shown(part)} is not {wanted}")
            if not isinstance(table, (dict, list)):
                raise BadInput(f"--set: {shown(setting)} is not valid; {'.'.join(parts[:depth])} is not a table")
            at: Any = int(part) if isinstance(table, list) else part
            if depth == len(parts) - 1:
                table[at] = value
            else:
                table[at] = copy.copy(table[at] if isinstance(table, list) else table.get(at, {}))
                table = table[at]
    return result


_FOLDER = Path(sigstats.__file__).parent / "ready_studies"


@dataclass(frozen=True)
class StudyPlace:
    """The place of a study file, and the folder to which its data paths are relative."""

    path: Path
    #: The folder of a study file; the working folder for a ready study, which a person starts by its name.
    base: Path
    #: The name of a ready study.
    ready: str | None = None


def ready_studies() -> dict[str, Path]:
    """Return the files of the ready studies by their names, sorted."""
    return {path.stem: path for path in sorted(_FOLDER.glob("*.toml"))}


def place_of(study: "str | PathLike[str]") -> StudyPlace:
    """Return the place of a study file, or of the ready study of a name.

    A folder of that name does not count, since it may contain results of the ready study.
    """
    path, ready = Path(fspath(study)), ready_studies()
    named = fspath(study) in ready
    if named and isinstance(study, str) and path.is_file():
        raise BadInput(f"study: {study!r} is both a file and a ready study; write './{study}' for the file")
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
    """Return the description of a study file: its first line, a comment.

    >>> summary_of(ready_studies()["quickstart"])
    'Four real data sets, four classifiers: what did each one learn, and which is better?'
    """
    with path.open(encoding="utf-8") as lines:
        return next(lines, "").removeprefix("#").strip()


def fetched_by(study: Any, base: Path) -> str:
    """Return advice to fetch the missing files of a ready study; empty if none is missing."""
    path, folder = ready_studies().get(study.name), base / getattr(study, "folder", "")
    wanted = [] if path is None else data_files_of(tomllib.loads(path.read_text("utf-8")))
    lacking = any(not list(folder.glob(name)) for name in wanted)
    return f"; `sigstats studies --fetch {study.name}` fetches the files that a downloader has" if lacking else ""


def data_files_of(study: Any) -> Iterator[str]:
    """Yield the Parquet files that a study names, at any depth."""
    for part in study.values() if isinstance(study, dict) else study if isinstance(study, list) else ():
        if isinstance(part, str) and part.endswith(".parquet"):
            yield part
        yield from data_files_of(part)
