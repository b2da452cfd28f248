"""Parquet files whose footers lie: read as they are or refused, and no process ends by them."""

import io
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigstats.files.inputs.limit import Budget
from sigstats.files.tables._thrift import read_struct
from sigstats.files.tables.arrow_files import read_parquet

TABLE = pa.table(
    {"id": range(60), "label": [row % 2 for row in range(60)], "city": ["abc"[row % 3] for row in range(60)]}
)
WHOLE = (5, 6)  # the types of Thrift's compact protocol whose values are spoilt: i32 and i64


def stored(**options):
    sink = io.BytesIO()
    pq.write_table(TABLE, sink, row_group_size=40, **options)
    return sink.getvalue()


FILES = {
    "snappy": stored(),
    "version 2": stored(use_dictionary=False, compression="none", data_page_version="2.0"),
    "zstd": stored(compression="zstd", write_page_checksum=True),
}


def number(content, at):
    found = shift = 0
    while content[at] >= 128:
        found |= (content[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return found | content[at] << shift, at + 1


def places(content, at, found):
    """Where the whole numbers of a struct begin and end, and where the struct ends."""
    while content[at]:
        kind, at = content[at] & 15, (at + 1 if content[at] >> 4 else number(content, at + 1)[1])
        at = place(content, at, kind, found)
    return at + 1


def place(content, at, kind, found):
    if kind in WHOLE:
        end = number(content, at)[1]
        found.append((at, end))
        return end
    if kind == 8:
        length, at = number(content, at)
        return at + length
    if kind == 9:
        length, kind, at = content[at] >> 4, content[at] & 15, at + 1
        if length == 15:
            length, at = number(content, at)
        for _ in range(length):
            at = at + 1 if kind in (1, 2) else place(content, at, kind, found)
        return at
    return places(content, at, found) if kind == 12 else at + {1: 0, 2: 0, 3: 1, 7: 8}[kind]


def written(value):
    value = (value << 1 ^ value >> 63) & (2**64 - 1)
    parts = []
    while value >= 128:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def lies(content):
    """The file with each whole number of its footer replaced by others."""
    length = struct.unpack("<I", content[-8:-4])[0]
    body, footer = content[: -8 - length], content[-8 - length : -8]
    found = []
    places(footer, 0, found)
    for first, last in found:
        for value in (0, 1, -1, 7, 2**31 - 1, 2**40, 2**62):
            spoilt = footer[:first] + written(value) + footer[last:]
            yield body + spoilt + struct.pack("<I", len(spoilt)) + b"PAR1"


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_a_footer_that_lies_is_refused_or_changes_nothing(name):
    assert read_parquet(io.BytesIO(FILES[name]), Budget("b.parquet"))[1].equals(TABLE)
    refused = 0
    for content in lies(FILES[name]):
        try:
            _, table = read_parquet(io.BytesIO(content), Budget("b.parquet"))
        except (pa.ArrowException, OSError, ValueError):
            refused += 1
        else:
            assert table.equals(TABLE)
    assert refused > 100


def test_what_contradicts_itself_is_named():
    swapped = FILES["version 2"].replace(b"city", b"town", 1)  # in the schema or in a column, not in both
    assert swapped != FILES["version 2"]
    with pytest.raises(pa.ArrowInvalid, match="the footer contradicts itself: 'city' with 40 values"):
        read_parquet(io.BytesIO(swapped), Budget("b.parquet"), ["id", "town"])


def test_a_page_that_is_not_what_was_written_is_refused():
    content = bytearray(FILES["zstd"])
    at = content.index(b"\x28\xb5\x2f\xfd") + 12  # within the first page that zstd packed
    content[at] ^= 1
    with pytest.raises(OSError, match="CRC checksum verification failed"):
        read_parquet(io.BytesIO(bytes(content)), Budget("b.parquet"))


def test_a_footer_that_ends_arrow_is_refused():
    # Found by tools/fuzz.py: pyarrow opens it, and its writer of metadata ends the process.
    with pytest.raises(pa.ArrowInvalid, match="there twice"):
        read_parquet(str(Path(__file__).with_name("ends_arrow.parquet")), Budget("f"))


def test_a_field_that_is_there_twice_is_refused():
    # Of two fields Arrow takes the last of the type that it expects.
    with pytest.raises(pa.ArrowInvalid, match="field 1 is there twice"):
        read_struct(bytes([0x15, 2, 0x05, 2, 4, 0]), 0)


def test_a_map_is_passed_over():
    content = bytes([0x1B, 1, 0x85, 1, 65, 4, 0x15, 6, 0])  # field 1: {"A": 2}; field 2: 3
    assert read_struct(content, 0) == ({1: None, 2: 3}, len(content))
