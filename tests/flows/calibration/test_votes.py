"""Calibration of ranks by votes: the population, the preferences that are asked for, the study."""

import math

import numpy as np
import pytest
from scipy.special import expit

import sigstats
from sigstats.flows.commands import main
from sigstats.tasks.calibration.populations.votes import Votes
from sigstats.tasks.calibration.work import AppliedTest

from ..conftest import study_file
from .conftest import completed

STRENGTHS = (0.0, 1.5, 0.5)
STUDY = """\
kind = "calibration"
seed = 5
sizes = [240]
trials = 60
tests = [
    { test = "votes" },
    { test = "votes", method = "voters" },
    { test = "votes", method = "voters", preference = "true" },
]

[[populations]]
name = "tastes"
source = "votes"
strengths = [0, 0, 0]
voters = 6
voter_sd = 1.5

[[populations]]
name = "apart"
source = "votes"
strengths = [0, 1, 3]
"""


def applied(method="votes", preference="false"):
    return AppliedTest(test="votes", options={"method": method, "preference": preference})


def p_of(votes, method="votes", preference="false"):
    population = Votes(strengths=STRENGTHS, voters=9, items=9)
    return population.pvalue(applied(method, preference), votes)


def one(n=400, seed=3, **options):
    (drawn,) = Votes(strengths=STRENGTHS, **{"voters": 9, "items": 9, **options}).draw(
        n, np.random.default_rng(seed), 1
    )
    return drawn


def test_dissenters_are_as_strong_as_the_small_preference_of_the_others():
    population = Votes(strengths=(0.0,) * 3, voters=4000, items=9, dissenters=0.1)
    (drawn,) = population.draw(200_000, np.random.default_rng(3), 1)
    earlier = np.where(drawn.first < drawn.second, drawn.winner, -drawn.winner)
    assert earlier.mean() == pytest.approx(0, abs=5 * 0.31 / math.sqrt(4000))
    share = np.bincount(drawn.voter, earlier > 0) / np.bincount(drawn.voter)
    assert np.mean(share < 0.3) == pytest.approx(0.1, abs=0.02)
    assert np.median(share[share > 0.3]) == pytest.approx(0.55, abs=0.02)


def ranked(votes, **units):
    words = np.array(["b", "tie", "a"])[votes.winner + 1]
    return sigstats.rank_votes(votes.first.astype(str), votes.second.astype(str), words, **units)


def test_a_population_is_what_it_is_said_to_be():
    votes = one(60_000, ties=0.2)
    assert (votes.first != votes.second).all()
    assert np.mean(votes.winner == 0) == pytest.approx(0.2, abs=0.01)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        met = (votes.first == a) & (votes.second == b)
        assert met.mean() == pytest.approx(1 / 6, abs=0.01)
        won = np.mean(votes.winner[met & (votes.winner != 0)] == 1)
        assert won == pytest.approx(float(expit(STRENGTHS[a] - STRENGTHS[b])), abs=0.02)
    assert set(votes.voter) == set(votes.item) == set(range(9))


@pytest.mark.parametrize("unit", ["voter", "item"])
def test_votes_of_one_voter_or_on_one_item_go_together(unit):
    """Between them the share of wins varies by more than a binomial law."""
    more = {"voter": {"voter_sd": 1.0}, "item": {"item_sd": 1.0}}[unit]
    for options, together in (({}, False), (more, True)):
        votes = one(40_000, voters=40, items=40, **options)
        met = (votes.first == 1) & (votes.second == 2)
        of, won = getattr(votes, unit)[met], votes.winner[met] == 1
        shares = np.bincount(of, won) / np.bincount(of)
        error = math.sqrt(won.mean() * (1 - won.mean()) / np.bincount(of).mean())
        assert bool(shares.std(ddof=1) > 2 * error) is together


def test_false_preferences_are_all_that_no_strength_supports():
    votes = one()
    found = ranked(votes)
    place = {int(name): position for position, name in enumerate(found.models)}
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b and STRENGTHS[a] <= STRENGTHS[b]]
    assert p_of(votes) == min(found.adjusted_pvalues[place[a], place[b]] for a, b in pairs)
    assert p_of(votes, preference="true") == found.adjusted_pvalues[place[1], place[2]]


def test_what_votes_depend_on_is_what_the_library_takes():
    votes, units = one(voter_sd=1.0, item_sd=1.0), {}
    for method, name in (("voters", "groups"), ("voters-and-items", "items")):
        units[name] = {"groups": votes.voter, "items": votes.item}[name]
        found = ranked(votes, **units)
        best, following = found.models.index("1"), found.models.index("2")
        assert p_of(votes, method, "true") == found.adjusted_pvalues[best, following]


def test_scores_overlap_until_their_intervals_touch():
    votes = one()
    p = p_of(votes, "overlap", "true")
    found = sigstats.rank_votes(
        votes.first.astype(str), votes.second.astype(str), np.array(["b", "tie", "a"])[votes.winner + 1],
        confidence_level=1 - p,
    )  # fmt: skip
    best, following = found.models.index("1"), found.models.index("2")
    assert found.score_low[best] == pytest.approx(found.score_high[following], abs=1e-6 * found.score_high[best])


def test_what_is_asked_and_where_nothing_can_be():
    equal = Votes(strengths=(1.0, 1.0), voters=2, items=2)
    assert [equal.fits(applied(preference=each)) for each in ("false", "true")] == [True, False]
    assert [equal.null_holds(applied(preference=each)) for each in ("false", "true")] == [True, False]


@pytest.mark.long
def test_a_study_finds_that_voters_have_tastes(tmp_path, capsys):
    stored = completed(tmp_path, STUDY)
    rows = {(row["dataset"], row["method"]): row for row in stored.summary.to_pylist()}
    assert rows["tastes", "preferences (votes)"]["decision"] == "reject"
    assert rows["tastes", "preferences (voters)"]["decision"] == "keep"
    assert ("tastes", "preferences (voters, true)") not in rows
    assert rows["apart", "preferences (voters, true)"]["measure"] == "power"
    assert rows["apart", "preferences (voters, true)"]["estimate"] > 0.8
    capsys.readouterr()
    output, csv = stored.store.root, str(tmp_path / "rows")
    assert main(["replay", output, "--trial", "17", "--only", "dataset=tastes", "--rows", csv]) == 0
    assert (tmp_path / "rows").read_text().splitlines()[0] == '"model_a","model_b","winner","voter","item"'
    assert "which models are preferred to which" in stored.store.files.read("report.html").decode()


def test_a_preference_may_be_a_truth_value_of_toml(tmp_path, capsys, refused):
    plans = []
    for value in ('"true"', "true", '"false"', "false"):
        study = study_file(tmp_path, STUDY.replace('"voters", preference = "true"', f'"overlap", preference = {value}'))
        assert main(["plan", str(study), "--no-timing"]) == 0
        plans.append(capsys.readouterr().out)
    assert plans[0] == plans[1] != plans[2] == plans[3]
    for value in ("1", '"True"'):
        study = study_file(tmp_path, STUDY.replace('"voters", preference = "true"', f'"overlap", preference = {value}'))
        assert "expected 'false' or 'true'" in refused("plan", study, "--no-timing")
