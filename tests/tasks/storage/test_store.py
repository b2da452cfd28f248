import io
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigstats.tasks.datasets.dataset import Dataset
from sigstats.tasks.datasets.readers import load
from sigstats.tasks.engine.blocks import run_block
from sigstats.tasks.schema import SCHEMA_VERSION
from sigstats.tasks.storage.data import read_data, write_data
from sigstats.tasks.storage.seal import Damaged, seal, unseal
from sigstats.tasks.storage.store import Store

from ...examples import examples


def stored(store, cell):
    """The names of the files of a cell."""
    folders = f"replicates/{cell.name}", f"blocks/{cell.name}"
    return [f"{folder}/{entry}" for folder in folders for entry in store.files.names(folder)]


def write(store, cell, *ranges):
    for first_lane, last_lane in ranges:
        run_block(cell.block(first_lane, last_lane), store)


def written(table):
    """The bytes of a Parquet file without a seal."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def test_blocks_are_found_in_order_and_read_back(store, cell, drawing):
    write(store, cell, (4, 10), (0, 2))
    found = store.find(cell)
    assert found.done == ((0, 20), (40, 95))
    assert found.damaged == ()
    assert store.read_block(cell, 40, 95).column("replicate").to_pylist() == list(range(40, 95))


def test_equal_tables_give_equal_bytes_and_another_fingerprint_gives_others():
    table = pa.table({"x": np.arange(5)})
    assert seal(table, kind="k", fingerprint="f") == seal(table, kind="k", fingerprint="f")
    assert seal(table, kind="k", fingerprint="f") != seal(table, kind="k", fingerprint="g")


def test_a_joined_cell_is_one_file_whose_bytes_do_not_tell_how_it_was_cut(root, cell, drawing):
    one, other = Store(f"{root}/one"), Store(f"{root}/other")
    write(one, cell, (0, 10))
    write(other, cell, (7, 10), (0, 1), (1, 7))
    one.finish(cell)
    other.finish(cell)
    (name,) = stored(one, cell)
    assert stored(other, cell) == [name]
    assert one.files.read(name) == other.files.read(name)


def test_a_cell_that_another_run_joins_meanwhile_is_not_missed(store, cell, drawing, monkeypatch):
    write(store, cell, (0, 4), (4, 10))
    block_parts = Store.block_parts

    def late(self, *block):
        monkeypatch.undo()
        Store(store.root).finish(cell)
        return block_parts(self, *block)

    found = store.find(cell)
    monkeypatch.setattr(Store, "find", lambda self, cell: found)
    monkeypatch.setattr(Store, "block_parts", late)
    store.finish(cell)
    assert store.read_prefix(cell).num_rows == 95
    assert len(stored(store, cell)) == 1


def test_a_block_that_comes_late_changes_nothing_that_is_finished(store, cell, drawing):
    write(store, cell, (0, 4), (4, 10))
    store.finish(cell)
    whole = store.read_prefix(cell)
    (name,) = stored(store, cell)
    content = store.files.read(name)
    assert name.startswith("replicates/")
    assert store.files.folders("blocks") == []
    write(store, cell, (2, 3), (0, 10))
    assert store.files.names(f"replicates/{cell.name}") == [name.rpartition("/")[2]]
    assert store.files.read(name) == content
    assert store.find(cell).done == ((0, 95),)
    store.finish(cell)
    assert store.read_prefix(cell).equals(whole)
    assert stored(store, cell) == [name]


def test_blocks_that_are_left_change_nothing_that_is_finished(store, cell, drawing, monkeypatch):
    """A store that removes some of them, or none."""
    write(store, cell, (0, 1), (1, 4), (4, 10))
    monkeypatch.setattr(type(store.files), "drop", lambda self, folder: None)
    store.finish(cell)
    table = store.read_prefix(cell)
    names = stored(store, cell)
    assert len(names) == 4
    for _ in range(2):
        found = store.find(cell)
        assert (found.done, found.damaged) == (((0, 95),), ())
        store.finish(cell)
        assert store.read_prefix(cell) == table
        store.files.remove(names[1])
    monkeypatch.undo()


def test_blocks_of_other_cells_are_not_dropped(store, cell, drawing):
    other = replace(cell, seed=4)
    write(store, cell, (0, 1))
    write(store, other, (0, 1))
    store.drop_blocks([cell])
    assert store.files.folders("blocks") == [other.name]
    assert store.find(other).done == ((0, 10),)
    store.drop_blocks([cell, other])
    assert store.files.folders("blocks") == []


def test_an_incomplete_cell_is_not_joined(store, cell, drawing):
    write(store, cell, (0, 3))
    with pytest.raises(Damaged, match="not complete"):
        store.finish(cell)
    assert store.find(cell).done == ((0, 30),)


def test_a_late_block_does_not_hide_a_cell_that_its_rule_has_ended(store, cell, drawing):
    ended = replace(cell, stopping={"rule": "gandy", "alpha": 0.05})
    write(store, ended, (0, 1), (1, 3))
    store.finish(ended, 30)
    assert store.read_block(ended, 0, 30).num_rows == 30
    write(store, ended, (2, 10))
    assert store.read_prefix(ended).num_rows == 30


def test_a_cell_that_two_runs_cut_differently_is_whole_when_one_of_them_has_all(store, cell, drawing):
    write(store, cell, (0, 1), (1, 3), (1, 4), (3, 10))
    found = store.find(cell)
    assert found.done == ((0, 10), (10, 30), (30, 95))
    store.finish(cell)
    assert store.read_prefix(cell).column("replicate").to_pylist() == list(range(95))


@settings(
    derandomize=True,
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(cuts=st.sets(st.tuples(st.integers(0, 9), st.integers(1, 10)).filter(lambda cut: cut[0] < cut[1]), max_size=7))
def test_of_overlapping_blocks_those_that_reach_furthest_and_then_the_most_replicates_are_kept(
    tmp_path_factory, cell, drawing, cuts
):
    store = Store(str(tmp_path_factory.mktemp("cuts")))
    write(store, cell, *cuts)

    blocks = [(10 * first, min(10 * last, 95)) for first, last in sorted(cuts)]
    subsets = (chosen for size in range(len(blocks) + 1) for chosen in itertools.combinations(blocks, size))
    apart = [
        chosen
        for chosen in subsets
        if all(one[1] <= other[0] or other[1] <= one[0] for one, other in itertools.combinations(chosen, 2))
    ]

    def worth(chosen):
        reached = 0
        for first, last in chosen:
            reached = last if first == reached else reached
        return reached, sum(last - first for first, last in chosen), -len(chosen)

    found = store.find(cell)
    assert found.done in apart
    assert worth(found.done) == max(map(worth, apart))


@pytest.mark.long
def test_every_truncation_is_found(store, cell, drawing):
    write(store, cell, (0, 2))
    (name,) = stored(store, cell)
    content = store.files.read(name)
    for length in range(0, len(content), 37):
        store.files.write(name, content[:length])
        found = store.find(cell)
        assert found.done == ()
        assert name in found.damaged[0]


@pytest.mark.faults
@settings(
    derandomize=True,
    max_examples=examples(300),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(data=st.data())
def test_a_flipped_bit_is_found_or_changes_nothing_that_is_read(store, cell, drawing, data):
    write(store, cell, (0, 2))
    (name,) = stored(store, cell)
    content = bytearray(store.files.read(name))
    whole = store.read_block(cell, 0, 20)
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    content[bit // 8] ^= 1 << (bit % 8)
    store.files.write(name, bytes(content))
    try:
        assert store.read_block(cell, 0, 20).equals(whole, check_metadata=True)
    except Damaged as error:
        assert name in str(error)
    store.files.remove(name)


def test_a_file_of_another_study_is_refused_by_name(store, cell, drawing):
    from ..conftest import make_cell

    other = make_cell(seed=4)
    write(store, other, (0, 2))
    (name,) = stored(store, other)
    store.files.write(name.replace(other.name, cell.name), store.files.read(name))
    found = store.find(cell)
    assert found.done == ()
    assert "belongs to another study or cell" in found.damaged[0]


def test_a_file_renamed_to_other_replicates_is_refused(store, cell, drawing):
    write(store, cell, (0, 2))
    (name,) = stored(store, cell)
    store.files.write(f"replicates/{cell.name}/000000020-000000040.parquet", store.files.read(name))
    store.files.remove(name)
    assert "expected 20 to 39" in store.find(cell).damaged[0]


@pytest.mark.parametrize("name", ["notes.parquet", "000000000-000000015.parquet", "000000000-000000200.parquet"])
def test_a_foreign_file_is_named(store, cell, drawing, name):
    write(store, cell, (0, 1))
    store.files.write(f"replicates/{cell.name}/{name}", b"?")
    found = store.find(cell)
    assert found.done == ((0, 10),)
    assert name in found.damaged[0]


def test_another_kind_or_schema_version_is_refused(store, monkeypatch):
    store.write_table("x.parquet", pa.table({"x": [1]}), kind="one", fingerprint="f")
    with pytest.raises(Damaged, match="not 'two'"):
        store.read_table("x.parquet", kind="two")
    monkeypatch.setattr("sigstats.tasks.storage.seal.SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with pytest.raises(Damaged, match=f"schema {SCHEMA_VERSION}"):
        store.read_table("x.parquet", kind="one")


def test_text_and_nulls_are_sealed_too(store):
    table = pa.table({"text": ["a", None], "number": pa.array([1.5, None])})
    store.write_table("x.parquet", table, kind="k", fingerprint="f")
    assert store.read_table("x.parquet", kind="k", fingerprint="f").equals(table)
    forged = pa.table({"text": ["b", None], "number": pa.array([1.5, None])})
    metadata = pq.read_schema(io.BytesIO(store.files.read("x.parquet"))).metadata
    store.files.write("x.parquet", written(forged.replace_schema_metadata(metadata)))
    with pytest.raises(Damaged, match="altered"):
        store.read_table("x.parquet", kind="k")


def test_a_plain_parquet_file_is_refused(store):
    store.files.write("x.parquet", written(pa.table({"x": [1]})))
    with pytest.raises(Damaged, match=r"x\.parquet is damaged, or was not written by sigstats"):
        store.read_table("x.parquet", kind="k")


def test_a_damaged_data_set_is_written_again(store):
    dataset = load({"name": "iris"}, base=Path())
    write_data(store, dataset)
    (entry,) = store.files.names("data")
    content = store.files.read(f"data/{entry}")
    store.files.write(f"data/{entry}", content[:-9])
    write_data(store, dataset)
    assert store.files.read(f"data/{entry}") == content
    assert read_data(store, Dataset, "iris", dataset.digest()).digest() == dataset.digest()


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
    write_data(store, dataset)
    assert read_data(store, Dataset, name, dataset.digest()).name == name
    (file,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert file.parent == tmp_path / "out" / "data"


def test_each_byte_of_a_sealed_file_is_noticed_if_its_highest_bit_is_flipped():
    """The names of columns are no text then."""
    table = pa.table({"replicate": [0, 1], "größe": ["a", None]}, metadata={"unit": "1"})
    content = seal(table, kind="retrain", fingerprint="f" * 64)
    for place in range(len(content)):
        spoilt = bytearray(content)
        spoilt[place] ^= 0x80
        try:
            found = unseal(bytes(spoilt), "file", kind="retrain", fingerprint="f" * 64)
        except Damaged:
            continue
        assert found.equals(table, check_metadata=True), place


@pytest.mark.long
def test_a_cell_of_millions_is_joined_in_parts_to_the_bytes_of_the_whole_table(store, cell):
    whole = replace(cell, replicates=2_500_000, lane_size=10_000)
    schema = pa.schema([pa.field("replicate", pa.int64(), nullable=False), pa.field("odd", pa.bool_())])

    def table(first, last):
        numbers = np.arange(first, last)
        return pa.table([numbers, numbers % 7 == 3], schema=schema)

    cuts = (0, 10_000, 1_200_000, 2_000_000, 2_500_000)
    for first, last in itertools.pairwise(cuts):
        store.write_block(whole, first, last, table(first, last))
    store.finish(whole)
    (name,) = stored(store, whole)
    content = store.files.read(name)
    assert content == seal(table(0, cuts[-1]), kind=whole.fanout, fingerprint=whole.fingerprint)
    parts = list(store.parts(whole))
    assert len(parts) == 3
    assert pa.concat_tables(parts).equals(table(0, cuts[-1]))
    store.files.write(name, content[:1000] + bytes([content[1000] ^ 1]) + content[1001:])
    assert store.find(whole).done == ()
    assert len(store.find(whole).damaged) == 1
