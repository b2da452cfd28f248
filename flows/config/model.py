"""The common base of the models of study and cluster files (`Strict`, `Study`), and their validation (`validated`).

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

    def check(value: Any, info: ValidationInfo) -> Any:
        if key not in info.data:  # that field is not valid, which pydantic reports
            return value
        other = info.data[key]
        if other is None or (values and {*values}.isdisjoint([other] if isinstance(other, str) else other)):
            raise ValueError(f"{shown(value)} is not valid; expected only with {key} {', '.join(values)}".rstrip())
        return value

    return _Only(check)


def _require_plain(options: dict[str, Any]) -> dict[str, Any]:
    with rephrased(lambda text: text.removeprefix("values.")):
        canonical(options)
    return options


#: A table whose keys another part of the program checks: strings, finite numbers, booleans, lists and tables.
Options = Annotated[dict[str, Any], AfterValidator(_require_plain)]

#: The regular expression of an amount of memory.
_SIZE = r"([0-9]+[.])?[0-9]+ ?[KMGT]?i?B"


def bytes_of(text: str) -> int:
    """Return the number of bytes of a valid `Memory`."""
    from dask.utils import parse_bytes  # slow to import

    return int(parse_bytes(text))


def _require_size(pattern: str, text: str) -> str:
    if not re.fullmatch(pattern, text):
        raise ValueError(f"{shown(text)} is not valid; expected an amount with its unit, as in '8 GiB'")
    if text != "auto" and bytes_of(text) < 1:
        raise ValueError(f"{shown(text)} is not valid; expected a byte or more")
    return text


def _memory(pattern: str) -> Any:
    return Field(json_schema_extra={"pattern": f"^{pattern}$"}), AfterValidator(partial(_require_size, pattern))


#: An amount of memory as Dask reads it.
Memory = Annotated[str, *_memory(_SIZE)]
#: An amount of memory, or "auto" for the amount that Dask finds.
MemoryOrAuto = Annotated[str, *_memory(f"(auto|{_SIZE})")]


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

    #: Excluded, since the place of the data is not part of the identity.
    folder: Annotated[
        str, Field(exclude=True, description="Base of relative data paths, itself relative to the study file")
    ] = ""


Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], values: Mapping[str, Any], *, source: str, context: Any = None) -> Model:
    """Validate `values` as a `model`; `context`: further data for its validators."""
    try:
        return model.model_validate(dict(values), context=context)
    except ValidationError as error:
        raise BadInput(f"{source}: {_first_complaint(model, error)}") from None


def _first_complaint(model: type[BaseModel], error: ValidationError) -> str:
    """Return the most telling of pydantic's errors in one line, and the number of other places with errors."""
    errors = [(tuple(_resolved(model, one["loc"])[0]), one) for one in error.errors(include_url=False)]
    paths = {path for path, _ in errors}
    outer = {path for path in paths if any(path == other[: len(path)] != other for other in paths)}
    path, first = min(
        errors,
        key=lambda item: (
            item[1]["type"] != "extra_forbidden",  # a mistyped key, which is also missing under its right name
            item[1]["type"] == "string_type" and isinstance(item[1]["input"], Mapping),  # errors in the table tell more
            item[0] in outer,
        ),
    )
    where = ".".join(map(shown_name, path)) or "study"
    others = len(paths - outer) - 1
    if first["type"] == "extra_forbidden":
        return f"{where}: unknown key; {_hint_for_key(model, path, first['loc'])}"
    more = f" (and {others} more)" if others else ""
    return f"{where}: {_reason(first, key=where.rpartition('.')[2])}{more}"


#: Parts of pydantic's messages, as regular expressions, and plainer words for them.
_PLAINER = (
    ("^(Value error, )?(Input should be )?", ""),
    ("a valid integer", "a whole number"),
    ("a valid dictionary", "a table"),
    ("a valid tuple", "a list"),
    ("a valid ", "a "),
    (r" or instance of \w+$", ""),
    ("String should match pattern", "text of the form"),
    ("String should have", "text of"),
    (r"\w+ should have at least (\d+) items? .*", r"a list of \1 or more"),
)


def _reason(error: Mapping[str, Any], key: str) -> str:
    """Return the text of an error about the value of a key."""
    if error["type"] == "missing":
        return "is missing"
    if error["type"] == "union_tag_invalid":  # pydantic's message contains the whole tag
        tag, tag_key = error["ctx"]["tag"], error["ctx"]["discriminator"].strip("'")
        tags = re.findall("'(.*?)'", error["ctx"]["expected_tags"])
        return f"{tag_key}: {shown(tag)} is not valid; {hint(tag, tags)}"
    text = error["msg"]
    for pattern, words in _PLAINER:
        text = re.sub(pattern, words, text)
    if error["type"] == "value_error":
        return one_line(text).removeprefix(f"{key}: ")
    return f"{shown(error['input'])} is not valid; expected {text}"


def _hint_for_key(model: type[BaseModel], path: Sequence[str | int], location: Sequence[str | int]) -> str:
    """Return a hint about an unknown key: a similar key of its table, its place elsewhere, or the keys of its table."""
    known = {name for table in _resolved(model, location[:-1])[1] for name in table.model_fields}
    usual = hint(location[-1], sorted(known))
    *outer, name = path or ("",)
    if outer:  # in a table
        return f"{name} belongs to the study itself, above its first [table]" if name in model.model_fields else usual
    fields = model.model_fields.items()
    tables = [key for key, field in fields if any(name in table.model_fields for table in _models([field.annotation]))]
    return f"did you mean {tables[0]}.{name}?" if len(tables) == 1 and "did you mean" not in usual else usual


def _resolved(model: type[BaseModel], location: Sequence[str | int]) -> tuple[list[str | int], list[type[BaseModel]]]:
    """Return the keys of a location, without those that pydantic adds, and the tables that are allowed there."""
    keys: list[str | int] = []
    current: list[Any] = [model]
    for part in location:
        tables = _models(current)
        inner = [table.model_fields[part].annotation for table in tables if part in table.model_fields]
        # pydantic names one of several allowed tables by its class or by its tag, the value of a field.
        tagged = [
            table
            for table in tables
            if table.__name__ == part
            or any(part in get_args(field.annotation) for field in table.model_fields.values())
        ]
        if tagged and (len(tables) > 1 or not inner):
            current = tagged
        else:
            current = inner or current
            # Of a union, pydantic also names the type that it tried.
            types = ("str", "int", "float", "bool")
            if not isinstance(part, str) or not (part in types or part[:1].isupper() or "[" in part):
                keys.append(part)
    return keys, _models(current)


def _models(annotations: Sequence[Any]) -> list[type[BaseModel]]:
    """Return the models in annotations, such as those of a list or a union."""
    models: list[type[BaseModel]] = []
    for annotation in annotations:
        if isinstance(annotation, type) and get_origin(annotation) is None and issubclass(annotation, BaseModel):
            models.append(annotation)
        else:
            models.extend(_models(get_args(annotation)))
    return models
