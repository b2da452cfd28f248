"""A JSON array of objects, with a key for each column."""

import re

import pyarrow as pa

from ...input_files.content import Content
from ...input_files.encoding import parse_json
from ...tables.arrow import ArrowTable
from .._from_table import from_table
from .._predictions import Columns, Predictions
from .._unknown import NoTable, what_lies_beside
from ._json_table import names_of, table_of

ORDER = 55
NAME = "a JSON array of objects"
LOG = False

_ARRAY = re.compile(rb"\s*\[\s*\{")


def reads(content: Content) -> bool:
    """A file that begins with a bracket and a brace."""
    return _ARRAY.match(content.start) is not None


def read(content: Content, columns: Columns) -> Predictions:
    """Read the keys that are wanted."""
    try:
        keys, table = table_of(parse_json(content.whole(), content.budget, twice=True), columns)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise content.error("cannot be read as a JSON array", error) from None
    if columns.id not in keys and what_lies_beside(keys):
        raise NoTable
    return from_table(ArrowTable(content.where, table, names=names_of(keys, table)), columns)
