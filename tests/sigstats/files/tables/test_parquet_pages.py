"""Parquet files whose pages and footers say different things, and pages whose codes are of no value."""

import io
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigstats.files.inputs.limit import Budget
from sigstats.files.tables.arrow_files import read_parquet

from .test_parquet_footer import FILES, TABLE, number, places, written

LIMIT = 2**24
LARGE = pa.table({"id": range(50), "city": ["x" * 10**6 + str(row % 2) for row in range(50)]})


def stored(table=LARGE, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, **{"compression": "zstd", "data_page_size": 2**30, **options})
    return sink.getvalue()


def read(content, **options):
    return read_parquet(io.BytesIO(content), Budget("b.parquet"), **options)[1]


def replaced(content, first, last, value):
    """The file with a whole number of its footer in place of another."""
    length = struct.unpack("<I", content[-8:-4])[0]
    body, footer = content[: -8 - length], content[-8 - length : -8]
    footer = footer[:first] + written(value) + footer[last:]
    return body + footer + struct.pack("<I", len(footer)) + b"PAR1"


def numbers(content):
    """Where the whole numbers of the footer are, and what they are."""
    footer = content[-8 - struct.unpack("<I", content[-8:-4])[0] : -8]
    found = []
    places(footer, 0, found)
    return [(first, last, number(footer, first)[0] >> 1) for first, last in found]


@pytest.mark.parametrize(
    "options",
    [
        {"use_dictionary": False},
        {"use_dictionary": True},
        {"use_dictionary": False, "data_page_version": "2.0"},
        {"use_dictionary": False, "column_encoding": {"city": "DELTA_LENGTH_BYTE_ARRAY"}},
        {"use_dictionary": False, "column_encoding": {"city": "DELTA_BYTE_ARRAY"}},
    ],
    ids=["plain", "dictionary", "version 2", "lengths", "prefixes"],
)
def test_a_footer_that_says_too_little_hides_nothing(options, monkeypatch):
    monkeypatch.setenv("SIGSTATS_READ_LIMIT", str(LIMIT))
    content = stored(**options)
    for first, last, value in reversed(numbers(content)):
        if value >= 10**6:  # the sizes once unpacked, of the column and of its row group
            content = replaced(content, first, last, 3000)
    assert max(value for *_, value in numbers(content)) < 10**6
    with pytest.raises(ValueError, match=r"takes more than 16\.8 MB of memory"):
        read(content)


def test_codes_are_seen_in_the_pages_where_the_footer_names_none(monkeypatch):
    monkeypatch.setenv("SIGSTATS_READ_LIMIT", str(LIMIT))
    content = stored(use_dictionary=True)
    for first, last, value in numbers(content):
        if value in (2, 8) and last == first + 1:  # the numbers of encodings by codes, wherever they stand
            spoilt = replaced(content, first, last, 0)
            with pytest.raises((ValueError, OSError, pa.ArrowException)):
                read(spoilt)


def headers(content):
    """Where the whole numbers of the headers of pages are in a file."""
    for column in range(TABLE.num_columns):
        for group in range(2):
            about = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(group).column(column)
            at = about.dictionary_page_offset or about.data_page_offset
            end = at + about.total_compressed_size
            while at < end:
                found = []
                behind = places(content, at, found)
                yield from found
                at = behind + (number(content, found[2][0])[0] >> 1)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("value", [2**31 - 1, 2**31, 10**6, 1, -1])
def test_a_header_of_a_page_that_lies_is_refused_or_changes_nothing(name, value):
    content = FILES[name]
    refused = 0
    for first, last in headers(content):
        new = written(value)
        if len(new) < last - first:  # as long as what it replaces: the offsets of the footer hold
            new = bytes(each | 128 for each in new) + b"\x80" * (last - first - len(new) - 1) + b"\0"
        try:
            table = read(content[:first] + new + content[last:], coded=True)
        except (pa.ArrowException, OSError, ValueError):
            refused += 1
        else:
            assert table.equals(TABLE) or table.to_pydict() == TABLE.to_pydict()
    assert refused > 10


@pytest.mark.parametrize("form", ["texts", "categories", "lists"])
@pytest.mark.parametrize("coded", [False, True])
def test_codes_beyond_the_dictionary_are_refused(form, coded):
    city = pa.array(["abc"[row % 3] for row in range(60)])
    if form == "lists":
        city = pa.ListArray.from_arrays(list(range(0, 61, 2)), city)
    elif form == "categories":
        city = city.dictionary_encode()
    content = stored(pa.table({"city": city}), compression="none", use_dictionary=True)
    about = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(0)
    end = about.dictionary_page_offset + about.total_compressed_size
    for at in range(end - 16, end - 1):  # four codes of two bits a byte, the last of which is of no row
        spoilt = content[:at] + b"\xff" + content[at + 1 :]
        with pytest.raises((OSError, pa.ArrowInvalid), match="Index not in dictionary bounds"):
            read(spoilt, coded=coded)
