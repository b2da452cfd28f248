"""A validated model of the values of a file, or one line about the first value that is wrong."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from sigstats._common.validation import hint, one_line, shown

from ..errors import BadInput

Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], values: Mapping[str, Any], *, source: str) -> Model:
    """`values` as a `model`.

    Raises
    ------
    BadInput
        One line about the first value that is wrong: `source`, key, value and what would be right.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise BadInput(f"{source}: {_first_complaint(model, error)}") from None


def _first_complaint(model: type[BaseModel], error: ValidationError) -> str:
    # A mistyped key is both unknown and missing under its right name: the unknown one is the better thing to say.
    # And of what may be a string or a table, a table is no mistaken string.
    problems = sorted(
        error.errors(include_url=False),
        key=lambda problem: (
            problem["type"] != "extra_forbidden",
            problem["type"] == "string_type" and isinstance(problem["input"], Mapping),
        ),
    )
    first = problems[0]
    where = ".".join(_key(part) for part in first["loc"] if not _is_union_tag(part)) or "study"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 and first["type"] != "extra_forbidden" else ""
    if first["type"] == "extra_forbidden":
        known = _keys_at(model, first["loc"][:-1])
        return f"{where}: unknown key; {hint(first['loc'][-1], sorted(known))}{more}"
    if first["type"] == "missing":
        return f"{where}: is missing{more}"
    reason = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    if first["type"] == "value_error":
        return f"{where}: {one_line(reason)}{more}"
    return f"{where}: {shown(first['input'])} is not valid; expected {reason}{more}"


def _key(part: str | int) -> str:
    """A key as a line of a message can hold it."""
    return str(part) if str(part).isprintable() else shown(part)


def _is_union_tag(part: object) -> bool:
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
