"""`rank`: its parts against the tests they stand on, frames against arrays, slices, and coverage of its intervals."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import sigstats
from sigstats import rank_models, sign_flip_test
from sigstats.ranking.means import share_interval
from sigstats.ranking.rank_sets import rank_sets

from ...examples import examples, simulated

CHANCES = [0.5, 0.9, 0.8, 0.79]
NAMES = ["d", "a", "b", "c"]


def worlds(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, 4)) < CHANCES, rng.integers(3, size=n)


def test_models_stand_in_the_order_of_their_scores_with_the_rank_sets():
    correct, _ = worlds()
    found, sets = rank_models(correct, models=NAMES), rank_sets(correct, models=NAMES)
    assert [each.accuracy for each in found.models] == sorted(correct.mean(axis=0), reverse=True)
    for each in found.models:
        at = NAMES.index(each.model)
        assert (each.rank_low, each.rank_high, each.tier) == (sets.low[at], sets.high[at], sets.tiers[at])
        expected = stats.binomtest(int(correct[:, at].sum()), 300).proportion_ci()
        assert each.confidence_interval == pytest.approx((expected.low, expected.high))
    assert len(found.pairs) == 6
    for pair in found.pairs:
        a, b = NAMES.index(pair.a), NAMES.index(pair.b)
        assert pair.difference == pytest.approx(correct[:, a].mean() - correct[:, b].mean())
        assert pair.pvalue == sets.pvalues[a, b]
        assert pair.better == sets.better[a, b]


@settings(deadline=None, max_examples=examples(40))
@given(st.integers(0, 2**32), st.integers(2, 6))
def test_adjusted_p_is_the_least_level_at_which_a_pair_is_rejected(seed, k):
    rng = np.random.default_rng(seed)
    correct = rng.random((80, k)) < np.sort(rng.random(k))
    adjusted = rank_sets(correct).adjusted_pvalues
    for level in np.unique(adjusted[(adjusted > 1e-9) & (adjusted < 0.9)]):
        assert (rank_sets(correct, confidence_level=1 - level * 1.0001).better == (adjusted <= level)).all()
        assert not rank_sets(correct, confidence_level=1 - level * 0.9999).better[adjusted == level].any()


def test_slices_share_a_family_of_their_own():
    correct, part = worlds()
    part = np.where(np.arange(300) < 4, 7, part)
    found = rank_models(correct, models=NAMES, slices={"part": part})
    assert found.models == rank_models(correct, models=NAMES).models
    assert [each.slice for each in found.slices] == ["part = 0", "part = 1", "part = 2", "part = 7"]
    for value, each in enumerate(found.slices[:3]):
        sets = rank_sets(correct[part == value], models=NAMES, confidence_level=1 - 0.05 / 3)
        assert {(m.model, m.rank_low, m.rank_high) for m in each.models} == set(
            zip(NAMES, sets.low, sets.high, strict=True)
        )
    assert found.slices[3].models == ()
    assert "4 of at least 10" in found.slices[3].note


@pytest.mark.parametrize("form", [pd.DataFrame, pa.table])
def test_a_frame_is_what_its_columns_are(form):
    rng = np.random.default_rng(3)
    y, site = rng.integers(3, size=200), rng.integers(2, size=200)
    columns = {name: np.where(rng.random(200) < 0.6, y, 0) for name in "abc"}
    frame = form({"y": y, **columns, "site": site, "person": np.arange(200) // 4})
    found = rank_models(frame, label="y", groups="person", slices=["site"])
    right = np.column_stack([column == y for column in columns.values()])
    assert found == rank_models(right, models=list("abc"), groups=np.arange(200) // 4, slices={"site": site})
    assert found.groups == 50
    assert found == rank_models(frame, label="y", models=["a", "b", "c"], groups="person", slices=["site"])
    text = form({"y": y.astype(str), **{name: values.astype(str) for name, values in columns.items()}})
    assert rank_models(text, label="y").models == rank_models(right, models=list("abc")).models
    table = found.to_pandas()
    placed = [(each.slice, model) for each in found.slices for model in each.models]
    assert list(table["slice"]) == ["all rows"] * 3 + [part for part, _ in placed]
    assert list(table["rank_low"]) == [each.rank_low for each in (*found.models, *(model for _, model in placed))]
    assert "<td>a</td>" in found._repr_html_()


def test_marks_are_ranked_by_their_mean():
    marks = np.random.default_rng(4).choice([0, 0.25, 0.5, 1], (60, 3)) + np.array([0, 0.3, 0.1])
    found = rank_models(marks)
    assert found.measure == "mean-score"
    assert found.models[0].accuracy is None
    best = marks[:, int(found.models[0].model) - 1]
    expected = stats.ttest_1samp(best, 0).confidence_interval()
    assert found.models[0].confidence_interval == pytest.approx((expected.low, expected.high))
    worst = marks[:, int(found.models[-1].model) - 1]
    assert found.pairs[1].pvalue >= sign_flip_test(best - worst, alternative="greater").pvalue
    assert found.pairs[1].pvalue == rank_sets(marks).pvalues[int(found.models[0].model) - 1].min()


@pytest.mark.long
def test_the_interval_of_an_accuracy_of_groups_covers_it():
    # 20 groups of 5 rows that share what is hard: Clopper and Pearson's interval of the rows covers far too seldom.
    rng, trials, missed, missed_by_rows = np.random.default_rng(5), simulated(2000), 0, 0
    groups, truth = np.repeat(np.arange(20), 5), 0.8
    for _ in range(trials):
        hard = np.sqrt(0.7) * rng.normal(size=20)[groups] + np.sqrt(0.3) * rng.normal(size=100)
        right = stats.norm.cdf(hard) < truth
        low, high = share_interval(right, groups, 0.95)
        missed += not low <= truth <= high
        low, high = share_interval(right, None, 0.95)
        missed_by_rows += not low <= truth <= high
    assert missed <= stats.binom.isf(1e-6, trials, 0.05)
    assert missed_by_rows > 0.15 * trials


def test_all_right_in_few_groups_is_no_certainty():
    low, high = share_interval(np.ones(1000, dtype=bool), np.repeat(np.arange(5), 200), 0.95)
    assert (low, high) == (pytest.approx(stats.binomtest(5, 5).proportion_ci().low), 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"correct": [1, 0]}, r"correct: the shape"),
        ({"correct": [[1, 0]], "groups": "person"}, "groups: 'person' is not valid; expected a column of values"),
        ({"correct": pd.DataFrame({"a": [1], "b": [0]}), "label": "aa"}, "label: no column 'aa'; did you mean 'a'"),
        ({"correct": pd.DataFrame({"a": [1], "b": [0]}), "models": "a"}, "models: 'a' is not valid; expected a list"),
        ({"correct": [[1, 0]], "slices": "site"}, "slices: "),
        ({"correct": [[1, 0]], "slices": {"s": [1, 2]}}, r"slices\['s'\]: the length"),
        ({"correct": [["x", "y"]], "label": ["x", "y"]}, r"label: the length"),
        ({"correct": [["x", "y"]], "label": [1]}, r"correct\['1'\]: "),
        ({"correct": [[1, 0]], "smallest_slice": 0}, "smallest_slice"),
        ({"correct": [[1], [0]]}, r"correct: the shape"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    with pytest.raises(ValueError, match=message):
        rank_models(**arguments)


def test_answers_to_items_are_groups_or_averages():
    rng = np.random.default_rng(6)
    right, items = rng.random((60, 2)) < 0.7, np.repeat(np.arange(20), 3)
    assert sigstats.rank_models(right, items=items).pairs == sigstats.rank_models(right, groups=items).pairs
    marks = right.astype(object)
    marks[items == 4, 1] = None
    with pytest.raises(ValueError, match=r"correct\['2'\]: no answer to item '4'"):
        sigstats.rank_models(marks, items=items)
    with pytest.raises(ValueError, match=r"groups: .*several for item '0'.*one for all answers to an item"):
        sigstats.rank_models(
            np.where(np.arange(60) == 1, np.nan, right[:, 0])[:, None].repeat(2, 1),
            items=items,
            groups=np.arange(60) % 2,
        )
    label = np.array(["x", "y", "z"])[rng.integers(3, size=60)]
    said = np.where(right, label[:, None], "w").astype(object)
    said[0, 0] = None
    marks = right.astype(float)
    marks[0, 0] = np.nan
    assert sigstats.rank_models(said, label=label, items=items) == sigstats.rank_models(marks, items=items)


@pytest.mark.parametrize("ends", [[0, 50, 100, 200], [0.5, 50.5, 200]])
def test_bins_of_pandas_have_the_names_that_compare_gives_them_also_with_gaps(ends):
    rng, values = np.random.default_rng(0), np.where(np.arange(200) < 20, np.nan, np.arange(200.0))
    right, bins = rng.random((200, 2)) < 0.8, pd.cut(values, ends)
    frame = pd.DataFrame({"a": right[:, 0], "b": right[:, 1], "bin": bins})
    compared = sigstats.compare(np.ones(200), *right.T.astype(int), slices={"bin": bins})
    wanted = sorted(row.slice for row in compared.rows if "bin" in row.slice)
    assert wanted[0] == f"bin = {pd.Interval(*ends[:2])}"
    for found in (
        sigstats.rank_models(frame, slices=["bin"]),
        sigstats.rank_models(frame[["a", "b"]], slices={"bin": bins}),
    ):
        assert sorted(part.slice for part in found.slices) == wanted


def test_groups_are_numbers_or_names_and_text_that_looks_missing_is_refused_everywhere():
    """Whole floats come from a column of pandas that had a gap."""
    rng = np.random.default_rng(1)
    y, marks, of = np.arange(40) % 2, rng.random((2, 40)), np.arange(40) // 4
    vote = np.where(marks[0] < 0.5, "model_a", "model_b")
    tests = [
        lambda groups: sigstats.mean_score_test(*marks, groups=groups),
        lambda groups: sigstats.auc_test(y, *marks, groups=groups),
        lambda groups: sigstats.judged_test(*(marks < 0.5), *(marks < 0.6).astype(float), groups=groups),
        lambda groups: sigstats.rank_models(marks.T, groups=groups),
        lambda groups: sigstats.rank_votes(["a"] * 40, ["b"] * 40, vote, groups=groups),
    ]
    for test in tests:
        assert len({str(test(groups)) for groups in (of, of * 1.0, of * 0.5, of.astype(str))}) == 1
        with pytest.raises(ValueError, match="groups: 8 of 40 values are 'NA'; leave out these rows, or rename"):
            test(np.where(of < 2, "NA", of.astype(str)))
        with pytest.raises(ValueError, match=r"groups: row 0 \(from 0\) is empty"):
            test(np.where(of < 1, np.nan, of))
