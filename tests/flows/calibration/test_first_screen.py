"""The first screen of a calibration study against the binomial law, in which every rate is known."""

import re

import pytest
from scipy.stats import binom

import sigstats
from sigstats.flows.calibration.report.page import advice, rates_of_tests, screen
from sigstats.flows.calibration.report.rates import fewest_needed
from sigstats.flows.report.evidence import Evidence
from sigstats.flows.report.page import render
from sigstats.tasks.calibration.rejections import ERROR
from sigstats.tasks.results import Results
from sigstats.tasks.schema import POWER, Hypothesis
from sigstats.tasks.storage.store import Store

SIZE, CLASSES, RIGHT = 20, 2, 0.05


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("study"))
    population = {"name": "sturm", "source": "sturm", "classes": CLASSES, "right": [0.0, RIGHT]}
    tests = ["mcnemar", {"test": "mcnemar", "method": "chi2"}]
    study = {"kind": "calibration", "sizes": [SIZE], "trials": 50, "populations": [population], "tests": tests}
    sigstats.run_study(study, output=folder, cluster="serial")
    return Store(folder)


def rates_of(evidence):
    return rates_of_tests(evidence.rows_of("calibration"), evidence.alpha)


def exact_rate(only_a, only_b):
    """How often McNemar's exact test rejects: over the discordant rows, then those that only A gets right."""
    share, rate = only_a + only_b, 0.0
    for discordant in range(SIZE + 1):
        for first in range(discordant + 1):
            if min(1.0, 2 * binom.cdf(min(first, discordant - first), discordant, 0.5)) <= 0.05:
                chance = binom.pmf(first, discordant, only_a / share)
                rate += binom.pmf(discordant, SIZE, share) * chance
    return rate


def test_level_and_power_are_those_of_the_binomial_law(store):
    tests = {test.method: test for test in rates_of(Evidence(Results(store)))}
    chance = 1 / CLASSES
    right = RIGHT + (1 - RIGHT) * chance
    level = exact_rate(chance * (1 - chance), chance * (1 - chance))
    power = exact_rate(chance * (1 - right), right * (1 - chance))
    assert tests["McNemar (exact)"].span(ERROR) == pytest.approx((level, level))
    assert tests["McNemar (exact)"].span(POWER) == pytest.approx((power, power))
    assert power < 0.05
    assert tests["McNemar (exact)"].verdict == f"finds at most {100 * power:.1f}%"


def test_a_test_without_power_is_neither_kept_nor_recommended(store):
    results = Results(store)
    summary = results.summary.to_pandas()
    assert set(summary.query("measure == 'power'")["decision"]) == {"none"}
    page = render(Evidence(results), config={}, versions={})
    to_do = re.search(r"What to do\.</b>(.*?)</p>", page, re.DOTALL)[1]
    assert " ".join(to_do.split()).startswith("Use McNemar (chi2). 6,276 rows find the difference")


def test_ties_are_named_together_and_tests_without_a_formula_are_not_ranked():
    base = Hypothesis(study="s", cell="c", test="calibration", method="a", alternative="g", null_hypothesis="h")
    rows = [
        base.with_(dataset="near", rows_four_fifths=237),
        base.with_(dataset="far", rows_four_fifths=20),
        base.with_(method="b", dataset="near", rows_four_fifths=237),
        base.with_(method="c", dataset="near", rows_four_fifths=300),
        base.with_(method="own", dataset="near"),
    ]
    assert fewest_needed([rows[:2], rows[2:4], rows[4:]]) == (
        "Use a or b. 237 rows find the difference of “near” four times in five, the fewest of these tests; "
        "own may need fewer, but no formula gives the number."
    )
    assert fewest_needed([rows[2:3]]) == "Use b. 237 rows find the difference of “near” four times in five."
    assert fewest_needed([rows[4:]]) == ""


def test_tests_that_only_lack_rows_are_not_called_useless(store):
    tests = rates_of(Evidence(Results(store)))
    assert all(test.idle and not test.faulty for test in tests)
    assert advice(tests) == (
        "No fault was shown, but McNemar (exact) and McNemar (chi2) detected these differences less than half of the "
        "time: use larger test sets, unless differences this small do not matter."
    )


def test_the_picture_has_a_mark_and_the_table_a_row_for_each_test(store):
    evidence = Evidence(Results(store))
    drawn = screen(evidence).body
    tests = rates_of(evidence)
    assert drawn.count("<svg") == 2
    assert drawn.count('class="interval"') == 2 * len(tests)
    for test in tests:
        assert f'<th scope="row">{test.method}</th>' in drawn
        assert f"<td>{test.verdict}</td>" in drawn
