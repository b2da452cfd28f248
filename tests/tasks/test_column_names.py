"""The names of stored columns are no reserved words of SQL, in which ``where null = 'labels'`` finds nothing."""

import io

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigstats.flows.regression import page
from sigstats.tasks.fan_out import FAN_OUTS, fanout
from sigstats.tasks.results import FOLDERS, PLAN
from sigstats.tasks.schema import RENAMED, SUMMARY, as_summary, schema_of, summary_table
from sigstats.tasks.storage import history
from sigstats.tasks.summary import Reference

SCHEMAS = {
    "summary": SUMMARY,
    "plan": PLAN,
    "references": schema_of(Reference),
    "history": history.SCHEMA,
    "flips": pa.schema([(name, pa.string()) for name in (*page.FLIPS, *page.OF_BASELINE)]),
    **{name: fanout(name).schema for name in FAN_OUTS},
}
#: Of folders and of the subject's other parts, which are columns of an export.
SUBJECT = {"fanout", "date", *FOLDERS, "a", "b", "slice", "n", "test", "measure", "method"}

#: pg_get_keywords() of PostgreSQL 15 where catcode is R or T.
POSTGRESQL = """
all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column
concurrently constraint create cross current_catalog current_date current_role current_schema current_time
current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze from
full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit localtime
localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references returning
right select session_user similar some symmetric system_user table tablesample then to trailing true union unique user
using variadic verbose when where window with
""".split()  # noqa: SIM905
#: Those that Spark adds to them, in ANSI mode or always.
SPARK = {"anti", "escape", "filter", "minus", "semi", "setminus", "time", "unknown", "within"}


@pytest.fixture(scope="module")
def reserved():
    """The reserved words of the three."""
    asked = "select keyword_name from duckdb_keywords() where keyword_category = 'reserved'"
    found = {word.lower() for (word,) in duckdb.sql(asked).fetchall()}
    assert {"null", "true", "qualify"} <= found
    return {*found, *POSTGRESQL, *SPARK}


@pytest.mark.parametrize("name", SCHEMAS)
def test_no_column_is_a_reserved_word(reserved, name):
    assert reserved.isdisjoint(SCHEMAS[name].names)


def test_no_folder_or_part_of_a_subject_is_one(reserved):
    assert reserved.isdisjoint(SUBJECT)
    assert RENAMED.keys() <= reserved  # otherwise an old name needs no other


def test_the_null_hypothesis_is_found_by_sql_without_quotes():
    row = {name: None if SUMMARY.field(name).nullable else "x" for name in SUMMARY.names}
    stored = pa.Table.from_pylist([{**row, "null_hypothesis": "labels"}, row], schema=SUMMARY)
    with duckdb.connect() as engine:
        engine.register("stored", stored)
        assert engine.sql("select count(*) from stored where null_hypothesis = 'labels'").fetchall() == [(1,)]


def test_a_summary_with_the_former_name_is_read():
    made = summary_table([])
    former = made.rename_columns({"null_hypothesis": "null"})
    content = io.BytesIO()
    pq.write_table(former, content)
    assert as_summary(pq.read_table(content)).equals(made)
