"""The ledger of a gate: no candidate is passed over in silence, and no change of rules spends more than the level."""

import datetime as dt
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.flows.commands import main
from sigstats.flows.errors import BadInput
from sigstats.flows.regression import ledger
from sigstats.flows.regression.ledger import delivered, keep_delivered, next_look
from sigstats.flows.regression.study import Looks, RegressionStudy
from sigstats.tasks.storage.store import Store

from ...examples import examples
from ..conftest import study_file
from ..predictions import STUDY, history, write


@pytest.fixture
def folder(tmp_path):
    study_file(tmp_path, STUDY, "nightly.toml")
    write(tmp_path / "predictions/production.csv", wrong=0.12)
    return tmp_path


def evaluate(folder, *more):
    return main(["run", str(folder / "nightly.toml"), "--output", str(folder / "out"), *more])


def night(folder, name, *, worse=False, seed=1):
    return write(folder / f"predictions/candidate-{name}.csv", wrong=0.42 if worse else 0.09, seed=seed)


def evaluations(folder):
    rows = history(folder).drop_duplicates("evaluation")
    return rows.assign(
        candidate=[Path(name).name for name in rows["candidate"]],
        baseline=[Path(name).name for name in rows["baseline"]],
    )


BY_TIME = ("--set", 'newest.by="time"')
ROLLING = ("--set", 'baseline="predictions/candidate-*.csv"')


@pytest.mark.long
def test_candidates_that_are_later_by_date_than_the_last_by_name_are_asked_for(folder, capsys):
    night(folder, "resnet-2026-11-20")
    assert evaluate(folder) == 0
    for day in (21, 22):
        night(folder, f"mobilenet-2026-11-{day}", worse=True, seed=day)
    for _ in range(2):
        capsys.readouterr()
        assert evaluate(folder) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "candidate-mobilenet-2026-11-21.csv, candidate-mobilenet-2026-11-22.csv" in line
        assert 'by = "time"' in line
    assert evaluate(folder, *BY_TIME) == 1
    assert list(evaluations(folder)["verdict"][1:]) == ["fail", "fail"]
    night(folder, "a-model-of-the-same-day-2026-11-22", worse=True, seed=23)
    assert evaluate(folder) == 2
    capsys.readouterr()
    for _ in range(2):
        assert evaluate(folder, *BY_TIME) == 1
        assert "a-model-of-the-same-day-2026-11-22.csv against" in capsys.readouterr().out
    assert len(evaluations(folder)) == 4


def test_a_candidate_changed_since_the_last_evaluation_is_asked_for_where_names_have_no_dates(folder):
    night(folder, "resnet")
    assert evaluate(folder) == 0
    path = night(folder, "mobilenet")
    ahead = dt.datetime.now(dt.UTC).timestamp() + 60
    os.utime(path, (ahead, ahead))
    assert evaluate(folder) == 2
    assert evaluate(folder, "--set", 'newest.by="name"') == 0
    assert len(evaluations(folder)) == 1


@pytest.mark.long
@pytest.mark.parametrize("kept", [1, 50], ids=["header", "rows"])
def test_a_broken_night_does_not_keep_later_ones_from_being_evaluated(folder, capsys, kept):
    night(folder, "2026-11-01")
    assert evaluate(folder) == 0
    night(folder, "2026-11-02", seed=2)
    broken = folder / "predictions/candidate-2026-11-02.csv"
    broken.write_text("".join(broken.read_text().splitlines(keepends=True)[:kept]))
    capsys.readouterr()
    assert evaluate(folder) == 2
    assert "candidate-2026-11-02.csv" in capsys.readouterr().err
    night(folder, "2026-11-03", worse=True, seed=3)
    assert evaluate(folder) == 1
    assert re.search(r"left out: .*candidate-2026-11-02.csv", capsys.readouterr().err)
    assert list(evaluations(folder)["candidate"]) == [f"candidate-2026-11-0{day}.csv" for day in (1, 3)]


def test_a_regression_is_reported_if_the_newest_night_is_broken(folder, capsys):
    night(folder, "2026-11-01")
    assert evaluate(folder) == 0
    night(folder, "2026-11-02", worse=True, seed=2)
    night(folder, "2026-11-03", seed=3)
    (folder / "predictions/candidate-2026-11-03.csv").write_text("id,label,prediction\n")
    capsys.readouterr()
    assert evaluate(folder) == 2
    assert "has no rows; evaluated before it: candidate-2026-11-02.csv (fail)" in capsys.readouterr().err


@pytest.mark.long
def test_nights_of_an_outage_are_caught_up_in_order_and_one_that_failed_fails_the_run(folder, capsys):
    night(folder, "2026-11-01")
    assert evaluate(folder) == 0
    for day in (2, 3, 4):
        night(folder, f"2026-11-0{day}", worse=day == 3, seed=day)
    capsys.readouterr()
    assert evaluate(folder) == 1
    assert "caught up: " in capsys.readouterr().err
    found = evaluations(folder)
    assert list(found["candidate"]) == [f"candidate-2026-11-0{day}.csv" for day in (1, 2, 3, 4)]
    assert list(found["verdict"] == "fail") == [False, False, True, False]
    assert list(found["look"]) == [1, 2, 3, 4]
    assert evaluate(folder) == 0  # the newest passes, and the failure was told
    for day in (5, 6):
        night(folder, f"2026-11-0{day}", worse=day == 5, seed=day)
    capsys.readouterr()
    assert evaluate(folder, "--quiet") == 1
    said = capsys.readouterr().err  # as the event of Prefect and the state of its run
    assert re.match(r"\S+: \S*candidate-2026-11-05.csv: FAIL: ", said)
    assert said.count("FAIL") == 1


@pytest.mark.long
def test_a_late_night_is_named_and_no_later_one_is_its_baseline(folder, capsys):
    for day in (1, 5):
        night(folder, f"2026-11-0{day}", worse=day == 1, seed=day)
        assert evaluate(folder, *BY_TIME) in (0, 1)
    night(folder, "2026-11-03", seed=3)
    capsys.readouterr()
    assert evaluate(folder, *BY_TIME) == 0
    assert "never evaluated, although later ones were: " in (said := capsys.readouterr().err)
    assert "candidate-2026-11-03.csv" in said
    assert evaluate(folder, *BY_TIME, *ROLLING, "--set", "candidate=predictions/candidate-2026-11-03.csv") == 0
    assert evaluations(folder).iloc[-1][["candidate", "baseline"]].tolist() == [
        "candidate-2026-11-03.csv",
        "candidate-2026-11-01.csv",
    ]
    capsys.readouterr()
    assert evaluate(folder, *BY_TIME, *ROLLING, "--set", "candidate=predictions/candidate-2026-11-01.csv") == 2
    assert "is earlier than" in capsys.readouterr().err


@pytest.mark.long
def test_late_and_replaced_candidates_are_named_and_copies_of_evaluated_ones_are_not(folder, monkeypatch, capsys):
    for day in (1, 2, 5):
        night(folder, f"2026-11-0{day}", seed=day)
        assert evaluate(folder, *BY_TIME) == 0
    predictions = folder / "predictions"
    night(folder, "2026-11-03", seed=3)  # late
    night(folder, "2026-11-01", seed=4)  # replaced
    (predictions / "candidate-2026-11-02.csv").touch()
    (predictions / "candidate-2026-11-04.csv").write_bytes((predictions / "candidate-2026-11-05.csv").read_bytes())
    for recent, late, replaced in ((40, True, True), (4, True, False), (2, False, False)):
        monkeypatch.setattr(ledger, "_RECENT", recent)
        capsys.readouterr()
        assert evaluate(folder, *BY_TIME) == 0
        said = capsys.readouterr().err
        assert ("candidate-2026-11-03.csv" in said, "candidate-2026-11-01.csv" in said) == (late, replaced)
        assert "2026-11-02" not in said
        assert "2026-11-04" not in said


def test_by_name_the_baseline_of_a_backfilled_candidate_comes_before_it(folder):
    for number in (8, 9, 10):
        night(folder, number, seed=number)
    assert evaluate(folder, *ROLLING, "--set", "candidate=predictions/candidate-9.csv") == 0
    assert evaluations(folder)["baseline"].tolist() == ["candidate-8.csv"]


def test_a_feed_that_stopped_is_an_alarm(folder, capsys):
    night(folder, f"{dt.datetime.now(dt.UTC) - dt.timedelta(days=3):%Y-%m-%d}")
    assert evaluate(folder, "--set", 'newest.max_age="36h"') == 2
    assert "more than 36h ago" in capsys.readouterr().err
    assert not (folder / "out/history").exists()
    assert evaluate(folder, "--set", 'newest.max_age="5d"') == 0
    assert evaluate(folder, "--set", 'newest.max_age="soon"') == 2


RULES = st.one_of(
    st.just(Looks(spending="series")),
    st.builds(Looks, spending=st.sampled_from(["linear", "pocock", "obrien-fleming"]), planned=st.integers(1, 12)),
    st.just(Looks(spending="each")),
)


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=examples(300))
@given(st.lists(RULES, min_size=1, max_size=12), st.sampled_from([0.01, 0.05, 0.2]))
def test_whatever_rules_follow_each_other_shared_levels_add_up_to_at_most_alpha(rules, alpha):
    """The union bound: looks that share the level have at most `alpha` together, after whatever was spent before."""
    records = []
    for looks in rules:
        study = RegressionStudy(kind="regression", name="n", baseline="a", candidate="b", alpha=alpha, looks=looks)
        spent = sum(record.evaluation.level for record in records)
        try:
            look = next_look(study, records, 0)
        except BadInput as error:
            assert looks.spending != "each"
            assert "use fresh rows" in str(error)
            continue
        assert look.number == len(records) + 1
        if looks.spending != "each":
            assert 0 < look.level <= alpha - spent + 1e-12
        about = {"look": look.number, "level": look.level, "spending": looks.spending}
        records.append(SimpleNamespace(evaluation=SimpleNamespace(**about)))


@pytest.mark.long
def test_a_changed_plan_spends_what_is_left_and_is_recorded(folder, capsys):
    for number in range(1, 4):
        night(folder, number, seed=number)
        assert evaluate(folder, "--set", "looks.spending=linear", "--set", "looks.planned=4") == 0
    night(folder, 4, seed=4)
    capsys.readouterr()
    assert evaluate(folder, "--set", "looks.spending=series") == 0
    said = capsys.readouterr()
    assert "the rule of looks changed from linear of 4 to series" in said.err
    assert "of 0.0125 left" in said.out
    found = evaluations(folder)
    assert list(found["spending"]) == ["linear of 4"] * 3 + ["series"]
    assert found["level"].sum() <= 0.05
    night(folder, 5, seed=5)
    for planned in (8, 100):
        found = evaluate(folder, "--set", "looks.spending=linear", "--set", f"looks.planned={planned}")
        assert found == 0
        night(folder, 6, seed=6)
    assert evaluations(folder)["level"].sum() <= 0.05 * (1 + 1e-9)


def test_what_a_server_took_is_kept_in_the_output(tmp_path):
    store = Store(str(tmp_path))
    assert not delivered(store, "a" * 64)
    keep_delivered(store, "a" * 64)
    assert delivered(store, "a" * 64)
    assert not delivered(store, "b" * 64)
    (tmp_path / f"alerts/{'a' * 16}.json").write_text("[]")
    assert not delivered(store, "a" * 64)


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "promise"),
    [
        ((), "the series of all looks, however many, raises a false alarm with a probability of at most 5%"),
        (
            ("--set", "looks.spending=each", "--set", "alpha=0.01"),
            "each look raises a false alarm with a probability of at most 1%, and false alarms add up",
        ),
        (
            ("--set", "looks.spending=pocock", "--set", "looks.planned=12"),
            "the series of 12 looks raises a false alarm with a probability of at most 5%",
        ),
    ],
)
def test_the_output_states_what_the_rule_of_looks_promises(folder, capsys, printed, more, promise):
    night(folder, 1)
    assert f"promise    {promise}\n" in printed("plan", folder / "nightly.toml", "--output", folder / "out", *more)
    assert evaluate(folder, *more) == 0
    assert f"promise: {promise}\n" in capsys.readouterr().out
    assert f"Promise: {promise}." in (folder / "out/report.html").read_text()
    assert evaluate(folder, *more, "--log-format", "json") == 0
    assert f'"promise": "{promise}"' in capsys.readouterr().err


def test_looks_that_had_the_whole_level_leave_none_to_share_and_the_cure_is_named(folder, capsys):
    night(folder, 1)
    assert evaluate(folder, "--set", "looks.spending=each") == 0
    night(folder, 2, seed=2)
    capsys.readouterr()
    assert evaluate(folder, "--set", "looks.spending=series") == 2
    assert "use fresh rows, or keep 'each'" in capsys.readouterr().err
    assert evaluate(folder) == 0  # a study that does not state its rule goes on by that of its history
    assert "promise: each look raises" in capsys.readouterr().out
