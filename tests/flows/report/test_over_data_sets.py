"""The classifiers over all data sets: the picture's bars, and the numbers beside the tests they come from."""

import itertools
import re

import numpy as np
import pytest

from sigstats import friedman_test, signed_rank_test, stratified_paired_test
from sigstats.flows.report.evidence import Evidence, OverDataSets
from sigstats.flows.report.over_data_sets import picture
from sigstats.flows.report.page import render
from sigstats.multiplicity import cliques
from sigstats.tasks.results import Results

from ..synthetic_study import make_study


def bars(drawing):
    """For each bar of a picture the places of the points on it, and its ends."""
    points = re.findall(r'<circle class="member" cx="([\d.]+)" cy="([\d.]+)"', drawing)
    lines = re.findall(r'<path class="clique" d="M([\d.]+) ([\d.]+)H([\d.]+)"', drawing)
    return [({float(x) for x, at in points if at == y}, float(low), float(high)) for low, y, high in lines]


@pytest.mark.parametrize(
    "differing",
    [
        [],
        ["ac"],
        ["ab", "bc"],  # the outer two are tied, and the one between differs from both
        ["ab", "ac", "ad"],
        ["ac", "bd"],
        ["ad", "bc"],
        ["".join(pair) for pair in itertools.combinations("abcd", 2)],
    ],
)
def test_a_bar_has_a_point_for_each_of_its_members_and_for_no_other(differing):
    models, ranks = list("abcd"), [1.2, 2.1, 2.9, 3.8]
    differing = {frozenset(pair) for pair in differing}
    drawn = picture(models, ranks, cliques(models, differing))
    found = bars(drawn)
    place = {x: model for (x, _), model in zip(sorted_leaders(drawn), models, strict=True)}
    joined = set()
    for points, low, high in found:
        members = {place[x] for x in points}
        assert len(members) > 1
        assert low < min(points)
        assert max(points) < high
        assert not any(frozenset(pair) in differing for pair in itertools.combinations(members, 2))
        joined |= {frozenset(pair) for pair in itertools.combinations(members, 2)}
    assert joined == {frozenset(pair) for pair in itertools.combinations(models, 2)} - differing


def test_bars_whose_ranks_overlap_are_apart():
    # Issue 86 of scikit-posthocs: a, b, c are tied, and d, e, f; d ranks before c. It drew one bar over all six.
    models = list("abdcef")
    differing = {frozenset(pair) for pair in itertools.product("abc", "def")}
    drawn = picture(models, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], cliques(models, differing))
    place = {x: model for (x, _), model in zip(sorted_leaders(drawn), models, strict=True)}
    assert sorted("".join(sorted(place[x] for x in points)) for points, _, _ in bars(drawn)) == ["abc", "def"]
    assert len(set(re.findall(r'class="clique" d="M[\d.]+ ([\d.]+)H', drawn))) == 2


def sorted_leaders(drawing):
    """The places of the models on the axis, from the left."""
    leaders = re.findall(r'<path class="leader" d="M([\d.]+) ([\d.]+)V', drawing)
    return sorted((float(x), y) for x, y in leaders)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return make_study(tmp_path_factory.mktemp("study"), lost=(), replicates=19)


def test_the_numbers_are_those_of_the_tests(study):
    found = Evidence(Results(study)).over_data_sets
    assert isinstance(found, OverDataSets)
    results = Results(study)
    right = {}
    for cell in results.cells("crossval"):
        table = results.table(cell)
        right[tuple(cell.subject.values())] = table["label"].to_numpy() == table["prediction"].to_numpy()
    datasets = list(dict.fromkeys(dataset for dataset, _ in right))
    accuracy = np.array([[right[d, c].mean() for c in found.comparison.models] for d in datasets])
    assert [found.means[name] for name in found.comparison.models] == pytest.approx(accuracy.mean(axis=0))
    assert found.comparison.friedman.pvalue == pytest.approx(friedman_test(accuracy).pvalue)
    for pair, these in zip(found.comparison.pairs, found.these, strict=True):
        a, b = pair.a, pair.b
        at, other = (found.comparison.models.index(name) for name in (a, b))
        assert pair.pvalue == signed_rank_test(accuracy[:, at] - accuracy[:, other]).pvalue
        only_a, only_b = ([int((right[d, x] & ~right[d, y]).sum()) for d in datasets] for x, y in ((a, b), (b, a)))
        sizes = [len(right[d, a]) for d in datasets]
        expected = stratified_paired_test(only_a, only_b, sizes)
        assert (these.pvalue, these.difference) == (expected.pvalue, expected.estimate)


def test_the_page_shows_them_from_three_data_sets_on(study, tmp_path):
    page = render(Evidence(Results(study)), config={}, versions={})
    for title in (
        "Mean ranks over the data sets",
        "These data sets, and data sets like these",
        "data sets are too few",
    ):
        assert title in page
    two = make_study(tmp_path, datasets=["iris", "wine"], lost=(), replicates=19)
    assert "Mean ranks over the data sets" not in render(Evidence(Results(two)), config={}, versions={})
