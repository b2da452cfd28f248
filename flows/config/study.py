"""Study files: TOML into a validated study. Nothing else reads TOML.

A study says *what* is computed and is hashed into its identity. *Where* it runs is another file
(`sigstats.flows.config.cluster`).
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from sigstats._common.validation import nearest, shown
from sigstats.tasks.fingerprint import canonical
from sigstats.tasks.plan import Adjustment

from ..errors import BadInput

Model = TypeVar("Model", bound=BaseModel)


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    try:
        canonical(options)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("values.")) from None
    return options


#: A table whose keys another part of the program knows: texts, finite numbers, booleans, lists and tables.
Options = Annotated[dict[str, Any], AfterValidator(_plain)]


class Strict(BaseModel):
    """A table of a configuration file: unknown keys are refused, and a value's type is not guessed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Study(Strict):
    """What every kind of study has."""

    #: What the command-line help says of this kind.
    question: ClassVar[str]

    kind: str
    name: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]{0,60}$", description="The study's name; the file's by default")
    ]
    seed: Annotated[int, Field(ge=0, lt=2**63, description="The seed of all randomness")] = 0
    alpha: Annotated[float, Field(gt=0, lt=1, description="The level of the decisions")] = 0.05
    adjust: Annotated[
        Adjustment,
        Field(description="The adjustment for multiplicity that decisions use"),
    ] = "holm"


class DataStudy(Study):
    """What every kind of study has that reads data."""

    folder: Annotated[
        str,
        Field(
            exclude=True,  # where data lies is no part of what is computed
            description="Where relative paths of data start, itself relative to the study file",
        ),
    ] = ""


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; BadInput names file and line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        beside = [entry.name for entry in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        near = nearest(path.name, beside)
        hint = f" (did you mean {path.with_name(near)}?)" if near else ""
        raise BadInput(f"{path}: there is no such file{hint}") from None
    except IsADirectoryError:
        raise BadInput(f"{path}: is a folder; expected a TOML file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error})") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: is not TOML: {error}") from None


def apply_settings(values: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """`values` with each ``key=value`` of the command line put in its place.

    The key is dotted; the value is read as TOML, and as a plain string where it is none.

    Examples
    --------
    >>> from sigstats.flows.config.study import apply_settings
    >>> apply_settings({"seed": 1}, ["seed=2", "permutation.resamples=99", "name=quick"])
    {'seed': 2, 'permutation': {'resamples': 99}, 'name': 'quick'}
    """
    result = dict(values)
    for setting in settings:
        key, separator, text = setting.partition("=")
        parts = key.strip().split(".")
        if not separator or not all(parts):
            raise BadInput(f"--set: {setting!r} is not valid; expected key=value, as in seed=7")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text.strip()
        table = result
        for depth, part in enumerate(parts[:-1]):
            inner = table.get(part, {})
            if not isinstance(inner, dict):
                raise BadInput(f"--set: {setting!r} is not valid; {'.'.join(parts[: depth + 1])} is no table")
            table[part] = dict(inner)
            table = table[part]
        table[parts[-1]] = value
    return result


def load_study(path: Path, settings: Sequence[str] = ()) -> Study:
    """The validated study of a file.

    Raises
    ------
    BadInput
        One line that names the file, the key, the value and what would be right.
    """
    values = apply_settings(read_toml(path), settings)
    return parse_study(values, source=str(path), default_name=path.stem)


def parse_study(values: Mapping[str, Any], *, source: str, default_name: str = "study") -> Study:
    """The validated study of the tables of a file."""
    from ..studies import kinds

    known = kinds()
    kind = values.get("kind")
    if kind is None:
        raise BadInput(f"{source}: kind: is missing; expected one of {', '.join(known)}")
    if not isinstance(kind, str) or kind not in known:
        near = nearest(kind, known)
        hint = f" (did you mean {near!r}?)" if near else ""
        raise BadInput(f"{source}: kind: {shown(kind)} is not valid; expected one of {', '.join(known)}{hint}")
    return validated(known[kind], {"name": default_name, **values}, source=source)


def validated(model: type[Model], values: Mapping[str, Any], *, source: str) -> Model:
    """`values` as a `model`, or BadInput with one line for the first thing that is wrong."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise BadInput(f"{source}: {_first_complaint(model, error)}") from None


def _first_complaint(model: type[BaseModel], error: ValidationError) -> str:
    # A mistyped key is both unknown and missing under its right name: the unknown one is the better thing to say.
    problems = sorted(error.errors(include_url=False), key=lambda problem: problem["type"] != "extra_forbidden")
    first = problems[0]
    where = ".".join(_key(part) for part in first["loc"] if not _is_tag(part)) or "study"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 and first["type"] != "extra_forbidden" else ""
    if first["type"] == "extra_forbidden":
        known = _keys_at(model, first["loc"][:-1])
        near = nearest(first["loc"][-1], known)
        hint = f"did you mean {near!r}?" if near else f"expected one of {', '.join(sorted(known))}"
        return f"{where}: unknown key; {hint}{more}"
    if first["type"] == "missing":
        return f"{where}: is missing{more}"
    reason = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    if first["type"] == "value_error":
        return f"{where}: {reason}{more}"
    return f"{where}: {shown(first['input'])} is not valid; expected {reason}{more}"


def _key(part: str | int) -> str:
    """A key as a line of a message can hold it."""
    return str(part) if str(part).isprintable() else shown(part)


def _is_tag(part: object) -> bool:
    # pydantic puts the name of the tried type of a union into the location
    return isinstance(part, str) and (part in ("str", "int", "float", "bool") or part[:1].isupper() or "[" in part)


def _keys_at(model: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    current: list[Any] = [model]
    for part in location:
        inner: list[Any] = []
        for item in _models(current):
            if isinstance(part, str) and part in item.model_fields:
                inner.append(item.model_fields[part].annotation)
        current = inner or [item for item in _models(current) if item.__name__ == part] or current
    return sorted({name for item in _models(current) for name in item.model_fields})


def _models(annotations: Sequence[Any]) -> list[type[BaseModel]]:
    found: list[type[BaseModel]] = []
    for annotation in annotations:
        if isinstance(annotation, type) and get_origin(annotation) is None and issubclass(annotation, BaseModel):
            found.append(annotation)
        else:
            found.extend(_models(get_args(annotation)))
    return found
