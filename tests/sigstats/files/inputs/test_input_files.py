"""Files as they are read: packed or not, in whatever encoding a mark names, and no more than the limit."""

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import fsspec
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats._common.messages import printable
from sigstats.files.inputs import read_bytes
from sigstats.files.inputs.content import open_content
from sigstats.files.inputs.limit import VARIABLE, Budget
from sigstats.files.tables.arrow_files import read_parquet

from ....examples import examples


def zstandard(content):
    return pa.Codec("zstd").compress(content, asbytes=True)


PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "Zstandard": zstandard}
every_packing = pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)


@every_packing
@settings(max_examples=examples(30), deadline=None)
@given(content=st.binary(min_size=1, max_size=300).filter(bytes.strip), times=st.sampled_from([1, 20_000]))
def test_what_was_packed_is_read(tmp_path_factory, pack, content, times):
    path = tmp_path_factory.mktemp("packed") / "a.csv"
    content = b"# " + content * times
    path.write_bytes(pack(content))
    assert read_bytes(str(path)) == content


@every_packing
def test_a_file_of_several_packed_parts_is_one(tmp_path, pack):
    (tmp_path / "a").write_bytes(pack(b"one,") + pack(b"two,") + pack(b"three"))
    assert read_bytes(str(tmp_path / "a")) == b"one,two,three"
    (tmp_path / "b").write_bytes(pack(b"one,") + bytes(2 * len(pack(b"two,"))) + pack(b"two,"))
    try:  # only xz allows zeros between its streams, and gzip after them
        assert read_bytes(str(tmp_path / "b")) == b"one,two,"
    except ValueError as error:
        assert "is damaged" in str(error)
    damaged = bytearray(pack(b"two,"))
    damaged[len(damaged) // 2] ^= 255
    (tmp_path / "c").write_bytes(pack(b"one,") + damaged + pack(b"three"))
    with pytest.raises(ValueError, match="is damaged"):
        read_bytes(str(tmp_path / "c"))


@every_packing
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_damaged_packed_data_are_read_or_one_line(tmp_path_factory, pack, data):
    content = bytearray(pack(bytes(range(256)) * 8))
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[place:]
    else:
        content[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("damaged") / "a.csv"
    path.write_bytes(content)
    try:
        read_bytes(str(path))
    except ValueError as error:
        assert str(error).startswith(str(path))
        assert "\n" not in str(error)


def test_a_file_that_is_packed_twice_is_refused(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(bz2.compress(b"id\n")))
    with pytest.raises(ValueError, match=r"a\.gz: contains another packed file \(bzip2\)"):
        read_bytes(str(tmp_path / "a.gz"))


@settings(deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60).map(lambda text: "id" + text))
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_text_with_a_byte_order_mark_is_read_in_utf_8(tmp_path_factory, encoding, text):
    path = tmp_path_factory.mktemp("text") / "a.csv"
    path.write_bytes(text.encode(encoding))
    assert read_bytes(str(path)) == text.encode()
    path.write_bytes(gzip.compress(text.encode(encoding)))
    assert read_bytes(str(path)) == text.encode()
    path.write_bytes(text.encode(encoding))
    assert read_bytes(str(path), encoding) == text.encode(encoding)  # an encoding that is named


def test_half_a_character_of_utf_16_is_one_line(tmp_path):
    (tmp_path / "a.csv").write_bytes("id,label".encode("utf-16") + b"\x00")
    with pytest.raises(ValueError, match=r"a\.csv: is not text in UTF-16, as its byte order mark says$"):
        read_bytes(str(tmp_path / "a.csv"))


def test_a_url_is_read_as_a_file_is(tmp_path):
    held = fsspec.filesystem("memory")
    held.pipe_file("/inputs/a.csv.gz", gzip.compress(b"id,label\n"))
    assert read_bytes("memory://inputs/a.csv.gz") == b"id,label\n"
    (tmp_path / "a.csv").write_bytes(b"id\n")
    assert read_bytes(f"file://{tmp_path}/a.csv") == b"id\n"


@pytest.mark.parametrize(
    "path",
    ["memory://inputs/none.csv", "reference://a.csv", "nosuch://a", "zip://a::b", "s3://", "://", "dask://x/y", "a\0b"],
)
def test_a_url_that_cannot_be_opened_is_one_line(path):
    with pytest.raises(ValueError, match=r"there is no such file|cannot be read|is not a path") as caught:
        read_bytes(path)
    assert str(caught.value).startswith(printable(path)) or path == "://"
    assert "\n" not in str(caught.value)


def test_a_path_that_is_no_text_is_said_with_its_bytes(tmp_path):
    name = os.fsdecode(bytes(tmp_path) + b"/caf\xe9.csv")
    with pytest.raises(ValueError, match=r"caf\\xe9\.csv: there is no such file$") as caught:
        read_bytes(name)
    str(caught.value).encode()
    Path(name).write_bytes(b"id\n")
    assert read_bytes(name) == b"id\n"


def test_a_pipe_is_read_once_somebody_writes_to_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(gzip.compress(b"id\n" * 70_000),))
    writer.start()
    assert read_bytes(str(tmp_path / "pipe")) == b"id\n" * 70_000
    writer.join()


@pytest.mark.parametrize(
    ("text", "size"), [("1000", 1000), ("500MB", 5 * 10**8), ("1.5 GiB", 3 * 2**29), ("2k", 2000), ("7 tb", 7 * 10**12)]
)
def test_the_limit_is_what_the_environment_says(monkeypatch, text, size):
    monkeypatch.setenv(VARIABLE, text)
    assert Budget("").limit == size


@pytest.mark.parametrize("text", ["", "much", "-1", "1e9", "5 PB", "i", "nan", "9" * 400])
def test_a_limit_that_is_no_size_is_refused(monkeypatch, text):
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(ValueError, match=rf"{VARIABLE}: .* is not valid; expected a size such as"):
        Budget("").limit


def test_by_default_the_limit_is_a_share_of_the_memory_there_is(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert 0 < Budget("").limit <= psutil.virtual_memory().total // 2


#: What a bomb holds when it is unpacked, and the limit under which it is read.
HELD, LIMIT = 10**9, 100 * 10**6

_READ = """
import sys
from pathlib import Path
from sigstats.files.predictions import Columns, read
from sigstats.files.inputs import opening, read_bytes
import pyarrow.csv, pyarrow.json, pyarrow.parquet

def most():
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

before = most()
try:
    {call}
    print("read")
except ValueError as error:
    print(error)
print(most() - before)
"""


def read_in_a_process(path, call="read(sys.argv[1], Columns(id='label'))"):
    """What is said of a file by a process that may read so much of it, and how much memory it took for that."""
    done = subprocess.run(
        [sys.executable, "-c", _READ.replace("{call}", call), str(path)],
        env={**os.environ, VARIABLE: str(LIMIT)},
        capture_output=True,
        text=True,
        check=True,
    )
    said, taken = done.stdout.splitlines()
    return said, int(taken)


def bomb(path):
    """A file of few bytes that holds `HELD`."""
    line = b"id,label,prediction\n" + b"1,a,a\n" * 174_762
    if path.suffix == ".gz":
        with gzip.open(path, "wb", compresslevel=1) as file:
            for _ in range(150):  # half of it is far enough, and quicker made
                file.write(line)
    elif path.suffix == ".eval":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("header.json", json.dumps({"version": 2, "eval": {}, "status": "success"}))
            with archive.open("samples/1_epoch_1.json", "w") as file:
                for _ in range(150):
                    file.write(b" " * 2**20)
    elif path.suffix in (".line", ".first"):  # within the limit, but not with what is made of it
        row = b'{"label": "a", "prediction": "b", "x": "%s"}\n'
        path.write_bytes(row % b"" * (path.suffix == ".line") + row % (b"x" * (LIMIT * 9 // 10)))
    elif path.suffix == ".rows":
        path.write_bytes(b"id,label,prediction\n" + b"1,a,a\n" * (LIMIT // 12))
    elif path.suffix == ".objects":
        path.write_bytes(b'[{"id": [' + b"[]," * 2_000_000 + b"[]]}]")
    elif path.suffix == ".parquet":
        one = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), pa.array(["x" * 10**6]))
        pq.write_table(pa.table({"label": one}), path, compression="zstd")
    elif path.suffix == ".prefixes":
        table = pa.table({"label": ["x" * 100_000] * 3000})
        pq.write_table(
            table, path, compression="zstd", use_dictionary=False, column_encoding={"label": "DELTA_BYTE_ARRAY"}
        )
    else:
        with path.open("wb") as file:  # a line of which only the ends are written
            file.write(b'{"id": "')
            file.truncate(HELD)
    return path


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.parametrize(
    "kind", [".gz", ".parquet", ".prefixes", ".jsonl", ".csv", ".rows", ".eval", ".objects", ".line", ".first"]
)
def test_what_holds_more_than_the_limit_is_refused_before_it_is_held(tmp_path, kind):
    path = bomb(tmp_path / f"bomb{kind}")
    said, taken = read_in_a_process(path)
    assert said == (
        f"{path}: takes more than 100 MB of memory once it is unpacked and read; expected less than this limit "
        f"({VARIABLE} sets another)"
    )
    assert taken < 1.5 * LIMIT


@pytest.mark.long
@pytest.mark.processes
def test_what_no_format_reads_is_not_unpacked(tmp_path):
    path = tmp_path / "zeros.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(90):
            file.write(bytes(2**20))
    said, taken = read_in_a_process(path)
    assert said.startswith(f"{path}: looks like binary data; expected ")
    assert taken < LIMIT / 4


@pytest.mark.long
@pytest.mark.processes
def test_a_device_is_refused_and_a_pipe_without_end_is_read_up_to_the_limit(tmp_path):
    said, taken = read_in_a_process("/dev/zero")
    assert said.startswith("/dev/zero: is a device, which may never end; expected a file, or a pipe with at most")
    assert "100 MB" in said
    assert taken < LIMIT / 4
    os.mkfifo(tmp_path / "pipe")
    endless = f"(echo id,label,prediction; cat /dev/zero) > {tmp_path}/pipe"
    with subprocess.Popen(["sh", "-c", endless], stderr=subprocess.DEVNULL):
        said, taken = read_in_a_process(tmp_path / "pipe")
    assert said.startswith(f"{tmp_path}/pipe: takes more than 100 MB of memory")
    assert taken < 1.5 * LIMIT


@pytest.mark.long
@pytest.mark.parametrize("longest", [10, 10**5])
def test_columns_are_the_same_whether_they_may_be_long_or_not(tmp_path, monkeypatch, longest):
    table = pa.table(
        {
            "label": ["a" * longest] + ["b", "c"] * 20_000,
            "id": range(40_001),
            "x": [0.5] * 40_001,
            "names": [["u", "v"]] * 40_001,
        }
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=30_000)
    monkeypatch.setenv(VARIABLE, "4MB")
    names, found = read_parquet(tmp_path / "a.parquet", Budget("a"), ["x", "label", "none"])
    assert names == table.column_names
    assert found.combine_chunks() == table.select(["label", "x"])
    monkeypatch.setenv(VARIABLE, "30kB")
    with pytest.raises(ValueError, match="takes more than 30 kB of memory"):
        read_parquet(tmp_path / "a.parquet", Budget("a"))


def test_a_parquet_file_behind_a_url_is_read_by_place(tmp_path):
    table = pa.table({"id": [1, 2], "label": ["a", "b"]})
    held = pa.BufferOutputStream()
    pq.write_table(table, held)
    fsspec.filesystem("memory").pipe_file("/inputs/a.parquet", held.getvalue().to_pybytes())
    with open_content("memory://inputs/a.parquet") as content:
        assert read_parquet(content.by_place(), content.budget)[1] == table


_JOIN = """
from sigstats.files.inputs.content import _collect
from sigstats.files.inputs.limit import Budget

def most():
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

before = most()
parts = (bytes(100_000) for _ in range(2500))
assert len(_collect("a", parts, Budget("a"))) == 250_000_000
print(most() - before)
"""


@pytest.mark.processes
def test_many_pieces_are_joined_without_a_second_copy():
    done = subprocess.run([sys.executable, "-c", _JOIN], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1.25 * 250_000_000
