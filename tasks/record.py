"""Records: values stored as JSON, their fingerprints, and records that several fan-outs share.

Fingerprints are hashes of named values. They identify *what* is computed, never where, how fast or with how many
workers. Equal values in any order give equal fingerprints, on every platform and in every version of Python.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, dataclass_transform, get_args, get_origin, get_type_hints

from sigstats._common.messages import shown

#: Version of the form of fingerprints. Increase it with each change, so that old results are not taken for new ones.
IDENTITY_VERSION = 1
#: The types of most values, which JSON has too.
_AS_THEY_ARE = {type(None), bool, int, str}


def canonical(values: Any) -> str:
    """Return named values as canonical JSON: sorted keys, no white space, and floats in the shortest exact form."""
    return json.dumps(plain(values), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest(what: str, **values: Any) -> str:
    """Return the SHA-256 of named values in hexadecimal. Equal values with another `what` have another digest."""
    text = canonical({"identity": IDENTITY_VERSION, "what": what, "values": values})
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def slug(*parts: object) -> str:
    """Return a readable name that is safe in a path and a URL."""
    cleaned = (re.sub(r"[^a-z0-9_+-]+", "-", str(part).lower()).strip("-") for part in parts if part is not None)
    return ".".join(part[:40] for part in cleaned if part)


def plain(value: Any, where: str = "values") -> Any:
    """Convert values to JSON. Fields of dataclasses that have their default value are left out."""
    if type(value) in _AS_THEY_ARE:
        return value
    if type(value) is list and _AS_THEY_ARE.issuperset(map(type, value)):
        return list(value)
    if is_dataclass(value):
        named: dict[str, Any] = {}
        flat: dict[str, Any] = {}
        for attribute in fields(value):
            item = getattr(value, attribute.name)
            if attribute.metadata == FLAT:
                flat |= item
            elif item != attribute.default:
                named[attribute.name] = item
        value = named | flat
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where}: {value} is not valid; expected a finite number")
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ValueError(f"{where}: the keys {list(value)!r} are not valid; expected strings")
        return {key: plain(item, f"{where}.{key if key.isprintable() else shown(key)}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    kind = type(value).__name__
    raise ValueError(f"{where}: a {kind} is not valid; expected a string, number, boolean, list or table")


Null: TypeAlias = Literal["labels", "features"]
Side: TypeAlias = Literal["a", "b"]

#: The two classifiers that are compared.
SIDES: tuple[Side, Side] = ("a", "b")

#: The metadata of a mapping field that is flattened in JSON: its entries are at the level of the other fields.
FLAT = {"flat": True}

R = TypeVar("R", bound="Record")


@dataclass(frozen=True, kw_only=True)
@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Record:
    """Base class of dataclasses of named values that JSON can represent."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


class Work(Record):
    """The work of a fan-out. This base class is for replicates that depend only on the seed."""


def record(kind: type[R], values: Mapping[str, Any]) -> R:
    """Return the record that a JSON object represents."""
    hints = _hints(kind)  # type: ignore[arg-type]  # a class is hashable
    named = {name: _value(hints[name], value) for name, value in values.items() if name in hints}
    rest = {name: value for name, value in values.items() if name not in hints}
    flat = next((attribute.name for attribute in fields(kind) if attribute.metadata == FLAT), None)
    return kind(**named, **(rest if flat is None else {flat: rest}))


@cache
def _hints(kind: type[Record]) -> dict[str, tuple[Any, ...]]:
    """Return the types that each field may have."""
    hints = get_type_hints(kind)
    return {name: get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,) for name, hint in hints.items()}


def _value(hints: tuple[Any, ...], value: Any) -> Any:
    """Convert a value of JSON to the type of a field."""
    if isinstance(value, list) and any(get_origin(hint) is tuple for hint in hints):
        return tuple(value)
    if isinstance(value, Mapping):
        records = [hint for hint in hints if isinstance(hint, type) and issubclass(hint, Record)]
        kinds = [kind for hint in records for kind in (hint, *hint.__subclasses__())]
        fitting = kinds if len(kinds) == 1 else [kind for kind in kinds if _fits(kind, value)]
        return record(fitting[0], value) if fitting else value
    return value


def _fits(kind: type[Record], values: Mapping[str, Any]) -> bool:
    """Return True if the names are those of a record of this class: all required fields, and no unknown ones."""
    required = {attribute.name for attribute in fields(kind) if attribute.default is MISSING}
    return required <= values.keys() <= {attribute.name for attribute in fields(kind)}


#: The fields that identify code from other packages, and the fields that may contain the code's import path.
_CODE = {"code": ("learner", "test"), "measure_code": ("measure",)}


def without_place(value: Any, *, code: bool = True) -> Any:
    """Return a record in which code from other packages has a name, version and source, but no module.

    `code`: False to omit the version and the source as well.
    """
    if not isinstance(value, Record):
        return value
    values = {attribute.name: getattr(value, attribute.name) for attribute in fields(value)}
    changed = {name: without_place(item, code=code) for name, item in values.items() if isinstance(item, Record)}
    for name, path_fields in _CODE.items():
        if values.get(name):
            changed[name] = {key: item for key, item in values[name].items() if code and key != "package"}
            changed |= {field: re.split("[.:]", values[field])[-1] for field in path_fields if field in values}
    return replace(value, **changed) if changed else value


class Named(Record):
    """Stored data: a data set, documents, files or a population."""

    name: str
    digest: str
    #: True if the rows have groups.
    grouped: bool = False


class Tuning(Record):
    """A grid of parameters from which the best combination is chosen."""

    grid: Mapping[str, Any]
    folds: int
    measure: str


class Learner(Record):
    """A classifier as given in a study."""

    learner: str
    params: Mapping[str, Any]
    #: Identity of the code, if it is from another package.
    code: Mapping[str, str] | None = None
    #: The language for stemming words, if they are stemmed.
    stem: str | None = None
    tune: Tuning | None = None


class Folds(Record):
    """A cross-validation. ``folds`` is a number, or one of the strings in `sigstats.tasks.datasets.dataset`."""

    folds: int | str
    seed: int
    rare_classes: str = "refuse"
    transforms: Literal["fold", "all"] = "fold"


class Split(Record):
    """The numbers of training and test rows, and the seed for the order of the rows."""

    train: int
    test: int
    seed: int


class Scheme(Record):
    """A repeated cross-validation."""

    folds: int
    repeats: int


class Permuted(Record):
    """The null hypothesis and the number of permutations of a sample."""

    null: Null
    resamples: int


class TwoViews(Record):
    """A population on which two learners are retrained (`sigstats.tasks.calibration.populations.two_views`)."""

    #: The number of features that each learner sees.
    features: int
    #: The distance between the means of the two classes for A, in standard deviations.
    separation: float
    #: The additional distance for B.
    difference: float
