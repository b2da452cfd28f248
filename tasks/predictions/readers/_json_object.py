"""A table that is one JSON object: as pandas and MLflow write it, or with a key for each id."""

from collections.abc import Mapping
from typing import Any

from ...input_files.content import Content
from ...input_files.encoding import parse_json
from .._predictions import Columns


def rows_of_object(content: Content, columns: Columns) -> list[Any] | None:
    """The rows of a file that is one object; None where it is several, or no table.

    Read are pandas' forms ``split``, ``columns``, ``index`` and ``table``, the first of which is MLflow's too; an
    object with the row of each id; and, beside the labels of another file, one with the prediction of each id.
    """
    try:
        first = parse_json(content.first_line, content.budget)
    except UnicodeDecodeError:
        raise
    except ValueError:  # an object of several lines
        pass
    else:
        if not isinstance(first, dict) or not _holds_more(first, columns):
            return None
    try:
        found = content.json()
    except ValueError:  # several objects
        return None
    return _rows(found, columns) if isinstance(found, dict) else None


def _holds_more(first: Mapping[str, Any], columns: Columns) -> bool:
    """If the first line may be a whole table, and is no row of it."""
    nested = any(isinstance(value, (list, dict)) for value in first.values())
    mapped = columns.truth is not None and columns.prediction not in first
    return (nested or mapped) and not isinstance(first.get(columns.id), (str, int, float))


def _rows(found: Mapping[str, Any], columns: Columns) -> list[Any] | None:
    names, data, values = found.get("columns"), found.get("data"), list(found.values())
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        rows = [dict(zip(map(str, names), row, strict=False)) for row in data]
        index = found.get("index")
        if isinstance(index, list) and len(index) == len(rows) and columns.id not in names:
            return [{columns.id: key, **row} for key, row in zip(index, rows, strict=True)]
        return rows
    if isinstance(data, list) and isinstance(found.get("schema"), dict):
        return data
    if values and all(isinstance(value, dict) for value in values):
        return _of_objects(found, columns)
    if columns.truth is not None and len(found) > 1 and all(isinstance(value, (str, int, float)) for value in values):
        return [{columns.id: key, columns.prediction: value} for key, value in found.items()]
    return None


def _of_objects(found: Mapping[str, Mapping[str, Any]], columns: Columns) -> list[Any] | None:
    """Rows from columns by name, or from rows by id."""
    first = next(iter(found.values()))
    wanted = {columns.id, columns.label, columns.prediction, columns.score}
    if wanted.intersection(found) and all(value.keys() == first.keys() for value in found.values()):
        keyed = () if columns.id in found else first
        rows = [{name: column[key] for name, column in found.items()} for key in first]
        return [{columns.id: key, **row} for key, row in zip(keyed, rows, strict=True)] if keyed else rows
    if any(name in first or (name or "").partition(".")[0] in first for name in wanted):
        return [{columns.id: key, **row} for key, row in found.items()]
    return None
