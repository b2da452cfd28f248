"""Figures of results: the data of what is drawn."""

import itertools
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import sigstats
from sigstats._common.drawing import forest

OUTCOMES = sigstats.JointOutcomes(e1=40, e2=12, e3=5, e4=3, e5=2, e6=6, e7=9, e8=123)


def axes():
    return Axes(Figure(), (0, 0, 1, 1))


def marks(ax):
    return {line.get_label(): line.get_xdata()[0] for line in ax.lines}


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def bars(ax):
    edges = [bar.get_x() for bar in ax.patches] + [ax.patches[-1].get_x() + ax.patches[-1].get_width()]
    return [bar.get_height() for bar in ax.patches], edges


def test_a_histogram_has_the_replicates_and_what_was_observed():
    result, ax = sigstats.bootstrap_test(OUTCOMES, n_resamples=199, rng=1, keep_replicates=True), axes()
    assert result.plot(ax=ax) is ax
    heights, edges = bars(ax)
    assert heights == np.histogram(result.bootstrap_distribution, edges)[0].tolist()
    low, high = result.confidence_interval
    assert marks(ax) == {"observed": result.estimate, "interval from": low, "to": high}
    x = np.random.default_rng(1).normal(size=(40, 2))
    learned, ax = sigstats.permutation_test("lda", x, x[:, 0] > 0, n_resamples=19, rng=1), axes()
    learned.plot(ax)
    heights, edges = bars(ax)
    assert heights == np.histogram(learned.null_distribution, edges)[0].tolist()
    assert marks(ax) == {"observed": learned.statistic}


def test_cliques_are_bars_over_their_models():
    scores = np.random.default_rng(1).normal(loc=[0, 0, 3, 3], size=(20, 4))
    result, ax = sigstats.compare_over_datasets(scores, models=list("abcd")), axes()
    result.plot(ax)
    points, *cliques = ax.lines
    assert tuple(points.get_xdata()) == result.ranks
    assert labels(ax) == list(result.models)
    at = dict(zip(result.models, result.ranks, strict=True))
    assert [tuple(bar.get_xdata()) for bar in cliques] == [
        (min(map(at.get, c)), max(map(at.get, c))) for c in result.cliques
    ]


@pytest.mark.long
def test_friedman_s_bars_join_the_models_within_the_critical_difference():
    scores = np.random.default_rng(2).normal(loc=[0, 0.6, 3, 1.2], size=(30, 4))
    result, ax = sigstats.friedman_test(scores), axes()
    result.plot(ax)
    points, *bars_ = ax.lines
    assert dict(zip(labels(ax), points.get_xdata(), strict=True)) == pytest.approx(
        {str(i + 1): rank for i, rank in enumerate(result.ranks)}
    )
    joined = [tuple(bar.get_xdata()) for bar in bars_]
    for a, b in itertools.combinations(result.ranks, 2):
        close = abs(a - b) <= result.critical_difference()
        assert close == any(low <= min(a, b) and max(a, b) <= high for low, high in joined)


def test_possibilities_reach_from_the_necessary_to_the_possible():
    found, ax = sigstats.possibilistic.weigh_hypotheses({"first": 0.3, "second": 0.04, "third": 0.2}), axes()
    found.plot(ax)
    assert labels(ax) == [one.name for one in found]
    assert ax.lines[0].get_xdata().tolist() == [one.psd for one in found]
    assert [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()] == [
        [one.nsd, one.pd] for one in found
    ]
    one = sigstats.possibilistic.possibility(0.02)
    assert one.plot(axes()).lines[0].get_xdata().tolist() == [one.psd]


@pytest.mark.parametrize(("better", "sign"), [("higher_is_better", -1), ("lower_is_better", 1)])
def test_a_forest_has_each_difference_its_interval_and_the_margin(better, sign):
    rng = np.random.default_rng(3)
    old, new = (
        pd.DataFrame({"id": range(200), "ms": rng.normal(5, 1, 200), "part": np.repeat(["x", "y"], 100)})
        for _ in range(2)
    )
    result = sigstats.compare(old, new, slices=["part"], **{better: "ms"})
    ax = result.plot(axes())
    assert labels(ax) == [row.slice for row in result.rows]
    assert len(result.rows) == 3
    assert ax.lines[0].get_xdata() == pytest.approx([row.difference for row in result.rows])
    ends = [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()]
    assert ends == [[row.low, row.high] for row in result.rows]
    assert [line.get_xdata()[0] for line in ax.lines[1:]] == [0, sign * result.rows[0].margin]


def test_a_check_has_each_measure_its_interval_and_the_bar():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 200)
    result = sigstats.assert_at_least(y, y, at_least=0.7, slices={"part": np.repeat(["x", "y"], 100)})
    ax = result.plot(axes())
    assert labels(ax) == ["all rows", "part = x", "part = y"]
    assert [s[:, 0].tolist() for s in ax.collections[0].get_segments()] == [[row.low, row.high] for row in result.rows]
    assert ax.lines[0].get_xdata().tolist() == [row.value for row in result.rows] == [1, 1, 1]
    assert ax.lines[1].get_xdata()[0] == 0.7


def test_a_forest_shows_the_measures_of_one_unit():
    rng = np.random.default_rng(4)
    y, a, b = (rng.integers(0, 2, 200) for _ in range(3))
    result = sigstats.compare(y, a, b, measures=["accuracy", "recall"], positive=1)
    ax = result.plot(axes())
    assert labels(ax) == ["all rows: accuracy", "all rows: recall"]
    assert [line.get_xdata()[0] for line in ax.lines[1:]] == [0, -result.rule.margin]


def test_a_ranking_has_each_score_and_its_interval():
    rng = np.random.default_rng(6)
    answers = pd.DataFrame(rng.random((60, 3)) < (0.9, 0.6, 0.5), columns=list("abc")).astype(int)
    ranking, votes = sigstats.rank_models(answers), sigstats.rank_votes(["x"] * 30, ["y"] * 30, ["a"] * 20 + ["b"] * 10)
    for result, expected in (
        (ranking, [(m.model, m.score, *m.confidence_interval) for m in ranking.models]),
        (votes, list(zip(votes.models, votes.scores, votes.score_low, votes.score_high, strict=True))),
    ):
        ax = result.plot(axes())
        ends = [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()]
        assert list(zip(labels(ax), ax.lines[0].get_xdata(), *zip(*ends, strict=True), strict=True)) == expected


def test_a_figure_of_its_own_has_the_width_of_a_column_and_no_title():
    mpl.use("agg")
    ax = sigstats.bootstrap_test(OUTCOMES, n_resamples=199, rng=1, keep_replicates=True).plot()
    assert ax.figure.get_size_inches()[0] == 3.4
    assert (ax.get_title(), ax.figure.get_suptitle(), ax.figure.get_supxlabel()) == ("", "", "")
    mpl.pyplot.close(ax.figure)


def test_what_is_missing_is_one_line(monkeypatch):
    ax = axes()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = sigstats.bootstrap_test(OUTCOMES, n_resamples=199, rng=1, keep_replicates=True)
    with pytest.raises(ValueError, match=r"^ax: None is not valid; .* pip install matplotlib$"):
        result.plot()
    with pytest.raises(ValueError, match="keep_replicates=True"):
        sigstats.bootstrap_test(OUTCOMES, n_resamples=199, rng=1).plot(ax)
    with pytest.raises(ValueError, match="plot: the result has no intervals to draw"):
        forest(ax, [], unit="accuracy")


def test_infinite_ends_are_arrows_and_votes_without_scores_draw_their_ranks():
    ax = sigstats.discordant_odds_ratio(5, 0).plot(axes())
    (segment,) = ax.collections[0].get_segments()
    low = sigstats.discordant_odds_ratio(5, 0).confidence_interval.low
    point, arrow = ax.lines
    assert segment[:, 0].tolist() == [low, arrow.get_xdata()[0]]
    assert (arrow.get_marker(), np.isnan(point.get_xdata()).all()) == (">", True)
    assert low < arrow.get_xdata()[0] < ax.get_xlim()[1]
    ax = sigstats.rank_votes(["a"] * 20, ["b"] * 20, ["a"] * 20).plot(axes())  # b never won: no finite scores
    assert (ax.get_xlabel(), labels(ax), ax.lines[0].get_xdata().tolist()) == ("rank", ["a", "b"], [1, 2])
