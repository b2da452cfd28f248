"""Records: values of which JSON is the stored form, and those that the work of several fan-outs has.

`sigstats.tasks.fingerprint.plain` makes the JSON of a record: a field that has its default is left out.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, dataclass_transform, get_args, get_origin, get_type_hints

Null: TypeAlias = Literal["labels", "features"]
Side: TypeAlias = Literal["a", "b"]

#: The two classifiers that are compared.
SIDES: tuple[Side, Side] = ("a", "b")

#: Of a field whose entries JSON has beside the other fields.
FLAT = {"flat": True}

R = TypeVar("R", bound="Record")


@dataclass(frozen=True, kw_only=True)
@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Record:
    """Named values that JSON can hold: each class of its own is such a dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


def record(kind: type[R], values: Mapping[str, Any]) -> R:
    """The record of a JSON object."""
    hints = _hints(kind)  # type: ignore[arg-type]  # a class is hashable
    named = {name: _value(hints[name], value) for name, value in values.items() if name in hints}
    rest = {name: value for name, value in values.items() if name not in hints}
    flat = next((each.name for each in fields(kind) if each.metadata == FLAT), None)
    return kind(**named, **(rest if flat is None else {flat: rest}))


@cache
def _hints(kind: type[Record]) -> dict[str, tuple[Any, ...]]:
    """The types that each field may have."""
    hints = get_type_hints(kind)
    return {name: get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,) for name, hint in hints.items()}


def _value(hints: tuple[Any, ...], value: Any) -> Any:
    """A value of JSON as a field of these types has it."""
    if isinstance(value, list) and any(get_origin(hint) is tuple for hint in hints):
        return tuple(value)
    if isinstance(value, Mapping):
        kinds = [hint for hint in hints if isinstance(hint, type) and issubclass(hint, Record)]
        fitting = kinds if len(kinds) == 1 else [kind for kind in kinds if _fits(kind, value)]
        return record(fitting[0], value) if fitting else value
    return value


def _fits(kind: type[Record], values: Mapping[str, Any]) -> bool:
    required = {each.name for each in fields(kind) if each.default is MISSING}
    return required <= values.keys() <= {each.name for each in fields(kind)}


class Named(Record):
    """Data in the store: a data set, documents, files, or a population."""

    name: str
    digest: str
    #: Whether the rows come in groups.
    grouped: bool = False


class Tuning(Record):
    """Parameters of which the best combination is chosen."""

    grid: Mapping[str, Any]
    folds: int
    measure: str


class Learner(Record):
    """A classifier as a study names it."""

    learner: str
    params: Mapping[str, Any]
    #: What identifies the code of another package.
    code: Mapping[str, str] | None = None
    #: The language whose words are stemmed.
    stem: str | None = None
    tune: Tuning | None = None


class Folds(Record):
    """A cross-validation; ``folds`` is a number, or what `sigstats.tasks.datasets.dataset` has in place of it."""

    folds: int | str
    seed: int
    rare_classes: str = "refuse"
    transforms: Literal["fold", "all"] = "fold"


class Split(Record):
    """How many rows are trained on and tested, and the seed of the order."""

    train: int
    test: int
    seed: int


class Scheme(Record):
    """A repeated cross-validation."""

    folds: int
    repeats: int


class Permuted(Record):
    """The permutations of a sample."""

    null: Null
    resamples: int


class TwoViews(Record):
    """A population on which two learners are retrained (`sigstats.tasks.populations.two_views`)."""

    #: The number of features that each learner sees.
    features: int
    #: How far apart A sees the means of the two classes, in standard deviations.
    separation: float
    #: By how much further B does.
    difference: float
