"""A study that is run from Python: its bar in a notebook, and an interruption."""

import re
import signal
import subprocess
import sys
import types

import pyarrow.parquet as pq
import pytest

import sigstats
from sigstats.flows.running.progress import Display

from ..conftest import environment, results, wait_until

STUDY = {
    "kind": "benchmark",
    "name": "study",
    "datasets": ["iris"],
    "classifiers": [{"name": "tree", "learner": "sklearn.tree.ExtraTreeClassifier"}],
    "cross_validation": {"folds": 2},
    "permutation": {"resamples": 400},
    "tests": ["permutation"],
}


class Kernel:
    """What a notebook's kernel shows: IPython's two functions that are asked for."""

    def __init__(self, monkeypatch, **shell):
        self.shown, self.drawn = 0, []
        module, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        module.get_ipython = lambda: types.SimpleNamespace(**shell)
        display.display = self.display
        monkeypatch.setitem(sys.modules, "IPython", module)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def display(self, bar, display_id):
        assert display_id is True
        self.shown += 1
        self.update(bar)
        return self

    def update(self, bar):
        self.drawn.append(bar._repr_html_())


@pytest.mark.long
@pytest.mark.parametrize("quiet", [None, False, True])
def test_a_notebook_shows_one_bar_that_is_drawn_anew(monkeypatch, tmp_path, quiet):
    kernel = Kernel(monkeypatch, kernel="a kernel")
    study = {**STUDY, "permutation": {"resamples": 20}}
    sigstats.run_study(study, output=tmp_path / "out", cluster="serial", quiet=quiet)
    assert kernel.shown == (0 if quiet else 1)
    done = [tuple(map(int, re.findall(r'(?:value|max)="(\d+)"', drawn))) for drawn in kernel.drawn]
    assert done == sorted(done)
    if not quiet:
        assert done[0][0] == 0
        assert done[-1][0] == done[-1][1] > 40
        assert re.search(r"</progress> 3/3 computations, [\d,]+/[\d,]+ replicates", kernel.drawn[-1])


@pytest.mark.long
def test_a_terminal_of_ipython_has_no_notebook(monkeypatch, tmp_path, capsys):
    kernel = Kernel(monkeypatch)
    sigstats.run_study({**STUDY, "permutation": {"resamples": 20}}, output=tmp_path / "out", cluster="serial")
    assert kernel.shown == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.faults
@pytest.mark.processes
def test_what_an_interruption_leaves_is_taken_up(tmp_path, monkeypatch):
    """Ctrl-C after the first block: KeyboardInterrupt, some replicates; the same call computes only the others."""
    output = tmp_path / "out"
    # A command that a shell started in the background ignores Ctrl-C, and so do its processes.
    code = "import signal, sigstats\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += f"sigstats.run_study({STUDY!r}, output={str(output)!r}, cluster='serial')"
    process = subprocess.Popen([sys.executable, "-c", code], env=environment(), stderr=subprocess.PIPE, text=True)
    wait_until(lambda: any(output.rglob("retrain*/*.parquet")), process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT
    assert not (output / "summary.parquet").exists()
    stored = sum(pq.read_metadata(path).num_rows for path in output.rglob("retrain*/*.parquet"))
    counted, advance = {True: 0, False: 0}, Display.advance

    def count(display, cell, replicates, receipt):
        if cell.fanout == "retrain":
            counted[receipt is None] += replicates
        advance(display, cell, replicates, receipt)

    monkeypatch.setattr(Display, "advance", count)
    found = sigstats.run_study(STUDY, output=output, cluster="serial")
    assert counted == {True: stored, False: 800 - stored}
    whole = sigstats.run_study(STUDY, output=tmp_path / "whole", cluster="serial")
    assert results(found.output) == results(whole.output)
