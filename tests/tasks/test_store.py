from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.datasets import Dataset
from tasks.schema import SCHEMA_VERSION
from tasks.sources import load
from tasks.store import Damaged, Store, sealed
from tasks.work import run_block


def folder(store, cell):
    return Path(store.root, "replicates", cell.name)


def write(store, cell, *ranges):
    for first_lane, last_lane in ranges:
        run_block(cell.block(first_lane, last_lane), store)


def test_blocks_are_found_in_order_and_read_back(store, cell, drawing):
    write(store, cell, (4, 10), (0, 2))
    found = store.find(cell)
    assert found.done == ((0, 20), (40, 95))
    assert found.damaged == found.spare == ()
    assert store.read_block(cell, 40, 95).column("replicate").to_pylist() == list(range(40, 95))


def test_equal_tables_give_equal_bytes_and_another_fingerprint_gives_others():
    table = pa.table({"x": np.arange(5)})
    assert sealed(table, kind="k", fingerprint="f") == sealed(table, kind="k", fingerprint="f")
    assert sealed(table, kind="k", fingerprint="f") != sealed(table, kind="k", fingerprint="g")


def test_a_joined_cell_is_one_file_whose_bytes_do_not_tell_how_it_was_cut(tmp_path, cell, drawing):
    one, other = Store(str(tmp_path / "one")), Store(str(tmp_path / "other"))
    write(one, cell, (0, 10))
    write(other, cell, (7, 10), (0, 1), (1, 7))
    one.finish(cell)
    other.finish(cell)
    files = [list(folder(store, cell).iterdir()) for store in (one, other)]
    assert [len(names) for names in files] == [1, 1]
    assert files[0][0].name == files[1][0].name
    assert files[0][0].read_bytes() == files[1][0].read_bytes()


def test_an_incomplete_cell_is_not_joined(store, cell, drawing):
    write(store, cell, (0, 3))
    with pytest.raises(Damaged, match="not complete"):
        store.finish(cell)
    assert store.find(cell).done == ((0, 30),)


def test_overlapping_blocks_are_counted_once(store, cell, drawing):
    write(store, cell, (0, 4), (2, 6), (6, 10))
    found = store.find(cell)
    assert found.done == ((0, 40), (60, 95))
    assert len(found.spare) == 1
    write(store, cell, (4, 6))
    table = store.finish(cell)
    assert table.column("replicate").to_pylist() == list(range(95))


def test_every_truncation_is_found(store, cell, drawing):
    write(store, cell, (0, 2))
    (path,) = folder(store, cell).iterdir()
    content = path.read_bytes()
    for length in range(0, len(content), 37):
        path.write_bytes(content[:length])
        found = store.find(cell)
        assert found.done == ()
        assert path.name in found.damaged[0]


@settings(
    derandomize=True, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(data=st.data())
def test_a_flipped_bit_is_found_or_changes_nothing_that_is_read(store, cell, drawing, data):
    write(store, cell, (0, 2))
    (path,) = folder(store, cell).iterdir()
    content = bytearray(path.read_bytes())
    whole = store.read_block(cell, 0, 20)
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    content[bit // 8] ^= 1 << (bit % 8)
    path.write_bytes(content)
    try:
        assert store.read_block(cell, 0, 20).equals(whole, check_metadata=True)
    except Damaged as error:
        assert path.name in str(error)
    path.unlink()


def test_a_file_of_another_study_is_refused_by_name(store, cell, drawing):
    from .conftest import make_cell

    other = make_cell(seed=4)
    write(store, other, (0, 2))
    (path,) = folder(store, other).iterdir()
    folder(store, cell).mkdir(parents=True)
    path.rename(folder(store, cell) / path.name)
    found = store.find(cell)
    assert found.done == ()
    assert "belongs to something else" in found.damaged[0]


def test_a_file_renamed_to_other_replicates_is_refused(store, cell, drawing):
    write(store, cell, (0, 2))
    (path,) = folder(store, cell).iterdir()
    path.rename(path.with_name("000000020-000000040.parquet"))
    assert "expected 20 to 39" in store.find(cell).damaged[0]


@pytest.mark.parametrize("name", ["notes.parquet", "000000000-000000015.parquet", "000000000-000000200.parquet"])
def test_a_foreign_file_is_named(store, cell, drawing, name):
    write(store, cell, (0, 1))
    (folder(store, cell) / name).write_bytes(b"?")
    found = store.find(cell)
    assert found.done == ((0, 10),)
    assert name in found.damaged[0]


def test_another_kind_or_schema_version_is_refused(store, monkeypatch):
    store.write_table("x.parquet", pa.table({"x": [1]}), kind="one", fingerprint="f")
    with pytest.raises(Damaged, match="not 'two'"):
        store.read_table("x.parquet", kind="two")
    monkeypatch.setattr("tasks.store.SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with pytest.raises(Damaged, match=f"schema {SCHEMA_VERSION}"):
        store.read_table("x.parquet", kind="one")


def test_text_and_nulls_are_sealed_too(store):
    table = pa.table({"text": ["a", None], "number": pa.array([1.5, None])})
    store.write_table("x.parquet", table, kind="k", fingerprint="f")
    assert store.read_table("x.parquet", kind="k", fingerprint="f").equals(table)
    forged = pa.table({"text": ["b", None], "number": pa.array([1.5, None])})
    metadata = pq.read_schema(Path(store.root, "x.parquet")).metadata
    pq.write_table(forged.replace_schema_metadata(metadata), Path(store.root, "x.parquet"))
    with pytest.raises(Damaged, match="altered"):
        store.read_table("x.parquet", kind="k")


def test_a_plain_parquet_file_is_refused(store):
    Path(store.root).mkdir(parents=True)
    pq.write_table(pa.table({"x": [1]}), Path(store.root, "x.parquet"))
    with pytest.raises(Damaged, match=r"x\.parquet is not a whole file"):
        store.read_table("x.parquet", kind="k")


def test_a_damaged_data_set_is_written_again(store):
    dataset = load({"name": "iris"}, base=Path())
    store.write_dataset(dataset)
    (path,) = Path(store.root, "data").iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:-9])
    store.write_dataset(dataset)
    assert path.read_bytes() == content
    assert store.read_dataset("iris", dataset.digest()).digest() == dataset.digest()


def test_the_store_is_its_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Store("out") == Store(str(tmp_path / "out"))
    assert eval(repr(Store("out"))) == Store("out")


@pytest.mark.parametrize("name", ["../../escape", "/etc/passwd", "a b = 0.5", "Ω", "c:\\x", "." * 50])
def test_a_data_set_of_any_name_stays_inside_the_store(tmp_path, name):
    store = Store(str(tmp_path / "out"))
    dataset = Dataset(
        name=name,
        X=np.array([[1.0], [2.0]]),
        nominal=np.array([False]),
        y=np.array([0, 1]),
        classes=("a", "b"),
        features=("x",),
        categories=((),),
    )
    store.write_dataset(dataset)
    assert store.read_dataset(name, dataset.digest()).name == name
    (file,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert file.parent == tmp_path / "out" / "data"
