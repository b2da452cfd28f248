"""Cells that studies share: the bytes are those of a run without a cache, whatever is there."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

import sigstats
from sigstats.flows.running.cells import CellComputer
from sigstats.flows.running.options import RunOptions, own_place
from sigstats.tasks.plan import Cell
from sigstats.tasks.storage.cell_cache import CellCache
from sigstats.tasks.storage.store import Store
from sigstats.tasks.work import Work

STUDY = {
    "kind": "benchmark",
    "datasets": ["iris"],
    "classifiers": ["naive-bayes", {"name": "near", "learner": "1-nn"}],
    "cross_validation": {"folds": 3},
    "permutation": {"nulls": ["labels"], "resamples": 25},
    "tests": ["permutation"],
}


def run(folder, *, cache=None, capture=None, **changes):
    """The replicates of a study, by the name of the file, and what was said."""
    sigstats.run_study({**STUDY, **changes}, output=folder, cluster="serial", cache=cache, quiet=capture is None)
    said = capture.readouterr().err if capture is not None else ""
    return {str(f.relative_to(folder)): f.read_bytes() for f in Path(folder, "replicates").rglob("*.parquet")}, said


def test_another_study_takes_its_cells_from_the_cache(tmp_path, capsys):
    alone, _ = run(tmp_path / "alone")
    first, _ = run(tmp_path / "first", cache=tmp_path / "cache")
    again, said = run(tmp_path / "again", cache=tmp_path / "cache", capture=capsys)
    assert alone == first == again
    assert "by this process" not in said
    # Another name is the same work, and another classifier is not.
    named = [{"name": "bayes", "learner": "naive-bayes"}, "lda"]
    other, _ = run(tmp_path / "other", cache=tmp_path / "cache", classifiers=named)
    assert len(other) == 4
    same = {name.split(".")[-2]: content for name, content in alone.items()}
    assert sum(content in same.values() for content in other.values()) == 2
    assert len(list((tmp_path / "cache").rglob("*.parquet"))) == 6


def test_with_a_key_a_forged_cell_is_named_and_computed_again(tmp_path, capsys):
    key, other = tmp_path / "key", tmp_path / "other"
    key.write_bytes(b"a secret of our own\n")
    other.write_bytes(b"the secret of somebody")
    alone, _ = run(tmp_path / "alone")
    shared = {"cluster": "serial", "cache": tmp_path / "cache", "quiet": True}
    sigstats.run_study(STUDY, output=tmp_path / "forger", cache_key=other, **shared)
    sigstats.run_study({**STUDY, "seed": 3}, output=tmp_path / "unsigned", **shared)
    for seed in (0, 3):
        place = tmp_path / f"mine-{seed}"
        sigstats.run_study({**STUDY, "seed": seed}, output=place, cache_key=key, **shared | {"quiet": False})
        assert capsys.readouterr().err.count("is not signed with the key of the cache") == 4
    assert {str(f.relative_to(tmp_path / "mine-0")): f.read_bytes() for f in (tmp_path / "mine-0").rglob("*.parquet")
            if "replicates" in f.parts} == alone  # fmt: skip
    # What was computed again is signed now, and the forger's key does not take it.
    for name, file, unsigned in (("again", key, 0), ("forgers", other, 4)):
        sigstats.run_study(STUDY, output=tmp_path / name, cache_key=file, **shared | {"quiet": False})
        assert capsys.readouterr().err.count("made again") == unsigned


@pytest.mark.parametrize(("content", "message"), [(b"short", "holds 5 bytes"), (None, "cannot be read")])
def test_a_key_that_is_none_is_refused(tmp_path, content, message):
    if content is not None:
        (tmp_path / "key").write_bytes(content)
    with pytest.raises(ValueError, match=f"cache_key: .*{message}"):
        sigstats.run_study(STUDY, output=tmp_path / "out", cache=tmp_path / "cache", cache_key=tmp_path / "key")
    with pytest.raises(ValueError, match=r"cache_key: .* is not valid without cache"):
        sigstats.run_study(STUDY, output=tmp_path / "out", cache_key=tmp_path / "key")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("before", "after"), [(25, 47), (47, 25), (40, 20)])
def test_more_and_fewer_replicates_use_whole_lanes(tmp_path, before, after):
    def permutation(resamples):
        return {"permutation": {"nulls": ["labels"], "resamples": resamples}, "classifiers": ["naive-bayes"]}

    run(tmp_path / "before", cache=tmp_path / "cache", **permutation(before))
    alone, _ = run(tmp_path / "alone", **permutation(after))
    taken, _ = run(tmp_path / "taken", cache=tmp_path / "cache", **permutation(after))
    assert taken == alone


@pytest.mark.parametrize("damage", ["cut", "altered", "another"])
def test_a_damaged_entry_is_named_and_computed_anew(tmp_path, capsys, damage):
    alone, _ = run(tmp_path / "first", cache=tmp_path / "cache")
    retrained = sorted((tmp_path / "cache" / "retrain").rglob("*.parquet"))
    content = retrained[0].read_bytes()
    wrong = {
        "cut": content[:-9],
        "altered": content[:200] + bytes([content[200] ^ 1]) + content[201:],
        "another": retrained[1].read_bytes(),
    }[damage]
    retrained[0].write_bytes(wrong)
    again, said = run(tmp_path / "again", cache=tmp_path / "cache", capture=capsys)
    assert again == alone
    assert said.count("made again: cache: retrain/") == 1
    assert retrained[0].read_bytes() == content


def test_two_studies_at_once_share_a_cache(tmp_path):
    alone, _ = run(tmp_path / "alone")
    found = {}

    def work(name):
        found[name] = run(tmp_path / name, cache=tmp_path / "cache")[0]

    threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"one": alone, "two": alone}
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file() and file.suffix != ".parquet"]


def test_an_object_store_will_do(tmp_path):
    alone, _ = run(tmp_path / "alone")
    first, _ = run(tmp_path / "first", cache="memory://shared-cells")
    again, _ = run(tmp_path / "again", cache="memory://shared-cells")
    assert alone == first == again


def test_a_cache_that_cannot_be_reached_is_left_out(tmp_path, capsys):
    alone, _ = run(tmp_path / "alone")
    (tmp_path / "file").write_text("no folder")
    without, said = run(tmp_path / "without", cache=tmp_path / "file" / "cache", capture=capsys)
    assert without == alone
    assert said.count("note: the cache") == 1


@pytest.mark.parametrize(
    ("cache", "said"),
    [("out", "expected another place than --output"), ("nope://x", "no protocol"), ("s3://k:pw@b/x", "'s3://***@b/x'")],
)
def test_a_place_that_is_none_is_refused(tmp_path, program, monkeypatch, cache, said):
    monkeypatch.chdir(tmp_path)
    ended = program("run", "quickstart", "--output", "out", "--cache", cache)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("cache", ["out/", "./out", "inner/../out", "link", "link/", "file://{}/out"])
def test_another_name_of_the_output_is_no_cache(tmp_path, monkeypatch, cache):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("out")
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(ValueError, match="expected another place than output"):
        own_place(cache.format(tmp_path), "out")
    assert own_place("inner", "out") == "inner"
    assert own_place("circle", "out") == "circle"


def test_the_output_of_a_study_is_no_cache(tmp_path):
    run(tmp_path / "other")
    before = sorted(path.name for path in (tmp_path / "other").iterdir())
    for place in (tmp_path / "other", f"file://{tmp_path}/other"):
        with pytest.raises(ValueError, match=r"cache: .*other' is not valid; expected a place of its own"):
            own_place(str(place), str(tmp_path / "out"))
    study = {"kind": "benchmark", "datasets": ["iris"], "classifiers": ["lda"], "tests": ["mcnemar"]}
    with pytest.raises(ValueError, match=r"cache: .*other' is not valid; expected a place of its own"):
        sigstats.run_study(study, output=tmp_path / "out", cache=tmp_path / "other")
    with pytest.raises(ValueError, match=r"cache: .*out' is not valid; expected another place than output"):
        sigstats.run_study(study, output=tmp_path / "out", cache=tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "other").iterdir()) == before
    assert not (tmp_path / "out").exists()


def test_a_cell_that_is_whole_is_not_looked_for(tmp_path):
    store = Store(str(tmp_path))
    cell = Cell(fanout="f", version=1, subject={}, work=Work(), stream={}, seed=0, replicates=0, lane_size=10)
    assert CellCache(str(tmp_path / "none")).take(cell, store) == []


def test_two_cells_that_find_the_cache_gone_at_once_say_so_once():
    both, said = threading.Barrier(2), []

    def fails(cache):
        both.wait(30)
        raise OSError("no such place")

    options = RunOptions(base=Path(), output="", display=SimpleNamespace(say=said.append), cache="gone")
    computer = CellComputer(None, None, options, {})
    with ThreadPoolExecutor(2) as executor:
        assert list(executor.map(computer._try_cache, [fails, fails])) == [None, None]
    assert said == ["note: the cache gone is not used (no such place)"]
    assert computer._try_cache(fails) is None
