"""The table of a data set in a study file: what an editor is told of it, from the readers themselves."""

import contextlib
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from sigstats.tasks.datasets.options import Kinds
from sigstats.tasks.datasets.readers import REGISTRY

from .model import Options

#: What each option of a source is; one without a line here has its name alone.
DESCRIPTIONS = {
    "name": "What the study calls it; by default the name of the file",
    "source": "Where it comes from",
    "path": "A file, or a URL that fsspec knows; it may be packed",
    "target": "The column of the class",
    "columns": "The features; by default all columns but the class",
    "drop": "Columns to leave out",
    "nominal": "Columns of numbers that are names of categories",
    "missing": "Texts that mean a missing value, beside an empty one",
    "names": "The names of the columns, where the first line does not have them",
    "separator": "What is between two fields; found by itself where it is not said",
    "encoding": "Of the text; UTF-8 by default",
    "id": "The number of the data set on OpenML",
    "dataset": "The name of the data set on OpenML, which goes with a version",
    "version": "Its version on OpenML",
    "cache": "A folder for what is fetched; scikit-learn's by default",
    "rows": "The rows themselves, a string each; of generated data, how many",
    "generator": "How the data are made: correlated or noise",
    "seed": "Of generated data",
    "correlation": "Of the two features inside each class, from -1 to 1",
    "separation": "How far the classes are apart",
    "features": "How many features",
    "classes": "How many classes",
    "groups": "The column of what each row belongs to: rows of one group stay in one fold",
    "folds": "The column of the fold in which each row is tested",
}
_TYPES: dict[type, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    list: {"type": "array", "items": {"type": "string"}},
}


class _OfReaders:
    """The JSON schema of a table: one form a source."""

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
    """The JSON schema of the tables of one source.

    Examples
    --------
    >>> from sigstats.flows.config.dataset_table import table_schema
    >>> found = table_schema("csv")
    >>> found["required"], found["properties"]["source"]["const"], sorted(found["properties"])[:3]
    (['source', 'path', 'target'], 'csv', ['columns', 'drop', 'encoding'])
    """
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
