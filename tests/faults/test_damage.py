"""Files of the store that are truncated, bit-flipped or another study's: named and computed again, never used."""

import io
import random
import re

import pyarrow.parquet as pq
import pytest

from .conftest import results, run, stored, times

pytestmark = pytest.mark.processes

SEALED = re.compile(r"(replicates|data)/.*\.parquet|plan\.parquet|summary\.parquet|study\.json")


@pytest.fixture
def other(many, place, bucket):
    """The same study with another seed, so that its cells have other names: every file of it is foreign here."""
    there = type(place)(place.url + "-other") if place.url.startswith("/") else bucket()
    done = run("run", many[0], "--cluster", "serial", "--set", "seed=7", place=there)
    assert done.returncode == 0, done.stderr
    return there


def test_damaged_files_are_named_and_made_again(many, place, other, record):
    path, reference = many
    chance = random.Random(13)
    run("run", path, "--cluster", "serial", place=place)
    assert results(place) == reference
    unread = 0
    counts = {"truncated": 0, "bit-flipped": 0, "from another study": 0}
    foreign = {name.rpartition(".")[0].rpartition(".")[0]: name for name in other.names() if "replicates/" in name}
    for _ in range(times(3, 1)):
        names = [name for name in place.names() if SEALED.fullmatch(name)]
        damaged = dict(zip(chance.sample(names, 18), 6 * list(counts), strict=True))
        damaged["study.json"] = "bit-flipped"  # another study's is refused
        for name, how in damaged.items():
            content = place.read(name)
            if how == "truncated":
                content = content[: chance.randrange(len(content))]
            elif how == "bit-flipped":
                content = flipped(content, chance.randrange(8 * len(content)))
            else:
                content = other.read(foreign.get(name.rpartition(".")[0].rpartition(".")[0], name))
            counts[how] += 1
            place.write(name, content)
        done = run("run", path, "--cluster", "serial", place=place)
        assert done.returncode == 0, done.stderr
        assert all(name in done.stderr for name, how in damaged.items() if how == "truncated")
        found = results(place)
        for name in found:
            if name in damaged and name.startswith("replicates") and name not in done.stderr:
                assert damaged[name] == "bit-flipped"  # of what Parquet says beside the rows
                assert rows(found[name]).equals(rows(reference[name]))
                place.write(name, reference[name])
                unread += 1
        assert results(place) == reference
        assert stored(place) == 20 + 40 * 49
    for how, count in counts.items():
        seen = "named and computed again"
        if how == "bit-flipped":
            seen += f", except {unread} whose bit is outside the rows"
        record(f"files of the store are {how}", where=place.url[:2], count=count, seen=f"{seen}; the same summary")


def rows(content):
    return pq.read_table(io.BytesIO(content)).replace_schema_metadata(None)


def flipped(content, bit):
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)
