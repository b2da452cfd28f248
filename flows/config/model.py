"""The models of study and cluster files, and their validation, which reports the first wrong value in one line.

A study file states what is computed; its hash is part of the study's identity. A cluster file states where it runs.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Self, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, model_validator

from sigstats._common.messages import hint, one_line, rephrased, shown, shown_name
from sigstats.tasks.plan import Adjustment, Cell, Plan
from sigstats.tasks.record import canonical

from ..errors import BadInput


class Strict(BaseModel):
    """A table of a configuration file: unknown keys are refused, and values are not converted to other types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _without_idle_defaults(cls, values: Any) -> Any:
        """Leave out defaults that `only` might refuse, so that a study in a report is a valid study file."""
        if not isinstance(values, dict):
            return values
        fields = cls.model_fields.items()
        idle = {name: field.default for name, field in fields if any(isinstance(one, _Only) for one in field.metadata)}
        return {
            name: value
            for name, value in values.items()
            if name not in idle or type(value) is not type(idle[name]) or value != idle[name]
        }


def _as_plain(options: dict[str, Any]) -> dict[str, Any]:
    with rephrased(lambda text: text.removeprefix("values.")):
        canonical(options)
    return options


Names = TypeVar("Names", bound=Sequence[str])


def each_once(names: Names, what: str = "name") -> Names:
    """Return the names; raise ValueError if one of them appears twice."""
    for name in sorted(names):
        if names.count(name) > 1:
            raise ValueError(f"{shown(name)} is not valid; expected each {what} once")
    return names


class _Only(AfterValidator):
    """The annotation that `only` returns."""


def only(key: str, *values: str) -> AfterValidator:
    """Accept a value of a field only if the earlier field `key` is given, or is or contains one of `values`."""

    def taken(value: Any, info: ValidationInfo) -> Any:
        if key not in info.data:  # it is not valid, which is complained of
            return value
        result = info.data[key]
        if result is None or (values and {*values}.isdisjoint([result] if isinstance(result, str) else result)):
            raise ValueError(f"{shown(value)} is not valid; expected only with {key} {', '.join(values)}".rstrip())
        return value

    return _Only(taken)


#: A table whose keys another part of the program checks: strings, finite numbers, booleans, lists and tables.
Options = Annotated[dict[str, Any], AfterValidator(_as_plain)]


_SIZE = r"([0-9]+[.])?[0-9]+ ?[KMGT]?i?B"


def bytes_of(text: str) -> int:
    """Return the number of bytes of a valid amount."""
    from dask.utils import parse_bytes  # slow to import

    return int(parse_bytes(text))


def _require(form: str, text: str) -> str:
    if not re.fullmatch(form, text):
        raise ValueError(f"{shown(text)} is not valid; expected an amount with its unit, as in '8 GiB'")
    if text != "auto" and bytes_of(text) < 1:
        raise ValueError(f"{shown(text)} is not valid; expected a byte or more")
    return text


#: An amount as Dask reads it.
Memory = Annotated[str, Field(json_schema_extra={"pattern": f"^{_SIZE}$"}), AfterValidator(partial(_require, _SIZE))]

#: An amount, or what Dask finds.
MemoryOrAuto = Annotated[
    str, Field(json_schema_extra={"pattern": f"^(auto|{_SIZE})$"}), AfterValidator(partial(_require, f"auto|{_SIZE}"))
]


class Study(Strict):
    """The fields that all kinds of study share."""

    #: The question that a study of this kind answers; a run shows it.
    question: ClassVar[str]
    _source: str = "study"

    kind: str
    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]{0,60}$", description="Name of the study; that of the file by default"
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of all random numbers")
    alpha: float = Field(0.05, gt=0, lt=0.5, description="Significance level")
    adjust: Adjustment = Field("holm", description="Multiplicity adjustment of decisions")

    @property
    def source(self) -> str:
        """The name of the study in messages: its file."""
        return self._source

    def plan_of(self, cells: Iterable[Cell], analyses: Iterable[str], **others: Any) -> Plan:
        """Return the plan of the study, with its name, kind, level and adjustment."""
        shared: dict[str, Any] = {"study": self.name, "kind": self.kind, "alpha": self.alpha, "adjust": self.adjust}
        return Plan(cells=tuple(cells), analyses=tuple(analyses), **shared, **others)

    def of_source(self, source: str) -> Self:
        """Set the name that messages use for the study, and return the study."""
        self._source = source
        return self


class DataStudy(Study):
    """The fields that all kinds of study that read data share."""

    folder: Annotated[
        str,
        Field(
            exclude=True,  # the place of the data is no part of the identity
            description="Base of relative data paths, itself relative to the study file",
        ),
    ] = ""


Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], values: Mapping[str, Any], *, source: str, context: Any = None) -> Model:
    """Validate `values` as a `model`; `context`: further data for its validators."""
    try:
        return model.model_validate(dict(values), context=context)
    except ValidationError as error:
        raise BadInput(f"{source}: {_first_complaint(model, error)}") from None


def _first_complaint(model: type[BaseModel], error: ValidationError) -> str:
    problems = [(tuple(_walk(model, complaint["loc"])[0]), complaint) for complaint in error.errors(include_url=False)]
    places = {place for place, _ in problems}
    around = {place for place in places if any(place == other[: len(place)] != other for other in places)}
    # A mistyped key is both unknown and missing under its right name: the unknown one is the better thing to say.
    # And of what may be a string or a table, a table is no mistaken string: what is wrong within it says more.
    path, first = min(
        problems,
        key=lambda problem: (
            problem[1]["type"] != "extra_forbidden",
            problem[1]["type"] == "string_type" and isinstance(problem[1]["input"], Mapping),
            problem[0] in around,
        ),
    )
    where = ".".join(map(shown_name, path)) or "study"
    others = len(places - around) - 1
    more = f" (and {others} more)" if others and first["type"] != "extra_forbidden" else ""
    if first["type"] == "extra_forbidden":
        _, tables = _walk(model, first["loc"][:-1])
        known = {name for table in tables for name in table.model_fields}
        right = hint(first["loc"][-1], sorted(known))
        if path[1:] or "did you mean" not in right:
            right = (path and _place_of(path, model)) or right
        return f"{where}: unknown key; {right}{more}"
    if first["type"] == "missing":
        return f"{where}: is missing{more}"
    reason = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    reason = reason.replace("a valid integer", "a whole number").replace("a valid dictionary", "a table")
    reason = reason.replace("a valid tuple", "a list").replace("a valid ", "a ")
    reason = re.sub(r" or instance of \w+$", "", reason)
    reason = reason.replace("String should match pattern", "text of the form").replace("String should have", "text of")
    reason = re.sub(r"\w+ should have at least (\d+) items? .*", r"a list of \1 or more", reason)
    if first["type"] == "union_tag_invalid":  # pydantic's text has the whole tag
        tag, key = first["ctx"]["tag"], first["ctx"]["discriminator"].strip("'")
        tags = re.findall("'(.*?)'", first["ctx"]["expected_tags"])
        return f"{where}: {key}: {shown(tag)} is not valid; {hint(tag, tags)}{more}"
    if first["type"] == "value_error":
        key = where.rpartition(".")[2]
        return f"{where}: {one_line(reason).removeprefix(f'{key}: ')}{more}"
    return f"{where}: {shown(first['input'])} is not valid; expected {reason}{more}"


def _place_of(path: Sequence[str | int], model: type[BaseModel]) -> str:
    """Suggest the place of a key that was put in a table instead of the study, or vice versa; empty if unsure."""
    *outer, name = path
    if outer:
        return f"{name} belongs to the study itself, above its first [table]" if name in model.model_fields else ""
    tables = [
        table
        for table, field in model.model_fields.items()
        if any(name in value.model_fields for value in _models([field.annotation]))
    ]
    return f"did you mean {tables[0]}.{name}?" if len(tables) == 1 else ""


def _walk(model: type[BaseModel], location: Sequence[str | int]) -> tuple[list[str | int], list[type[BaseModel]]]:
    """Return the keys of a location, without those that pydantic adds, and the tables that are allowed there."""
    keys: list[str | int] = []
    current: list[Any] = [model]
    for part in location:
        tables = _models(current)
        inner = [
            kind.model_fields[part].annotation for kind in tables if isinstance(part, str) and part in kind.model_fields
        ]
        chosen = [
            kind
            for kind in tables
            if kind.__name__ == part or any(part in get_args(field.annotation) for field in kind.model_fields.values())
        ]
        # One of several tables: its name, or the value of the key that tells them apart.
        if chosen and (len(tables) > 1 or not inner):
            current = chosen
        else:
            current = inner or current
            # pydantic puts the name of the tried type of a union into the location
            types = ("str", "int", "float", "bool")
            if not isinstance(part, str) or not (part in types or part[:1].isupper() or "[" in part):
                keys.append(part)
    return keys, _models(current)


def _models(annotations: Sequence[Any]) -> list[type[BaseModel]]:
    items: list[type[BaseModel]] = []
    for annotation in annotations:
        if isinstance(annotation, type) and get_origin(annotation) is None and issubclass(annotation, BaseModel):
            items.append(annotation)
        else:
            items.extend(_models(get_args(annotation)))
    return items
