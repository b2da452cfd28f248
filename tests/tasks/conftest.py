"""A fan-out that draws one integer a replicate, and can be told to fail or to take long."""

import sys
import uuid
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from sigstats.tasks.fan_out import FAN_OUTS, FanOut
from sigstats.tasks.schema import REPLICATE, column
from sigstats.tasks.storage.store import Store

from ..cells import a_cell
from ..object_store import object_store

SCHEMA = pa.schema([REPLICATE, column("drawn", pa.int64(), "number", "what was drawn")])


class Drawing:
    """Counts its calls; `fail` maps the number of a call to what it raises."""

    def __init__(self):
        self.calls = []
        self.fail = {}

    def compute(self, block, store, work):
        self.calls.append((block.first, block.last))
        if len(self.calls) in self.fail:
            raise self.fail[len(self.calls)]
        drawn = np.concatenate([rng.integers(1000, size=size) for rng, size in block.lanes()])
        return pa.table({"replicate": np.arange(block.first, block.last), "drawn": drawn}, schema=SCHEMA)


@pytest.fixture
def drawing(monkeypatch):
    fake = Drawing()
    put_in_place(monkeypatch, compute=fake.compute)
    return fake


def put_in_place(monkeypatch, **functions):
    """A fan-out of these functions, in place of every other."""
    for name in ("drawing", "observing", *FAN_OUTS):
        monkeypatch.setitem(FAN_OUTS, name, "fan_out_of_a_test:FAN_OUT")
    fan_out = FanOut(about="Draws.", in_words="draws", lane_size=10, schema=SCHEMA, **functions)
    monkeypatch.setitem(sys.modules, "fan_out_of_a_test", SimpleNamespace(FAN_OUT=fan_out))


@pytest.fixture
def cell():
    return make_cell()


def make_cell(replicates=95, seed=3):
    of = {"subject": {"dataset": "none"}, "stream": {"draws": "integers"}}
    return a_cell(fanout="drawing", seed=seed, replicates=replicates, lane_size=10, **of)


@pytest.fixture(scope="session")
def bucket():
    """The URL of an S3 bucket on a server of its own."""
    with object_store("store") as environment, pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield "s3://store"


@pytest.fixture(params=["folder", "memory", "s3"])
def root(request, tmp_path):
    """Where files are kept: a folder, this process's memory, an object store."""
    if request.param == "folder":
        return str(tmp_path / "out")
    base = "memory://" if request.param == "memory" else request.getfixturevalue("bucket")
    return f"{base}/{uuid.uuid4().hex}"


@pytest.fixture
def store(root):
    return Store(root)
