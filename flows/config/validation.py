"""A validated model of the values of a file, or one line about the first value that is wrong."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from sigstats._common.messages import hint, one_line, shown, shown_name

from ..errors import BadInput

Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], values: Mapping[str, Any], *, source: str) -> Model:
    """Validate `values` as a `model`."""
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
    path, _ = _walk(model, first["loc"])
    where = ".".join(map(shown_name, path)) or "study"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 and first["type"] != "extra_forbidden" else ""
    if first["type"] == "extra_forbidden":
        _, tables = _walk(model, first["loc"][:-1])
        known = {name for table in tables for name in table.model_fields}
        return f"{where}: unknown key; {hint(first['loc'][-1], sorted(known))}{more}"
    if first["type"] == "missing":
        return f"{where}: is missing{more}"
    reason = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    reason = reason.replace("a valid integer", "a whole number").replace("a valid dictionary", "a table")
    reason = reason.replace("a valid tuple", "a list").replace("a valid ", "a ")
    if first["type"] == "union_tag_invalid":  # pydantic's text has the whole tag
        tag, wanted = first["ctx"]["tag"], first["ctx"]["expected_tags"]
        return f"{where}: {shown(tag)} is not valid as {first['ctx']['discriminator']}; expected {wanted}{more}"
    if first["type"] == "value_error":
        return f"{where}: {one_line(reason)}{more}"
    return f"{where}: {shown(first['input'])} is not valid; expected {reason}{more}"


def _is_union_tag(part: object) -> bool:
    # pydantic puts the name of the tried type of a union into the location
    return isinstance(part, str) and (part in ("str", "int", "float", "bool") or part[:1].isupper() or "[" in part)


def _walk(model: type[BaseModel], location: Sequence[str | int]) -> tuple[list[str | int], list[type[BaseModel]]]:
    """The keys of a location, without what pydantic adds to it, and the tables that may stand there."""
    keys: list[str | int] = []
    current: list[Any] = [model]
    for part in location:
        tables = _models(current)
        inner = [
            each.model_fields[part].annotation for each in tables if isinstance(part, str) and part in each.model_fields
        ]
        chosen = [each for each in tables if each.__name__ == part or _is_told_by(each, part)]
        if chosen and not inner:  # one of several tables: its name, or the value of the key that tells them apart
            current = chosen
        else:
            current = inner or current
            if not _is_union_tag(part):
                keys.append(part)
    return keys, _models(current)


def _is_told_by(table: type[BaseModel], value: object) -> bool:
    return any(value in get_args(field.annotation) for field in table.model_fields.values())


def _models(annotations: Sequence[Any]) -> list[type[BaseModel]]:
    found: list[type[BaseModel]] = []
    for annotation in annotations:
        if isinstance(annotation, type) and get_origin(annotation) is None and issubclass(annotation, BaseModel):
            found.append(annotation)
        else:
            found.extend(_models(get_args(annotation)))
    return found
