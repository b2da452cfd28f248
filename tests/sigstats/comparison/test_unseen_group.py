"""The group that a pass must withstand: like those seen, or of any kind."""

import numpy as np
import pytest

import sigstats
from sigstats.comparison.rule import ComparisonRule


def answers(lost, won, rows=50):
    """Labels, both predictions and groups, of groups that lose and win so many of their rows."""
    group = np.repeat(np.arange(len(lost)), rows)
    place = np.tile(np.arange(rows), len(lost))
    b = (place >= np.repeat(lost, rows)).astype(int)
    a = np.where((place >= np.repeat(lost, rows)) & (place < np.repeat(lost + won, rows)), 0, 1)
    return np.ones(len(group), int), a, b, group


def varying(rng, groups, lost, won, correlation=0.05, rows=50):
    """Lost and won rows of groups whose shares have beta laws."""
    k = 1 / correlation - 1
    down = rng.binomial(rows, rng.beta(lost * k, (1 - lost) * k, groups))
    return down, rng.binomial(rows - down, rng.beta(won * k, (1 - won) * k, groups))


def first_row(lost, won, **options):
    y, a, b, group = answers(lost, won)
    return sigstats.compare(y, a, b, groups=group, **options).rows[0]


@pytest.mark.long
def test_a_drop_of_two_points_is_found_and_equal_candidates_pass_sometimes():
    rng = np.random.default_rng(2)
    drops = [first_row(*varying(rng, 120, 0.035, 0.015)).verdict for _ in range(60)]
    equal = [first_row(*varying(rng, 120, 0.02, 0.02)).verdict for _ in range(60)]
    assert drops.count("fail") >= 51  # 95%: fewer have a probability below 0.001
    assert drops.count("pass") == 0
    assert equal.count("pass") >= 1  # 7%: none has a probability of 0.01
    assert equal.count("fail") <= 6  # 2.5%: more have a probability below 0.001


def test_the_output_states_both_assumptions():
    lost, won = np.full(120, 4), np.full(120, 1)
    row = first_row(lost, won)
    result = sigstats.compare(*answers(lost, won)[:3], groups=answers(lost, won)[3])
    assert row.test == "unseen group like those seen beside 120 groups"
    # by hand: one more group is a row away from the mean, and its weight has the law Beta(1, 120); the chance that a
    # kind that makes up one group in 25 is not seen is taken from the 2.5%
    heaviest = 1 - (0.025 - 0.96**120) ** (1 / 120)
    assert row.low == pytest.approx(-0.06 - heaviest / (1 - heaviest) * 0.94 / 50, abs=2e-4)
    assert row.other_interval.low < -0.085
    (note,) = result.notes
    assert note.name == "unseen-group"
    assert note.startswith("kinds of group rarer than 1 in 25 are assumed to resemble the observed ones")
    assert note.endswith("the interval is: accuracy −8.85 to −2.79")
    any_group = first_row(lost, won, rule=ComparisonRule(unseen_group="any"))
    assert any_group.test == "unseen group of any kind beside 120 groups"
    assert (any_group.low, any_group.high) == tuple(row.other_interval)
    assert tuple(any_group.other_interval) == (row.low, row.high)


@pytest.mark.long
@pytest.mark.parametrize("measure", ["accuracy", "macro-recall", "auc"])
def test_few_groups_withstand_any_group_unless_asked_otherwise(measure):
    rng = np.random.default_rng(3)
    for groups in (109, 110):
        y = np.tile([0, 1] * 5, groups)
        a, b = (np.where(rng.random(len(y)) < 0.8, y, 1 - y) for _ in range(2))
        call = {"groups": np.repeat(np.arange(groups), 10), "measures": [measure]}
        call |= {"scores": (a * 1.0, b * 1.0)} if measure == "auc" else {}
        by_rule = {
            name: sigstats.compare(y, a, b, rule=ComparisonRule(unseen_group=name), **call).rows[0]
            for name in ("auto", "like-seen", "any")
        }
        assert by_rule["auto"] == by_rule["like-seen" if groups == 110 else "any"]
        widths = {name: row.high - row.low for name, row in by_rule.items()}
        assert widths["like-seen"] < 0.97 * widths["any"]


def test_a_check_against_a_bar_is_as_sharp():
    y, _, b, group = answers(np.full(120, 4), np.full(120, 1))
    found = sigstats.assert_at_least(y, b, at_least=0.9, groups=group)
    (row,) = found.rows
    assert row.test == "mean of 120 groups, with an unseen group like those seen"
    assert 0.91 < row.low < row.value == 0.92
    assert row.other_interval.low < 0.9
    assert "accuracy 89.21%" in found.notes[0]


def test_an_unknown_assumption_is_refused():
    with pytest.raises(ValueError, match=r"^unseen_group: 'all' is not valid; expected"):
        ComparisonRule(unseen_group="all")


@pytest.mark.long
def test_an_assumption_that_widens_the_interval_is_not_suggested():
    # with few groups, the two procedures differ in more than the assumption, so that either interval may be wider
    rng = np.random.default_rng(8)
    suggested = set()
    for groups in [60, 80] * 20:
        lost, won = rng.integers(0, 4, groups), rng.integers(0, 2, groups)
        y, a, b, group = answers(lost, won, rows=3 + 2)
        rule = ComparisonRule(unseen_group="any")
        result = sigstats.compare(y, a, b, groups=group, rule=rule)
        row = result.rows[0]
        narrower = row.other_interval.high - row.other_interval.low < row.high - row.low
        assert ("unseen-group" in [note.name for note in result.notes]) == narrower
        suggested.add(narrower)
    assert True in suggested
