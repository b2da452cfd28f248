"""Folders that are listed late, as where a file system of a network caches them: each reads as it did at first."""

from collections import Counter

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.registry import known_implementations

from sigstats.flows.commands import main
from sigstats.tasks.storage.local_files import REPORTED, LocalFiles
from sigstats.tasks.storage.store import Store

STUDY = """
kind = "benchmark"
datasets = ["iris"]
classifiers = ["naive-bayes", "1-nn"]
[cross_validation]
folds = 5
[permutation]
nulls = ["labels", "features"]
resamples = 2999
stopping = "besag-clifford"
"""


class LateFileSystem(MemoryFileSystem):
    """A file system whose listings are cached until `forget` is called."""

    protocol = "late"
    store, pseudo_dirs, listings = {}, [""], {}

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("late://", "memory://"))

    def ls(self, path, detail=True, **options):
        path = self._strip_protocol(path)
        try:
            entries = self.listings[path]
        except KeyError:
            try:
                entries = super().ls(path, detail=True, **options)
            except FileNotFoundError:
                entries = []
            self.listings[path] = entries
        return entries if detail else [entry["name"] for entry in entries]


@pytest.fixture(params=["folder", "url"])
def late(request, tmp_path, monkeypatch):
    """The root of an output in such a file system, and what lets it list its folders anew."""
    if request.param == "url":
        monkeypatch.setitem(known_implementations, "late", {"class": f"{__name__}.LateFileSystem"})
        fsspec.register_implementation("late", LateFileSystem, clobber=True)
        LateFileSystem.store.clear()
        LateFileSystem.listings.clear()
        return "late://out", LateFileSystem.listings.clear
    listings, entries = {}, LocalFiles._entries
    monkeypatch.setattr(
        LocalFiles, "_entries", lambda self, folder: listings.setdefault((self.root, folder), entries(self, folder))
    )
    return str(tmp_path / "out"), listings.clear


@pytest.fixture
def written(monkeypatch):
    """How often each replicate was stored as one of a block."""
    counts = Counter()
    write_block = Store.write_block

    def counted(self, cell, first, last, table):
        counts.update((cell.name, number) for number in range(first, last))
        return write_block(self, cell, first, last, table)

    monkeypatch.setattr(Store, "write_block", counted)
    return counts


@pytest.mark.long
@pytest.mark.parametrize("parts", [[], ["--part=1/2", "--part=2/2"]])
def test_no_cell_is_damaged_or_computed_twice(late, written, parts, tmp_path, capsys):
    root, list_anew = late
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    command = ["run", str(study), "--cluster", "serial", "--output", root]
    for part in parts:
        assert main([*command, part]) == 0
        list_anew()
    assert main(command) == 0
    assert "computed again" not in capsys.readouterr().err
    assert set(written.values()) == {1}
    plain = tmp_path / "plain"
    assert main([*command[:-1], str(plain)]) == 0
    one, other = (Store(output).files.read("summary.parquet") for output in (root, str(plain)))
    assert one == other
    REPORTED.clear()
