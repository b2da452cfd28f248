"""The figures: what is drawn is what was counted."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.flows.benchmark.report import null_distributions
from sigstats.flows.benchmark.report.null_distributions import NullDistribution, null_distribution
from sigstats.flows.commands import main
from sigstats.flows.pages import page, svg
from sigstats.flows.pages.svg import Axes
from sigstats.flows.report import heat_tables
from sigstats.flows.report.evidence import Evidence
from sigstats.flows.report.rows import advantage_of_a, necessity
from sigstats.measures.measure import as_measure
from sigstats.measures.table import COUNT_MEASURES
from sigstats.possibilistic_indices import possibility
from sigstats.tasks.results import Results
from sigstats.tasks.schema import Hypothesis, summary_table
from sigstats.tasks.storage.store import Store

from ...examples import examples
from ..synthetic_study import CLASSIFIERS, DATASETS, make_study

quickly = settings(deadline=None, derandomize=True, max_examples=examples(200))
counts = st.lists(st.integers(0, 400), min_size=1, max_size=60).map(np.array)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_study(tmp_path_factory.mktemp("study"), lost=())


@pytest.fixture(scope="module")
def evidence(store: Store) -> Evidence:
    return Evidence(Results(store))


def rectangles(path: str) -> list[tuple[float, float, float]]:
    """The bars of a path: left, right and height."""
    found, x, y, base = [], 0.0, 0.0, 0.0
    for command, first, second in re.findall(r"([MHVZ])([\d.-]*) ?([\d.-]*)", path):
        if command == "M":
            x, base = float(first), float(second)
        elif command == "V":
            y = float(first)
        elif command == "H":
            found.append((x, float(first), base - y))
            x = float(first)
    return found


@pytest.mark.long
@quickly
@given(counts, st.integers(0, 400))
def test_the_orange_bins_hold_exactly_the_extreme_replicates(wrong, observed):
    low, high = min(wrong.min(), observed), max(wrong.max(), observed)
    bins = null_distributions.Bins.over(int(low), int(high))
    heights, left = bins.count(wrong, observed, more=True)
    assert heights[left > observed - 1].sum() == (wrong >= observed).sum()
    heights, left = bins.count(wrong, observed)
    assert heights.sum() == len(wrong)
    assert heights[left < observed].sum() == (wrong <= observed).sum()
    # every bin holds as many whole numbers as any other, and the drawing holds all of them
    inside = [sum(start < k < start + bins.width for k in range(-500, 1000)) for start in left]
    assert set(inside) == {bins.width}
    used = left[heights > 0]
    assert bins.low < used.min() + 1
    assert used.max() + bins.width <= bins.high
    assert len(heights) <= null_distributions._BINS + 2


@quickly
@given(st.lists(st.integers(0, 60), min_size=1, max_size=40))
def test_the_path_of_a_histogram_is_its_bars(heights):
    width = 4.0
    left = 10 + width * np.arange(len(heights))
    found = rectangles(svg.bars(np.array(heights, dtype=float), left, width, 84.0))
    assert found == [(x, x + width, h) for x, h in zip(left, heights, strict=True) if h]


@quickly
@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_round_even_and_inside(low, span):
    high = low + span
    if not (high - low) / max(abs(low), abs(high), 1e-300) > 1e-9:
        return
    ticks = svg.ticks(low, high)
    assert len(ticks) <= 6
    slack = 1e-6 * (high - low)
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    if len(ticks) > 2:
        steps = np.diff(ticks)
        assert np.allclose(steps, steps[0], rtol=1e-6)
    labels = svg.tick_labels(ticks, "%")
    assert len(set(labels)) == len(ticks)
    assert sum(label.endswith("%") for label in labels) == bool(ticks)


def test_equal_ends_have_one_tick():
    assert svg.ticks(3.0, 3.0) == [3.0]


def test_the_line_stands_at_the_observed_error_and_the_bars_are_the_replicates(store, evidence):
    (figure,) = (one for one in evidence.figures if one.title == "Errors under the null hypothesis")
    drawings = re.findall(r"<svg.*?</svg>", figure.body, re.DOTALL)
    assert len(drawings) == 2 * len(DATASETS) * len(CLASSIFIERS)
    for drawing in drawings:
        classifier, dataset = re.search(r"<title[^>]*>(\S+) on (\S+), p", drawing).groups()
        count = int(re.search(r"(\d+) as extreme as observed", drawing)[1])
        line = float(re.search(r'class="observed" d="M([\d.]+)', drawing)[1])
        grey = rectangles(re.search(r'class="null" d="([^"]*)"', drawing)[1])
        orange = re.search(r'class="extreme" d="([^"]*)"', drawing)
        colored = rectangles(orange[1]) if orange else []
        assert bool(colored) == bool(count), (classifier, dataset)
        # a coordinate is rounded to a tenth; a line ends in the middle of the count whose bar ends the orange part
        assert all(right >= line - 0.15 for _, right, _ in grey)
        assert all(left <= line + 0.15 for left, _, _ in colored)
        assert max(height for *_, height in grey + colored) == pytest.approx(64)  # between the lines at 20 and 84


def test_the_observed_error_that_is_drawn_is_that_of_the_predictions(store, evidence):
    results = Results(store)
    for row in evidence.rows_of("permutation-labels"):
        (cell,) = results.cells("crossval", dataset=row.dataset, classifier=row.classifier)
        table = results.table(cell)
        wrong = (table.column("label").to_numpy() != table.column("prediction").to_numpy()).sum()
        null = null_distribution(row, evidence)
        assert null is not None
        assert null.observed == wrong
        assert (null.counts <= wrong).sum() == row.exceedances


@quickly
@given(st.floats(1e-12, 1))
def test_necessity_of_the_alternative_is_that_of_the_null_with_the_roles_exchanged(p):
    # NSD of the null is max(0, 2p - 1); exchanging null and complement puts 1 - p for p.
    own, exchanged = possibility(p), possibility(1 - p)
    row = Hypothesis(
        study="s",
        cell="c",
        test="t",
        method="m",
        alternative="less",
        null_hypothesis="h",
        p_value=p,
        pd=own.pd,
        psd=own.psd,
        nsd=own.nsd,
    )
    value = necessity(row)
    assert value is not None
    assert max(value, 0) == pytest.approx(exchanged.nsd, abs=1e-12)
    assert max(-value, 0) == pytest.approx(own.nsd, abs=1e-12)
    assert -1 <= value < 1


def test_a_p_value_at_a_bound_has_the_darker_colour():
    assert [page.p_shade(p) for p in (0.0, 0.001, 0.0011, 0.01, 0.05, 0.0501, 0.2, 1.0)] == [
        "p0", "p0", "p1", "p1", "p2", "p3", "p3", "p4",
    ]  # fmt: skip


def test_necessities_of_both_sides_have_colours_of_their_own():
    values = (0.95, 0.949, 0.8, 0.799, 0.5, 0.499, 0.001, 0.0)
    shades = ["a4", "a3", "a3", "a2", "a2", "a1", "a1", "n0"]
    assert [page.necessity_shade(value) for value in values] == shades
    assert [page.necessity_shade(-value) for value in values] == [shade.replace("a", "h") for shade in shades]
    assert page.necessity_shade(1 - 2 * 0.025) == "a4"  # 0.95, although floats say a little less or more


def squares(evidence: Evidence) -> dict[str, tuple[list[str], list[list[str]]]]:
    """The names and the shades of each square of the dominance figure."""
    (figure,) = heat_tables.draw_pairs(evidence)
    found = {}
    for table in re.findall(r"<table.*?</table>", figure.body, re.DOTALL):
        lines = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)[1:]
        names = [re.search(r'<th scope="row">(.*?)</th>', line)[1] for line in lines]
        shades = [re.findall(r'<td class="(\w+)"', line) for line in lines]
        found[re.search(r"<caption>(.*?)</caption>", table)[1]] = (names, shades)
    return found


def test_the_best_classifier_comes_first_and_dominance_mirrors(store, evidence):
    results = Results(store)
    mirror = str.maketrans("ah", "ha")
    for dataset, (names, shades) in squares(evidence).items():
        right = []
        for name in names:
            (cell,) = results.cells("crossval", dataset=dataset, classifier=name)
            table = results.table(cell)
            right.append(int((table.column("label").to_numpy() == table.column("prediction").to_numpy()).sum()))
        assert right == sorted(right, reverse=True)
        for i in range(len(names)):
            assert shades[i][i] == "diagonal"
            for j in range(i):
                assert shades[i][j] == shades[j][i].translate(mirror)
                assert shades[j][i] == "n0" or shades[j][i].startswith("a")  # the better one is on the left


OUTCOMES = """
[[outcomes]]
name = "d"
a = "{a}"
b = "{b}"
counts = [40, 30, 5, 3, 2, 6, 40, 123]
methods = ["{method}"]
"""
#: The options of a method, which no other has.
OF_METHODS = {"bootstrap": 'measure = "{measure}"\n', "dcf": "cost_fn = 200.0\ncost_fp = 10.0\nprior = 0.3\n"}


def dominance_of(folder, *outcomes):
    """The dominance figure of joint outcomes in which b is right where a is wrong 70 times, and a instead of b 11."""
    entries = (dict(zip(("a", "b", "method", "measure"), values, strict=True)) for values in outcomes)
    tables = [(OUTCOMES + OF_METHODS.get(entry["method"], "")).format(**entry) for entry in entries]
    (folder / "study.toml").write_text('kind = "significance"' + "".join(tables))
    assert main(["run", str(folder / "study.toml"), "--output", str(folder / "out"), "--quiet"]) == 0
    evidence = Evidence(Results(Store(str(folder / "out"))))
    return squares(evidence), next(heat_tables.draw_pairs(evidence))


@pytest.mark.parametrize(
    ("method", "measure", "difference"),
    [
        ("proportion", "f1", 100 * (16 - 75) / 249),  # a errs on 30 + 3 + 2 + 40 of 249 objects, b on 5 + 3 + 2 + 6
        ("bootstrap", "error", 100 * (16 - 75) / 249),
        ("bootstrap", "accuracy", 100 * (75 - 16) / 249),
        ("dcf", "f1", 200 * 0.3 * (8 - 33) / 78 + 10 * 0.7 * (8 - 42) / 171),
        ("bootstrap", "f1", 2 * 70 / (2 * 70 + 8 + 8) - 2 * 45 / (2 * 45 + 33 + 42)),
    ],
)
def test_the_better_classifier_is_first_whether_more_or_less_of_the_measure_is_better(
    tmp_path, method, measure, difference
):
    found, figure = dominance_of(tmp_path, ("worse", "better", method, measure))
    assert found == {"d": (["better", "worse"], [["diagonal", "a4"], ["h4", "diagonal"]])}
    left, above = (float(shown.replace("−", "-")) for shown in re.findall(r"<small>(.*?)</small>", str(figure.body)))
    of_proportions = measure in ("error", "accuracy") or method == "proportion"
    assert left == -above == pytest.approx(difference, abs=0.06 if of_proportions else 6e-5)
    assert ("percentage points" in figure.caption) == of_proportions
    assert ("less is better" in figure.caption) == (difference < 0)


def test_differences_of_several_measures_are_not_added_up(tmp_path):
    found, figure = dominance_of(tmp_path, ("x", "y", "proportion", "f1"), ("y", "z", "dcf", "f1"))
    assert {caption: names for caption, (names, _) in found.items()} == {
        "d: difference of error rates (a - b)": ["y", "x"],
        "d: difference of detection costs (a - b)": ["z", "y"],
    }
    assert "percentage points if of proportions" in figure.caption


def test_every_measure_is_better_in_the_direction_that_the_library_says():
    for name in COUNT_MEASURES:
        row = Hypothesis(
            study="s", cell="c", test="t", method="m", alternative="two-sided", null_hypothesis="h", a="a", b="b",
            measure=f"difference of {name} (a - b)", estimate=0.25,
        )  # fmt: skip
        assert advantage_of_a(row) == (0.25 if as_measure(name).greater_is_better else -0.25), name


def test_every_number_of_the_summary_is_in_its_grid(evidence):
    (figure,) = (one for one in evidence.figures if one.title == "Data sets by classifiers")
    tables = dict(
        zip(
            re.findall(r'aria-label="([^"]*)"', figure.body),
            re.findall(r"<table.*?</table>", figure.body, re.DOTALL),
            strict=True,
        )
    )
    assert set(tables) == {
        f"{name}: {what}" for name in ("PermClass", "PermFeats", "Nyssen") for what in ("p-value", "necessity")
    }
    lines = re.findall(r"<tr>(.*?)</tr>", tables["PermFeats: p-value"], re.DOTALL)
    columns = re.findall(r'<th scope="col">(.*?)</th>', lines[0])
    for row in evidence.rows_of("permutation-features"):
        (line,) = (line for line in lines[1:] if f'<th scope="row">{row.dataset}</th>' in line)
        cell = re.findall(r"<td.*?</td>", line)[columns.index(row.classifier)]
        assert ("●" in cell) == (row.decision == "reject")
        shown = re.sub(r"<span.*?</span>|<[^>]*>", "", cell).replace("\xa0", " ").strip()
        assert shown.startswith("≤") == (row.exceedances == 0)
        assert float(shown.removeprefix("≤ ").removeprefix("> ")) == pytest.approx(row.p_value, rel=0.05)


def test_missing_cells_keep_their_place(tmp_path):
    store = make_study(tmp_path, datasets=["iris", "wine"], lost=(("wine", "1-nn", "labels"), ("iris", "naive-bayes")))
    evidence = Evidence(Results(store))
    drawn = {figure.title: figure.body for figure in evidence.figures}
    histograms = drawn["Errors under the null hypothesis"]
    assert histograms.count("<figure>") == 16
    assert histograms.count('<p class="absent">missing</p>') == 3  # wine 1-nn labels; iris naive-bayes under both nulls
    assert squares(evidence)["iris"][1][-1].count("absent") == 3


def test_a_cell_of_one_value_has_a_histogram(tmp_path):
    row = Hypothesis(
        study="s", cell="c", test="t", method="m", alternative="less", null_hypothesis="h", dataset="d", classifier="k",
        n=50, estimate=0.0, p_value=1.0, exceedances=9, replicates=9, decision="keep",
    )  # fmt: skip
    null = NullDistribution(row, np.zeros(9, dtype=np.int64), 0, 1 / 50)
    bins = null_distributions.Bins.over(0, 0, null)
    drawing = null_distributions._histogram_panel("h", row, null, bins)
    assert "nan" not in drawing
    assert 'class="extreme"' in drawing


def test_nothing_is_drawn_of_nothing(store):
    results = Results(store)
    results.__dict__["summary"] = summary_table([])
    assert Evidence(results).figures == []


def test_a_trend_runs_through_the_errors_of_each_value(tmp_path):
    values = [0.5, 2.0, -1.0, 3.0, 10.0]
    store = make_study(tmp_path / "study", datasets=[f"noise = {value:g}" for value in values], lost=())
    evidence = Evidence(Results(store))
    drawn = list(null_distributions.draw_trends(evidence))
    assert [figure.title for figure in drawn] == ["PermClass: error against noise", "PermFeats: error against noise"]
    for figure, test in zip(drawn, ("permutation-labels", "permutation-features"), strict=True):
        for classifier, panel in zip(CLASSIFIERS, str(figure.body).split("<figure>")[1:], strict=True):
            rows = {row.dataset: row for row in evidence.rows_of(test) if row.classifier == classifier}
            path = re.search(r'class="observed" d="M([^"]*)"', panel)[1]
            points = [tuple(map(float, point.split())) for point in path.split("L")]
            xs, ys = zip(*points, strict=True)
            assert len(points) == len(values)
            # positions are linear in the value, and heights in the observed error
            ordered = sorted(values)
            np.testing.assert_allclose(np.diff(xs) / np.diff(ordered), (xs[-1] - xs[0]) / 11, atol=0.1)
            errors = np.array([rows[f"noise = {value:g}"].estimate for value in ordered])
            if np.ptp(errors) > 0:
                assert np.corrcoef(ys, errors)[0, 1] < -0.999
            rejected = sum(row.decision == "reject" for row in rows.values())
            assert panel.count('class="dot"') == rejected
            assert classifier in panel


def test_data_sets_without_a_common_number_make_no_trend(evidence, tmp_path):
    assert list(null_distributions.draw_trends(evidence)) == []
    store = make_study(tmp_path / "study", datasets=["n = 1", "n = 2", "m = 3", "m = 4", "n = 5"], lost=())
    assert list(null_distributions.draw_trends(Evidence(Results(store)))) == []


@quickly
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e7), st.sampled_from(["", "%"]), st.integers(3, 8))
def test_the_labels_of_an_axis_leave_each_other_room(low, span, unit, most):
    axes = Axes(width=236, height=100, x_limits=(low, low + span))
    axis = axes.x_axis(most=most, unit=unit)
    labels = re.findall(r'<text x="([^"]*)" y="[^"]*" text-anchor="middle" class="tick">([^<]*)<', axis)
    assert labels
    ends = [(float(x) - 3.1 * len(text), float(x) + 3.1 * len(text)) for x, text in labels]  # digits of 11 pixels
    assert all(right < left for (_, right), (left, _) in pairwise(ends))
    assert labels[-1][1].endswith(unit)


def test_values_stand_where_the_scales_of_the_axes_say():
    axes = Axes(
        width=150, height=100, left=40, right=10, top=10, bottom=20, x_limits=(1, 100), y_limits=(3, 0), log_x=True
    )
    assert [axes.x(value) for value in (1, 10, 100)] == pytest.approx([40, 90, 140])
    assert [axes.y(value) for value in (0, 1.5, 3)] == [10, 45, 80]  # upside down, as a list is read
    assert axes.across("level", 1.5) == '<path class="level" d="M40 45L140 45"/>'
    assert axes.upwards("axis", 10) == '<path class="axis" d="M90 80L90 10"/>'
    assert axes.band([1, 10], [0, 0], [3, 3]) == '<path class="band" d="M40 80L90 80L90 10L40 10Z"/>'
    sizes = [(float(size), f"{size:,}") for size in (1, 2, 3, 10, 30, 90, 95, 100)]
    shown = re.findall(r'class="tick">([^<]*)<', axes.x_axis(ticks=sizes))
    assert shown == ["1", "2", "10", "30", "90"]
