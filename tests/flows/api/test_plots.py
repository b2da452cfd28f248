"""The figures of a study: what is drawn is what is stored."""

import json
import sys

import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import beta, rankdata

import sigstats
from sigstats.many_datasets.signed_rank import bayesian_signed_rank

mpl.use("agg")
import itertools

from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

SHARES = (0.0, 0.3, 0.6, 1.0)
BENCHMARK = {
    "kind": "benchmark",
    "classifiers": ["lda", "1-nn", "naive-bayes"],
    "cross_validation": {"folds": 3},
    "permutation": {"resamples": 19},
    "datasets": [
        {"name": f"correlation = {share}", "source": "generated", "generator": "correlated", "correlation": share}
        for share in SHARES
    ],
}
CALIBRATION = {
    "kind": "calibration",
    "sizes": [20, 40, 80],
    "trials": 50,
    "populations": [{"name": "Sturm", "source": "sturm", "classes": 3, "right": [0.0, 0.3]}],
    "tests": [{"test": "mcnemar"}],
}
INTERVALS = {
    "kind": "calibration",
    "sizes": [50, 200],
    "trials": 40,
    "populations": [
        {
            "name": "two versions",
            "source": "simulated",
            "prevalence": [0.5, 0.1],
            "recall": [0.8],
            "precision": [0.8],
            "difference": [0.05],
            "dependence": [0.9],
        }
    ],
    "tests": [{"test": "f1-interval", "of": "difference", "method": name} for name in ("wilson", "percentile")],
}
TRAINED = {
    "kind": "calibration",
    "sizes": [50, 200],
    "trials": 20,
    "populations": [
        {
            "name": "digits",
            "source": "trained",
            "dataset": "digits",
            "train": 200,
            "test": 200,
            "a": {"learner": "lda"},
            "b": {"learner": "naive-bayes"},
            "sets": [{"name": "3 and 8", "positive": ["3", "8"]}],
        }
    ],
    "tests": [{"test": "bootstrap", "measure": "f1", "resamples": 200}],
}


def study(values):
    @pytest.fixture(scope="module")
    def run(tmp_path_factory):
        return sigstats.run_study(values, output=tmp_path_factory.mktemp("study"), cluster="serial")

    return run


benchmark, calibration, intervals, trained = map(study, (BENCHMARK, CALIBRATION, INTERVALS, TRAINED))


@pytest.fixture(autouse=True)
def _no_figures_stay():
    yield
    if "matplotlib.pyplot" in sys.modules:
        mpl.pyplot.close("all")


def drawn_as_lines(ax):
    return {line.get_label(): (line.get_xdata(), line.get_ydata()) for line in ax.lines}


def segments(collection):
    return np.array(collection.get_segments())


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


@pytest.mark.long
def test_each_study_has_the_figures_of_its_kind(benchmark, calibration, intervals, trained):
    assert benchmark.plot.names == ("critical_difference", "forest", "null", "over_data_sets", "trends")
    assert calibration.plot.names == ("calibration_curves", "law_of_p", "power", "reliability")
    assert intervals.plot.names == ("nested_loops", "zips")
    assert "resampled_differences" in trained.plot.names
    with pytest.raises(ValueError, match="plot: choose one of its figures by name: nested_loops, zips"):
        intervals.plot()


@pytest.mark.long
def test_a_figure_is_drawn_on_the_axes_given_or_fills_a_column(benchmark, monkeypatch):
    about = {"test": "mcnemar", "dataset": "correlation = 0.3"}
    axes = Figure().subplots(2)
    assert benchmark.plot.forest(ax=axes[1], **about) is axes[1]
    assert not axes[0].has_data()
    ax = benchmark.plot.forest(**about)
    assert ax.figure.get_size_inches()[0] == 3.4
    assert (ax.get_title(), ax.figure.get_suptitle(), ax.figure.get_supxlabel()) == ("", "", "")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert benchmark.plot.forest(axes[0], **about) is axes[0]
    with pytest.raises(ValueError, match="pip install matplotlib"):
        benchmark.plot.forest(**about)


@pytest.mark.long
def test_a_choice_that_names_no_figure_or_several_is_refused(benchmark):
    with pytest.raises(
        ValueError, match="figure: 'power' is not valid; expected one that this study has: critical_diff"
    ):
        benchmark.plot.power()
    with pytest.raises(
        ValueError, match=r"^null: there are 24 such figures; choose one by test= 'permutation-labels', "
    ):
        benchmark.plot.null()
    with pytest.raises(ValueError, match=r"there are 3 such figures; choose one by classifier= 'lda', '1-nn', 'naive-"):
        benchmark.plot.null(dataset="correlation = 0.0", test="permutation-labels")
    with pytest.raises(ValueError, match=r"classifier: 'lad' is not valid; expected one of .* mean 'lda'"):
        benchmark.plot.null(classifier="lad")
    with pytest.raises(ValueError, match=r"option: 'data_set' is not valid; .* mean 'dataset'"):
        benchmark.plot.null(data_set="correlation = 0.0")


def test_null_has_each_replicate_and_the_observed_error(benchmark):
    about = {"dataset": "correlation = 1.0", "classifier": "lda"}
    (row,) = (
        benchmark.summary.query("test == 'permutation-labels' and dataset == 'correlation = 1.0'")
        .query("classifier == 'lda'")
        .to_dict("records")
    )
    errors = benchmark.replicates(**about, fanout="retrain", null_hypothesis="labels")["wrong"].to_numpy() / row["n"]
    ax = benchmark.plot.null(test="permutation-labels", **about)
    counts, edges, _ = ax.patches[0].get_data()
    assert counts.tolist() == np.histogram(errors, edges)[0].tolist()
    assert counts.sum() == 19
    assert ax.lines[0].get_xdata() == pytest.approx([row["estimate"]] * 2)
    assert counts[edges[:-1] < row["estimate"]].sum() == row["exceedances"]


def test_forest_has_the_intervals_of_the_summary(benchmark):
    rows = benchmark.summary.query("test == 'mcnemar' and dataset == 'correlation = 0.3'")
    ax = benchmark.plot.forest(test="mcnemar", dataset="correlation = 0.3")
    assert segments(ax.collections[0])[:, :, 0] == pytest.approx(rows[["estimate_low", "estimate_high"]].to_numpy())
    assert ax.lines[0].get_xdata() == pytest.approx(rows["estimate"].to_numpy())
    assert ax.lines[1].get_xdata() == [0, 0]
    runs = benchmark.predictions(dataset="correlation = 0.3")
    right = (runs["label"] == runs["prediction"]).groupby(runs["classifier"]).mean()
    pairs = [text.split(" − ") for text in labels(ax.yaxis)]
    assert ax.lines[0].get_xdata() == pytest.approx([right[first] - right[second] for first, second in pairs])


def test_critical_difference_has_mean_ranks_and_over_data_sets_probabilities(benchmark):
    runs = benchmark.predictions()
    runs["right"] = runs["label"] == runs["prediction"]
    accuracy = runs.groupby(["dataset", "classifier"])["right"].mean().unstack()
    ranks = dict(zip(accuracy.columns, rankdata(-accuracy.round(12), axis=1).mean(axis=0), strict=True))
    ax = benchmark.plot.critical_difference()
    assert ax.lines[0].get_xdata() == pytest.approx([ranks[name] for name in labels(ax.yaxis)])
    ax = benchmark.plot.over_data_sets()
    pairs = [label.split(" − ") for label in labels(ax.yaxis)]
    bars = np.array([[bar.get_width() for bar in group] for group in ax.containers]).T
    for (a, b), shares in zip(pairs, bars, strict=True):
        test = bayesian_signed_rank(accuracy[a] - accuracy[b], rope=0.01, rng=2)
        assert shares == pytest.approx([test.better, test.equal, test.worse], abs=0.03)


def test_trends_have_observed_errors_and_the_middle_of_the_permuted_ones(benchmark):
    ax = benchmark.plot.trends(test="permutation-labels", classifier="1-nn")
    rows = benchmark.summary.query("test == 'permutation-labels' and classifier == '1-nn'")
    of = {"classifier": "1-nn", "fanout": "retrain", "null_hypothesis": "labels"}
    errors = np.array([benchmark.replicates(dataset=row.dataset, **of)["wrong"] / row.n for row in rows.itertuples()])
    lines = drawn_as_lines(ax)
    assert lines["observed"] == (pytest.approx(SHARES), pytest.approx(rows["estimate"].to_numpy()))
    assert lines["permuted"][1] == pytest.approx(errors.mean(axis=1))
    band = ax.collections[0].get_paths()[0].vertices
    for share, values in zip(SHARES, errors, strict=True):
        ends = band[band[:, 0] == share][:, 1]
        assert (ends.min(), ends.max()) == pytest.approx(np.quantile(values, [0.05, 0.95]))


def test_power_has_each_rate_its_interval_and_the_exact_one(calibration):
    ax = calibration.plot.power()
    lines = drawn_as_lines(ax)
    for place, part in enumerate(("r = 0%", "r = 30%")):
        rows = calibration.summary.query("test == 'calibration' and slice == @part").sort_values("n")
        assert lines[part][0] == pytest.approx([20, 40, 80])
        assert lines[part][1] == pytest.approx(rows["statistic"].to_numpy())
        assert ax.lines[2 + place].get_ydata() == pytest.approx(rows["estimate"].to_numpy())
        ends = segments(ax.collections[place])[:, :, 1]
        assert ends == pytest.approx(rows[["estimate_low", "estimate_high"]].to_numpy())
    assert ax.lines[-1].get_ydata() == [0.05, 0.05]


def test_p_values_under_the_null_are_drawn_by_level(calibration):
    p = calibration.replicates(slice="r = 0%", n="40", fanout="subsample")["p_value"].to_numpy()
    line = calibration.plot.calibration_curves(n=40).lines[0]
    levels = np.arange(1, 41) / 200
    shares = [np.mean(p <= level * (1 + 1e-9)) for level in levels]
    assert (line.get_xdata(), line.get_ydata()) == (pytest.approx(levels), pytest.approx(shares))
    x, y = drawn_as_lines(calibration.plot.law_of_p())["40 rows"]
    assert y == pytest.approx([np.mean(p <= level * (1 + 1e-9)) for level in x])


def test_reliability_has_the_share_that_is_right_by_confidence(calibration):
    runs = calibration.replicates(slice="r = 30%", n="40", fanout="subsample")
    (truth,) = calibration.summary.query("test == 'calibration' and slice == 'r = 30%' and n == 40")["truth"]
    runs = runs[runs["advantage"] != 0]
    stated, right = 1 - runs["p_value"] / 2, runs["advantage"] * truth > 0
    ax = calibration.plot.reliability(n=40)
    x, y = ax.lines[0].get_data()
    edges = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 1.0000001]
    groups = [right[(low <= stated) & (stated < high)] for low, high in itertools.pairwise(edges)]
    groups = [group for group in groups if len(group)]
    assert y == pytest.approx([group.mean() for group in groups])
    ends = [beta.ppf([0.025], g.sum(), (~g).sum() + 1)[0] if g.any() else 0.0 for g in groups]
    assert segments(ax.collections[0])[:, 0, 1] == pytest.approx(ends)
    assert x.min() >= 0.5


def test_resampled_differences_have_the_stored_histogram(trained):
    stored = json.loads(trained.summary["resampled"].dropna().iloc[0])
    counts, edges, _ = trained.plot.resampled_differences().patches[-1].get_data()
    assert counts.tolist() == stored["counts"]
    assert counts.sum() == stored["replicates"]
    assert edges == pytest.approx([(stored["first"] + place) * stored["width"] for place in range(len(edges))])


@pytest.mark.long
def test_nested_loops_and_zips_have_the_intervals_of_each_method(intervals):
    rows = intervals.summary.query("test == 'performance' and measure == 'coverage'")
    ax = intervals.plot.nested_loops()
    assert len(labels(ax.xaxis)) == 4
    for _, rates in list(drawn_as_lines(ax).values())[:2]:
        assert any(sorted(rates) == pytest.approx(sorted(of["estimate"])) for _, of in rows.groupby("method"))
    name, of_method = next(iter(rows.groupby("method")))
    worst = of_method.loc[of_method["estimate"].idxmin()]
    short = next(text for text in ("wilson", "percentile") if text in name)
    ax = intervals.plot.zips(method=f"difference of F1 ({short})")
    colours = [to_rgba("0.7"), to_rgba("C3")]
    holds = {tuple(lines.get_color()[0]): segments(lines)[:, :, 0] for lines in ax.collections if lines.get_segments()}
    assert set(holds) <= set(colours)
    for colour, ends in holds.items():
        inside = (ends[:, 0] <= worst["truth"]) & (worst["truth"] <= ends[:, 1])
        assert (inside == (colour == colours[0])).all()
    assert sum(map(len, holds.values())) == 40
    assert len(holds[colours[0]]) / 40 == pytest.approx(worst["estimate"])
