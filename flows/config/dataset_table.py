"""The JSON schema of a data set's table in a study file, made from the readers."""

import contextlib
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from sigstats.tasks.datasets.options import Kinds
from sigstats.tasks.datasets.readers import REGISTRY

from .model import Options

#: The description of each option of a source; an option that is missing here is described by its name alone.
DESCRIPTIONS = {
    "name": "The name of the data set in the study; by default that of the file",
    "source": "The kind of source",
    "path": "A file, or a URL that fsspec can open; it may be compressed",
    "target": "The column of classes",
    "columns": "The features; by default all columns but the class",
    "drop": "Columns to omit",
    "nominal": "Columns of numbers that are names of categories",
    "missing": "Texts that mean a missing value, besides the empty text",
    "names": "The names of the columns, if the first line does not contain them",
    "separator": "The text between two fields; detected by default",
    "encoding": "The encoding of the text; UTF-8 by default",
    "id": "The number of the data set on OpenML",
    "dataset": "The name of the data set on OpenML; a version is needed too",
    "version": "Its version on OpenML",
    "cache": "A folder for downloaded files; scikit-learn's by default",
    "rows": "The rows themselves, one string each; for generated data, their number",
    "generator": "The kind of generated data: correlated or noise",
    "seed": "The seed of generated data",
    "correlation": "The correlation of the two features inside each class, from -1 to 1",
    "separation": "The distance between the classes",
    "features": "The number of features",
    "classes": "The number of classes",
    "groups": "The column of groups: rows of one group stay in one fold",
    "folds": "The column of the fold in which each row is tested",
}
_TYPES: dict[type, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    list: {"type": "array", "items": {"type": "string"}},
}


class _OfReaders:
    """The JSON schema of a table: one alternative for each source."""

    @staticmethod
    def __get_pydantic_json_schema__(schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "object", "anyOf": list(_tables())}


#: A table whose keys a reader of `sigstats.tasks.datasets.readers` checks, when the data are read.
DatasetTable = Annotated[Options, _OfReaders]


def _tables() -> Iterator[dict[str, Any]]:
    """The form of each source; a package whose source cannot be used is told when a study names it."""
    for source in REGISTRY.names():
        with contextlib.suppress(ValueError):
            yield table_schema(source)


def table_schema(source: str) -> dict[str, Any]:
    """The JSON schema of the tables of one source."""
    reader = REGISTRY.module(source)
    properties = {
        "name": _property("name", str),
        "source": {"const": source, "description": DESCRIPTIONS["source"]},
        **{name: _property(name, kinds) for name, kinds in reader.OPTIONS.items()},
    }
    # What says nothing but a name is of scikit-learn; a population gives the data set that it trains on its own name.
    required = ["name"] if not reader.OPTIONS else ["source", *(name for name in reader.REQUIRED if name != "name")]
    return {
        "title": source,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _property(name: str, kinds: Kinds) -> dict[str, Any]:
    forms = [_TYPES[kind] for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
    found = forms[0] if len(forms) == 1 else {"anyOf": forms}
    return {**found, "description": DESCRIPTIONS[name]} if name in DESCRIPTIONS else dict(found)
