"""Names of files that state an order: versions, and dates in many forms."""

import pytest

from sigstats._common.numerals import natural
from sigstats.flows.commands import main
from sigstats.flows.regression.order import stem, unclear_order, unread_time

from ..conftest import study_file
from ..predictions import STUDY, write


@pytest.mark.parametrize(
    "names",
    [
        ("cand-v2.csv", "cand-v2.1.csv", "cand-v10.csv"),
        ("cand-2.csv.gz", "cand-2-fixed.csv.gz"),
        ("cand-3.csv", "cand-3 (1).csv"),
        ("2026-11-09.csv", "2026-11-09-2.csv"),
        ("v2", "v2.1", "v2.1.0"),
    ],
)
def test_a_name_is_before_those_that_it_begins(names):
    assert sorted(names, key=lambda name: natural(stem(name))) == list(names)


@pytest.mark.parametrize(
    ("names", "unclear"),
    [
        (("a-31-10-2026.csv", "a-02-11-2026.csv"), True),
        (("a-31.10.2026.csv", "a-02.11.2026.csv"), True),
        (("12-30-2025", "01-02-2026"), True),
        (("30Nov", "01Dec"), True),
        (("Oct-31-2026", "Sept-1-2026"), True),
        (("model_tue", "model_sun"), True),
        (("a-30112026.csv", "a-01122026.csv"), True),
        (("11302026", "12012026"), True),
        (("a-2026-11-30-9am.csv", "a-2026-11-30-1pm.csv"), True),
        (("run-2026-11-30_0915am", "run-2026-11-30_0115pm"), True),
        (("Q4-2025", "Q1-2026"), True),
        (("model-q4-2048", "model-q8-2048"), False),
        (("w52_2025", "w1_2026"), True),
        (("2025-Q4", "2026-Q1"), False),
        (("20251231", "20260101"), False),
        (("step-10002000", "step-10012000"), False),
        (("beam-8am-1", "beam-8am-2"), False),  # the same hour
        (("team1", "team2"), False),
        (("v2.1", "v2.1-rc1"), True),
        (("v2.1-rc1", "v2.1-rc2"), False),
        (("v1.2.3", "v1.2.10"), False),
        (("2026-10-31", "2026-11-02"), False),
        (("nov-1", "nov-2"), False),  # the same month
        (("marian", "sunny", "decoder"), True),
        (("may", "may-2"), True),
        (("cand-f3a91c2.csv", "cand-9be04d1.csv", "cand-1111111.csv"), True),  # a hash may have digits only
        (("f3a91c2.csv", "baseline.csv"), True),
        (("lr1e-4", "lr5e-5"), True),
        (("cand-1.5e-4.csv", "cand-2e-5.csv"), True),
        (("cand-e2e-1.csv", "cand-e2e-2.csv"), False),
        (("phase1e-01.csv", "phase1e-02.csv"), False),
        (("c-decade7.csv", "c-decade8.csv"), False),
        (("candidate-260101a.csv", "candidate-260102a.csv"), False),
        (("abc-build-100200b.csv", "abc-build-100201b.csv"), False),
        (("build-9-f3a91c2", "build-10-0a77e35"), True),
        (("f3a91c2-1", "f3a91c2-2"), False),  # the same commit
        (("2026-11-21-f3a91c2", "2026-11-22-0a77e35"), False),
        (("defaced", "effaced"), True),  # words
        (("cand-1762000000", "cand-1763000000"), False),
        (("cand-latest", "cand-previous"), True),
        (("cand-900k", "cand-1M"), True),
        (("cand-9k", "cand-1000"), True),
        (("cand-Maerz", "cand-April"), True),
        (("cand-IV", "cand-V", "cand-IX"), True),
        (("alpha", "beta"), True),
        (("cand-final", "cand-final2", "cand-final_v10"), True),
        (("cand-v1", "cand-v1 (1)"), True),
        (("cand-0.05", "cand-0.1"), True),
        (("cand-0.1", "cand-0.2"), False),
        (("cand-1.9", "cand-1.10"), True),
        (("cand-v1.9", "cand-v1.10"), False),
        (("cand-v1.9.3", "cand-v2.0.0"), False),
        (("cand-1e-4", "cand-1e-3"), True),
        (("seed3-step9", "seed1-step10"), True),
        (("seed3-step9", "seed3-step10"), False),
        (("epoch-9-step-9000", "epoch-10-step-10000"), False),
        (("epoch-9-step-9000", "epoch-10-step-10000", "epoch-10-step-900"), True),
        (("cand-20261121", "cand-20261121-2"), False),
        (("2026-W9", "2026-W10"), False),
        (("2025Q4", "2026Q1"), False),
        (("2025-12", "2026-01"), False),
        (("c-251231", "c-260131"), False),
        (("c-2026-01-02", "c-2026-01-02-2", "c-2026-01-03"), False),
        (("c-20260102T0615-r1", "c-20260102T0615-r2", "c-20260103T0615-r1"), False),
        (("c-20260102_061502", "c-20260102_071502"), False),
        (("c-2026_01_02", "c-2026_02_01"), False),
        (("a-2026-01-02", "b-2026-01-02"), True),
        (("c-311025", "c-011125"), True),
        (("run-123125", "run-010126"), True),
        (("c-011225", "c-150126", "c-020226"), True),
        (("c-122025", "c-012026"), True),
        (("c-12.2025", "c-01.2026"), True),
        (("c-30.11", "c-01.12"), True),
        (("c-24.04", "c-24.10", "c-25.04"), False),
        (("c-2026-15-01", "c-2026-01-02"), True),
        (("c-20263101", "c-20260102"), True),
        (("c-12-31", "c-01-02"), True),
        (("c-31-10", "c-01-11"), True),
        (("c-1231", "c-0102"), True),
        (("c-week52", "c-week1"), True),
        (("c-week1", "c-week2"), False),
        (("c-0930", "c-1030"), False),
        (("c-12-01", "c-12-02"), False),
        (("c-202512", "c-202601"), False),
        (("c-2026-01-10", "c-2026-05-09"), False),
        (("c-250115", "c-250215", "c-260115"), False),
        (("epoch-100000", "epoch-110000"), False),
        (("c-010000", "c-120000"), False),
        (("step-010120", "step-020119"), False),
        (("run-0412", "run-1201"), False),
        (("c-2001", "c-2012"), False),
        (("c-101225", "c-110125"), False),  # 2010 as numbers of builds, or a month
        (("v10.11", "v11.10"), False),
    ],
)
def test_dates_whose_order_is_not_that_of_their_texts(names, unclear):
    assert bool(unclear_order(names)) == unclear


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("2026-11-10 11.00 AM.csv", "2026-11-10 01.00 PM.csv"), "AM, PM or a time zone"),
        (("2026-11-10T23-30PST.csv", "2026-11-10T01-00UTC.csv"), "AM, PM or a time zone"),
        (("2026-11-10T23-30-00-08-00.csv",), "AM, PM or a time zone"),
        (("2024-11-20-2026-11-10.csv", "2024-08-06-2026-11-12.csv"), "several times"),
        (("2024-11-20-2026-11-10.csv", "2024-11-20-2026-11-12.csv"), ""),  # the first is that of all
        (("2026-11-10T2330-0800.csv", "2026-11-10T01-00-00Z.csv", "2026-11-11.csv"), ""),
    ],
)
def test_parts_of_a_time_that_are_not_read(names, told):
    assert told in unread_time(names) if told else unread_time(names) == ""


@pytest.mark.parametrize(
    ("names", "settings", "told"),
    [
        (("311025", "011125"), (), "'011125' and '311025' look like dates; expected"),
        (("31-10-2026", "02-11-2026"), (), "look like dates; expected names that differ in ISO dates"),
        (("2026-11-10 11.00 AM", "2026-11-10 01.00 PM"), ('newest.by="time"',), "a time zone that is not supported"),
        (("2026-01-02", "2999-12-24"), ('newest.by="time"',), "2999-12-24 00:00 UTC, in the future"),
        (
            ("f3a91c2", "0a77e35"),
            (),
            "do not state which is later; expected names that differ in ISO dates or one number, one file, or newest",
        ),
        (
            ("a-2026-01-03", "b-2026-01-02"),
            (),
            "dated later than a name that follows: candidate-a-2026-01-03.csv; set newest.by",
        ),
        (("arc-2026-01-02", "math-2026-01-02"), ('newest.by="time"',), "have the same time; narrow the pattern to one"),
        (("2026-01-02", "2999-12-24"), ('newest.max_age="36h"',), "2999-12-24 00:00 UTC, in the future"),
    ],
)
def test_a_study_refuses_them(tmp_path, refused, names, settings, told):
    study_file(tmp_path, STUDY, "nightly.toml")
    write(tmp_path / "predictions/production.csv", wrong=0.12, at=1000)
    for name in names:
        write(tmp_path / f"predictions/candidate-{name}.csv", wrong=0.12, at=2000)
    given = [text for setting in settings for text in ("--set", setting)]
    assert told in refused("run", tmp_path / "nightly.toml", "--output", tmp_path / "out", *given)
    assert not (tmp_path / "out/history").exists()


def test_files_of_one_time_and_one_name_are_in_natural_order(tmp_path):
    study_file(tmp_path, STUDY, "nightly.toml")
    write(tmp_path / "predictions/production.csv", wrong=0.12, at=1000)
    for name in ("2026-01-02", "2026-01-02-2"):
        write(tmp_path / f"predictions/candidate-{name}.csv", wrong=0.12, at=2000)
    main(["run", str(tmp_path / "nightly.toml"), "--output", str(tmp_path / "out"), "--set", 'newest.by="time"'])
    assert "candidate-2026-01-02-2.csv" in (tmp_path / "out/report.html").read_text()


def test_an_evaluated_candidate_of_the_same_time_may_be_the_baseline(tmp_path):
    study_file(tmp_path, STUDY.replace("production.csv", "candidate-*.csv"), "nightly.toml")
    arguments = ["--output", str(tmp_path / "out"), "--set", 'newest.by="time"']
    write(tmp_path / "predictions/candidate-old-2026-01-01.csv", seed=1)
    for number, name in enumerate(("arc-2026-01-02", "math-2026-01-02"), start=2):
        write(tmp_path / f"predictions/candidate-{name}.csv", seed=number)
        assert main(["run", str(tmp_path / "nightly.toml"), *arguments]) != 2
    assert "candidate-math-2026-01-02.csv" in (tmp_path / "out/report.html").read_text()


def test_a_folder_that_a_pattern_matches_is_named(tmp_path, refused):
    study_file(tmp_path, STUDY, "nightly.toml")
    write(tmp_path / "predictions/production.csv", wrong=0.12, at=1000)
    (tmp_path / "predictions/candidate-1.csv").mkdir()
    assert "only a folder does; name its files, as in 'predictions/candidate-*.csv/*'" in refused(
        "run", tmp_path / "nightly.toml"
    )
