"""A span a cell and block, as another program's tracer is given them."""

import contextlib
import sys
import types

import pytest

from sigstats import run_study
from sigstats.flows.running import cells

PAIR = {"name": "two", "a": "old", "b": "new", "counts_a": [3, 9], "counts_b": [7, 5]}
STUDY = {"kind": "significance", "samples": [PAIR]}


class Tracer:
    def __init__(self):
        self.open, self.spans = [], []

    @contextlib.contextmanager
    def start_as_current_span(self, name, attributes):
        self.open.append(name)
        yield
        self.spans.append((name, None, attributes))
        self.open.pop()

    def start_span(self, name, start_time, attributes):
        inside = self.open[-1]
        return types.SimpleNamespace(end=lambda at: self.spans.append((name, inside, at - start_time)))


@pytest.fixture(autouse=True)
def anew():
    cells._tracer.cache_clear()
    yield
    cells._tracer.cache_clear()


def test_a_block_lies_in_its_cell(tmp_path, monkeypatch):
    tracer = Tracer()
    monkeypatch.setattr("opentelemetry.trace.get_tracer", lambda name: tracer)
    found = run_study(STUDY, output=tmp_path)
    (block, cell) = tracer.spans
    assert (block[0], block[1] == cell[0], block[2] > 0) == ("block 0-1", True, True)
    assert cell[2]["sigstats.fanout"] == found.cells["fanout"][0]
    assert cell[2]["sigstats.dataset"] == "two"


def test_without_its_api_nothing_is_recorded(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert len(run_study(STUDY, output=tmp_path).summary) == 1
