"""Data of an object store are downloaded once per machine."""

import multiprocessing
import os
import stat
import tempfile
import uuid
from collections import Counter
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest

from sigstats.tasks.storage.data import read_once_per_machine
from sigstats.tasks.storage.files import RemoteFiles
from sigstats.tasks.storage.local_files import LocalFiles
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

TABLE = pa.table({"value": list(range(1000))})
FINGERPRINT = "f" * 64


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The temporary folder of the machine."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def downloads(monkeypatch):
    """How often each object of a store is downloaded."""
    counted, read = Counter(), RemoteFiles.read

    def counting(files, name):
        counted[name] += 1
        return read(files, name)

    monkeypatch.setattr(RemoteFiles, "read", counting)
    return counted


@pytest.fixture
def store():
    store = Store(f"memory://{uuid.uuid4().hex}")
    store.write_table("data/d.parquet", TABLE, kind="data", fingerprint=FINGERPRINT)
    return store


def read(store):
    return read_once_per_machine(store, "data/d.parquet", kind="data", fingerprint=FINGERPRINT)


def copies(temporary):
    return sorted(temporary.glob("sigstats-data-*/*/data/d.parquet"))


def test_data_are_downloaded_once(temporary, downloads, store):
    assert all(read(store).equals(TABLE) for _ in range(3))
    assert downloads == {"data/d.parquet": 1}
    (copy,) = copies(temporary)
    assert stat.S_IMODE(copy.parents[2].stat().st_mode) == 0o700


def test_a_damaged_copy_is_replaced(temporary, downloads, store):
    read(store)
    (copy,) = copies(temporary)
    copy.write_bytes(copy.read_bytes()[:-20])
    assert read(store).equals(TABLE)
    assert read(store).equals(TABLE)
    assert downloads == {"data/d.parquet": 2}


def test_damaged_data_are_not_copied(temporary, downloads, store):
    fsspec.filesystem("memory").pipe_file(f"{store.root}/data/d.parquet", b"PAR1")
    for _ in range(2):
        with pytest.raises(Damaged):
            read(store)
    assert not copies(temporary)


def test_absent_data_raise_as_without_copies(temporary, store):
    with pytest.raises(FileNotFoundError):
        read_once_per_machine(store, "data/other.parquet", kind="data", fingerprint=FINGERPRINT)


def test_a_folder_that_others_can_write_is_not_used(temporary, downloads, store):
    (temporary / f"sigstats-data-{os.getuid()}").mkdir(mode=0o777)
    (temporary / f"sigstats-data-{os.getuid()}").chmod(0o777)
    assert read(store).equals(TABLE)
    assert read(store).equals(TABLE)
    assert downloads == {"data/d.parquet": 2}
    assert not copies(temporary)


def test_a_disk_without_space_needs_no_copy(temporary, downloads, store, monkeypatch):
    def full(files, name, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LocalFiles, "write", full)
    assert read(store).equals(TABLE)
    assert downloads == {"data/d.parquet": 1}


def test_a_worker_that_is_stopped_does_not_stop_the_others(temporary, downloads, store, monkeypatch):
    monkeypatch.setattr("sigstats.tasks.storage.data._PATIENCE", 0.2)
    with Store(str(temporary / f"sigstats-data-{os.getuid()}" / FINGERPRINT)).files.lock():
        (temporary / f"sigstats-data-{os.getuid()}").chmod(0o700)
        assert read(store).equals(TABLE)


def test_a_copy_that_was_not_read_for_a_day_is_removed(temporary, store):
    old = temporary / f"sigstats-data-{os.getuid()}" / ("0" * 64)
    old.mkdir(parents=True)
    old.parent.chmod(0o700)
    os.utime(old, (0, 0))
    read(store)
    assert not old.exists()
    assert copies(temporary)


def _read_elsewhere(arguments):
    root, folder, counts = arguments
    tempfile.tempdir = folder
    original = RemoteFiles.read

    def counting(files, name):
        Path(counts, uuid.uuid4().hex).touch()
        return original(files, name)

    RemoteFiles.read = counting
    return read(Store(root)).num_rows


@pytest.mark.long
def test_processes_that_start_together_download_once(temporary, tmp_path):
    counts = tmp_path / "counts"
    counts.mkdir()
    # Read through a URL, as from a bucket, which several processes see.
    root = f"simplecache::file://{tmp_path}/bucket"
    (tmp_path / "bucket").mkdir()
    Store(f"{tmp_path}/bucket").write_table("data/d.parquet", TABLE, kind="data", fingerprint=FINGERPRINT)
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        rows = pool.map(_read_elsewhere, [(root, str(temporary), str(counts))] * 8, chunksize=1)
    assert rows == [1000] * 8
    assert len(list(counts.iterdir())) == 1
