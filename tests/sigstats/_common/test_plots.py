"""Pictures of results: what is drawn, on axes that note it."""

import sys
from unittest.mock import MagicMock

import numpy as np
import pytest

import sigstats

OUTCOMES = sigstats.JointOutcomes(e1=40, e2=12, e3=5, e4=3, e5=2, e6=6, e7=9, e8=123)


def lines(ax):
    return {call.kwargs["label"]: call.args[0] for call in ax.axvline.call_args_list}


def test_a_histogram_has_the_replicates_and_what_was_observed():
    found, ax = sigstats.bootstrap_test(OUTCOMES, n_resamples=199, rng=1, keep_replicates=True), MagicMock()
    assert found.plot(ax=ax) is ax
    assert ax.hist.call_args.args[0] == found.bootstrap_distribution
    low, high = found.confidence_interval
    assert lines(ax) == {"observed": found.estimate, "interval from": low, "to": high}
    x = np.random.default_rng(1).normal(size=(40, 2))
    learned, ax = sigstats.permutation_test("lda", x, x[:, 0] > 0, n_resamples=19, rng=1), MagicMock()
    learned.plot(ax)
    assert ax.hist.call_args.args[0] == learned.null_distribution
    assert lines(ax) == {"observed": learned.statistic}


def test_cliques_are_bars_over_their_models():
    scores = np.random.default_rng(1).normal(loc=[0, 0, 3, 3], size=(20, 4))
    found, ax = sigstats.compare_over_datasets(scores, models=list("abcd")), MagicMock()
    found.plot(ax)
    points, *bars = ax.plot.call_args_list
    assert points.args[0] == found.ranks
    at = dict(zip(found.models, found.ranks, strict=True))
    assert [bar.args[0] for bar in bars] == [(min(map(at.get, c)), max(map(at.get, c))) for c in found.cliques]


def test_a_figure_of_its_own_has_its_caption(monkeypatch):
    figure, ax = MagicMock(), MagicMock()
    ax.figure, pyplot = figure, MagicMock()
    pyplot.subplots.return_value = figure, ax
    monkeypatch.setitem(sys.modules, "matplotlib", MagicMock(pyplot=pyplot))
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    found = sigstats.bootstrap_test(OUTCOMES, n_resamples=199, rng=1, keep_replicates=True)
    assert found.plot() is ax
    (caption,) = figure.supxlabel.call_args.args
    title, _, sentence = str(found).splitlines()[0], None, str(found).splitlines()[3]
    assert " ".join(caption.split()) == f"{title} {sentence}"


def test_what_is_missing_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = sigstats.bootstrap_test(OUTCOMES, n_resamples=199, rng=1, keep_replicates=True)
    with pytest.raises(ValueError, match=r"^ax: None is not valid; .* pip install matplotlib$"):
        found.plot()
    with pytest.raises(ValueError, match="keep_replicates=True"):
        sigstats.bootstrap_test(OUTCOMES, n_resamples=199, rng=1).plot(MagicMock())
