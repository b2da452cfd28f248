"""Damaged files of Parquet and Arrow are refused in one line, and large ones before they are held."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigstats.files.inputs.limit import Budget
from sigstats.files.predictions import Columns, read
from sigstats.files.tables.arrow_files import read_ipc, read_parquet

TABLE = pa.table(
    {"id": range(60), "label": [row % 2 for row in range(60)], "prediction": [row // 2 % 2 for row in range(60)]}
)


def parquet(table=TABLE, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def arrow(table=TABLE, **options):
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, 20)
    return sink.getvalue()


def test_a_page_that_is_not_as_it_was_written_is_refused():
    content = bytearray(parquet(compression="zstd", write_page_checksum=True))
    at = content.index(b"\x28\xb5\x2f\xfd") + 12  # within the first page that zstd packed
    content[at] ^= 1
    with pytest.raises(OSError, match="CRC checksum verification failed"):
        read_parquet(io.BytesIO(bytes(content)), Budget("b.parquet"))


@pytest.mark.parametrize(("content", "name"), [(parquet(), "Parquet"), (arrow(), "Arrow's format")])
@pytest.mark.parametrize("end", [0.5, 0.9])
def test_a_file_that_ends_too_early_is_refused_in_one_line(tmp_path, content, name, end):
    path = tmp_path / "cut.data"
    path.write_bytes(content[: int(len(content) * end)])
    with pytest.raises(ValueError, match=rf"cut\.data: cannot be read as {name} \(.*\)$") as refused:
        read(str(path), Columns())
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("form", ["texts", "categories", "lists"])
@pytest.mark.parametrize("coded", [False, True])
def test_codes_beyond_the_dictionary_are_refused(form, coded):
    city = pa.array(["abc"[row % 3] for row in range(60)])
    if form == "lists":
        city = pa.ListArray.from_arrays(list(range(0, 61, 2)), city)
    elif form == "categories":
        city = city.dictionary_encode()
    content = parquet(pa.table({"city": city}), compression="none")
    about = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(0)
    end = about.dictionary_page_offset + about.total_compressed_size
    for at in range(end - 16, end - 1):  # four codes of two bits a byte, the last of which is of no row
        spoilt = content[:at] + b"\xff" + content[at + 1 :]
        with pytest.raises((OSError, pa.ArrowInvalid), match=r"bounds|ndex"):
            read_parquet(io.BytesIO(spoilt), Budget("b.parquet"), coded=coded)


@pytest.mark.parametrize("inner", ["text", "list", "struct", "map", "categories"])
def test_texts_that_repeat_are_the_same_in_batches(inner, monkeypatch):
    texts = [f"{'x' * 2000}{row % 3}" for row in range(2000)]
    column = {
        "text": pa.array(texts),
        "list": pa.array([[text, "b"] for text in texts]),
        "struct": pa.array([{"t": text} for text in texts]),
        "map": pa.array([[("k", text)] for text in texts], pa.map_(pa.string(), pa.string())),
        "categories": pa.array(texts).dictionary_encode(),
    }[inner]
    table = pa.table({"x": column, "n": range(2000)})
    content = parquet(table, row_group_size=900)
    monkeypatch.setenv("SIGSTATS_READ_LIMIT", "5MB")  # the texts take 4 MB
    _, read = read_parquet(io.BytesIO(content), Budget("b"))
    assert read.schema == table.schema
    assert read.to_pydict() == table.to_pydict()
    monkeypatch.setenv("SIGSTATS_READ_LIMIT", "3MB")
    with pytest.raises(ValueError, match="b: takes more than 3 MB of memory"):
        read_parquet(io.BytesIO(content), Budget("b"))


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_batches_of_arrow_are_counted_as_they_are_unpacked(compression, monkeypatch):
    table = pa.table({"x": ["y" * 1000] * 60})
    content = arrow(table, compression=compression)
    assert read_ipc(content, Budget("a")).equals(table)
    monkeypatch.setenv("SIGSTATS_READ_LIMIT", "30kB")
    if compression is None:  # its columns are used where they lie in the file
        assert read_ipc(content, Budget("a")).equals(table)
    else:
        with pytest.raises(ValueError, match="a: takes more than 30 kB of memory"):
            read_ipc(content, Budget("a"))


def test_a_stream_that_goes_on_or_was_interrupted_is_refused():
    table = pa.table({"id": range(4)})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
        before_end = len(sink.getvalue())
    whole = sink.getvalue()
    assert read_ipc(whole, Budget("a")).equals(table)
    with pytest.raises(ValueError, match="has more than one stream"):
        read_ipc(2 * whole, Budget("a"))
    file = io.BytesIO()
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    assert read_ipc(file.getvalue(), Budget("a")).equals(table)
    with pytest.raises(ValueError, match="has more than one file"):
        read_ipc(2 * file.getvalue(), Budget("a"))
    with pytest.raises(ValueError, match="ends without the end of the stream"):
        read_ipc(whole[:before_end], Budget("a"))
