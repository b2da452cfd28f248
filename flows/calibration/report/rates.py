"""Calibration: whether tests reject, and intervals contain the truth, as often as stated, and their power and bias."""

from collections.abc import Sequence

from sigstats._common.messages import join_words
from sigstats._common.numerals import adjusted_p, count_of, number, percent, significant
from sigstats.measures.table import MEASURES
from sigstats.tasks.calibration.performance import SHARES
from sigstats.tasks.calibration.population import Population, is_large_part
from sigstats.tasks.calibration.rejections import COVERAGE
from sigstats.tasks.calibration.work import OnTestSets, Tested, measure_name
from sigstats.tasks.schema import POWER, Hypothesis

from ...report import usual_columns as usual
from ...report import verdicts
from ...report.evidence import Column, Evidence, Section, Verdict
from ...report.rows import distinct, group_by, rejected
from ...report.usual_columns import where
from .page import FAILED, MONTE_CARLO_ERROR, RATE, RATE_INTERVAL, TEST_SETS, advice, headline_of, rate, rates_of_tests


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Name tests that reject too often or whose intervals miss, or else detectable differences; then every rate."""
    known = [row for row in rows if row.estimate is not None]
    if not known:
        return Verdict("There is no result: every rate is missing.")
    tests = rates_of_tests(known, evidence.alpha)
    groups = group_by([row for row in known if row.measure == POWER], lambda row: (where(row), row.method))
    powers = [*groups.values()]
    findings = [(where(group[0]), power_in_words(group, evidence)) for group in powers]
    expected = _expected_in_words(known, adjusted_p(evidence.adjust))
    headline = headline_of(tests)
    also = [("Rates:", expected if rejected(rows) else ""), ("Drawn:", _note_on_large_parts(evidence))]
    if powers:
        # The test and population with the lowest power at the largest size need most rows.
        power_at_largest = [max((row.n or 0, rate(row)) for row in group)[1] for group in powers]
        population, finding = findings.pop(power_at_largest.index(min(power_at_largest)))
        if headline:
            also.insert(0, (f"Power, {population}:", finding))
        else:
            headline = f"Type I errors were not examined: in every population one classifier is better. {finding}"
    return Verdict(
        headline or expected,
        (expected, *(f"{population}: {finding}" for population, finding in findings)),
        also=tuple((title, text[:1].upper() + text[1:]) for title, text in also if text),
        to_do=advice(tests, fewest_needed(powers)),
    )


def _note_on_large_parts(evidence: Evidence) -> str:
    """Return a statement that test sets are a large part of their population, if they are."""
    drawn = [
        (work.n, sum(work.population.outcomes))
        for work in (cell.work for cell in evidence.results.plan.cells)
        if isinstance(work, OnTestSets) and isinstance(work.population, Population) and not work.endless
    ]
    parts = [n / rows for n, rows in drawn if is_large_part(n, rows)]
    if not parts:
        return ""
    return (
        f"without replacement, up to {percent(max(parts))} of the population at once, so that rates are better than "
        "those of new rows like these; replacement = true draws as from an infinite population."
    )


def _expected_in_words(rows: Sequence[Hypothesis], name: str) -> str:
    wrong = rejected(rows)
    fine = [row for row in rows if row.p_value is not None and row.decision != "reject"]
    total = len(wrong) + len(fine)
    if not total:
        return f"{count_of(len(rows), 'rate')} were computed; there is nothing to compare them with."
    if not wrong:
        subject = f"All {total} rates with an expected value agree with it" if total > 1 else "The rate is as expected"
        return f"{subject} ({verdicts.smallest_p(fine, name)})."
    rates = distinct(f"{row.measure} of {row.method} on {where(row)}" for row in wrong)
    named = f": {join_words(rates)}" if len(rates) <= 4 else ""
    return f"{len(wrong)} of {total} rates with an expected value differ{named} ({verdicts.largest_p(wrong, name)})."


def _as_expected(row: Hypothesis) -> str:
    if row.decision == "missing":
        return row.decision
    return usual.ABSENT if row.p_value is None else "no" if row.decision == "reject" else "yes"


#: The usual power in planning.
_WANTED = 0.8
_IN_WORDS = {0.5: "half of the time", 0.8: "four times in five"}


def power_in_words(rows: Sequence[Hypothesis], evidence: Evidence) -> str:
    """State how often the largest size detects the difference, and the number of rows for a higher power."""
    largest = max(rows, key=lambda row: row.n or 0)
    cell = evidence.cells_of(largest)[0]
    difference = "the difference"
    if largest.truth is not None:
        difference = _difference(abs(largest.truth), measure_name(cell.work_of(Tested).test))
    often = f"{percent(rate(largest))} of the time by {largest.method}"
    sentence = f"{count_of(largest.n or 0, 'row')} find {difference} {often}"
    if largest.rows_half is None or largest.rows_four_fifths is None:
        return f"{sentence}; {_among_sizes(rows)}."
    endless = isinstance(cell.work, OnTestSets) and cell.work.endless
    about, of_what = ("", "") if endless else ("about ", " of an infinite population of such answers")
    half, wanted = (f"{about}{needed:,}" for needed in (largest.rows_half, largest.rows_four_fifths))
    return f"{sentence}; {half} rows{of_what} are needed for {_IN_WORDS[0.5]}, {wanted} for {_IN_WORDS[_WANTED]}."


def fewest_needed(powers: Sequence[Sequence[Hypothesis]]) -> str:
    """Name the tests that need the fewest rows in their hardest population, among those with a sample-size formula.

    Empty if no test has such a formula. Tests without one, often of another measure, are listed but not ranked.
    """
    needed: dict[str, tuple[int, str]] = {}
    for row in (row for group in powers for row in group if row.rows_four_fifths is not None):
        needed[row.method] = max(needed.get(row.method, (0, "")), (row.rows_four_fifths or 0, where(row)))
    if not needed:
        return ""
    fewest, population = min(needed.values())
    best = [method for method, (rows, _) in needed.items() if rows == fewest]
    finding = f"{count_of(fewest, 'row')} find the difference of “{population}” {_IN_WORDS[_WANTED]}"
    others = distinct(row.method for group in powers for row in group if row.method not in needed)
    rest = f"; {join_words(others)} may need fewer, but no formula gives the number" if others else ""
    return f"Use {' or '.join(best)}. {finding}{', the fewest of these tests' * (len(needed) > len(best))}{rest}."


def _difference(value: float, measure: str) -> str:
    spec = MEASURES.get(measure)
    if spec is not None and spec.in_points:
        return f"a difference in {measure} of {number(100 * value, 1 if value >= 0.001 else 3)} points"
    return f"a difference in {measure} of {significant(value, 3)}"


def _among_sizes(rows: Sequence[Hypothesis]) -> str:
    least = {share: min((row.n or 0 for row in rows if rate(row) >= share), default=0) for share in _IN_WORDS}
    if not least[0.5]:
        return "no size that was tried finds it half of the time"
    if least[0.5] == least[_WANTED]:
        return f"of the sizes that were tried, {least[_WANTED]:,} rows are the fewest that find it four times in five"
    sentence = f"of the sizes that were tried, {least[0.5]:,} rows are the fewest that find it half of the time"
    more = f"{least[_WANTED]:,} rows" if least[_WANTED] else "none"
    return f"{sentence}, and {more} {'find' if least[_WANTED] else 'finds'} it four times in five"


_SECTION = Section(
    order=90,
    test="calibration",
    name="Calibration",
    question="Can the tests be trusted at these sample sizes?",
    verdict=verdict,
    columns=(
        usual.DATASET.named("Population"),
        usual.SLICE,
        usual.METHOD.named("Test"),
        usual.MEASURE,
        usual.ROWS.named("Rows", "rows of a test set"),
        TEST_SETS,
        RATE,
        MONTE_CARLO_ERROR,
        RATE_INTERVAL,
        FAILED,
        usual.value("Without a class", "without_class", usual.COUNT, "test sets without a row of a class that counts"),
        usual.value("Expected", "null_mean", percent, "the exact or the stated rate"),
        usual.P,
        usual.IF_ADJUSTED,
        Column("As expected", _as_expected),
        usual.NOTE,
    ),
    method=(
        "Test sets are drawn from a fully known population, and every test is applied to each of them: all tests see "
        "the same test sets. The rate of rejections is the type I error if neither classifier is better, and the "
        "power if one is; the coverage is how often the interval contains the true difference. If a test depends "
        "only on counts, its exact rate is summed over all possible test sets, and p tests whether the simulation "
        "agrees with it. Otherwise p tests whether the type I error is above the stated level, or the coverage below "
        "the stated confidence."
    ),
    source=(
        "Sturm, Comparing two classifiers using a contingency table; Keller, Mariethoz and Bengio, Significance tests "
        "for 'bizarre' measures in 2-class classification tasks, section 5"
    ),
)


def _rows_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    texts = [f"{row.estimate:,.0f} rows on {where(row)}" for row in rows if row.estimate is not None]
    if not texts:
        return Verdict("No formula gives the number of rows for this test.")
    return Verdict(f"The test rejects half of the time with {join_words(texts)}.")


_SAMPLE_SIZE = Section(
    order=91,
    test="sample-size",
    name="Rows for half of the time",
    question="With how many rows does the test reject more often than not?",
    verdict=_rows_verdict,
    columns=(
        Column("Population", where),
        usual.METHOD.named("Test"),
        usual.value("Rows", "estimate", "{:,.0f}".format, "from how many rows on the test rejects half of the time"),
        *usual.OF_PUBLICATION,
    ),
    method=(
        "The smallest number of rows from which on the exact rejection rate of McNemar's test is at least one half, "
        "given the probabilities that only one of the two is right. It is not one of the drawn sizes."
    ),
    source="Sturm, Comparing two classifiers using a contingency table",
)


def _performance_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    tests = rates_of_tests([row for row in rows if row.measure == COVERAGE], evidence.alpha)
    if not tests:
        return Verdict("The table below gives the power of each test at its true level.")
    return Verdict(headline_of(tests), to_do=advice(tests))


def _in_unit(row: Hypothesis, value: float | None) -> str:
    if value is None:
        return usual.ABSENT
    return percent(value) if row.measure in SHARES else number(value, 4)


_PERFORMANCE = Section(
    order=92,
    test="performance",
    name="Performance",
    question="Which interval can be trusted, and what is the power of a test at its true level?",
    verdict=_performance_verdict,
    columns=(
        Column("Population", where),
        usual.METHOD,
        usual.ROWS.named("Rows", "rows of a test set"),
        usual.MEASURE,
        Column("Value", lambda row: _in_unit(row, row.estimate), lambda row: row.estimate),
        MONTE_CARLO_ERROR.named("MC error", "Monte-Carlo standard error of the value"),
        Column("Stated", lambda row: _in_unit(row, row.null_mean), lambda row: row.null_mean, "what it should be"),
        usual.P,
        TEST_SETS,
        FAILED,
        usual.NOTE,
    ),
    method=(
        "Every method is applied to the same test sets. Bias is the mean estimate minus the truth; the empirical "
        "standard error is the standard deviation of the estimates, the stated one the root mean square of the "
        "standard errors that the method states. Coverage is how often the interval contains the truth, "
        "bias-eliminated coverage how often it contains the mean estimate; an interval that misses lies below or "
        "above the truth. For the difference that people see, type I error and power are how often the interval "
        "excludes zero. A measure that is 0/0 on a test set is undefined there and taken as 0; such test sets are "
        "counted and not left out. Size-adjusted power is the share of test sets rejected at the largest p-value "
        "that at most the stated share of test sets without a difference fall below; its Monte-Carlo error allows "
        "for the estimation of this p-value. A test set on which a method fails counts as a miss, or as not "
        "rejected. p tests whether a coverage is below the stated one."
    ),
    source=(
        "Morris, White and Crowther, Using simulation studies to evaluate statistical methods, Statistics in Medicine "
        "38 (2019)"
    ),
)

SECTIONS = (_SECTION, _SAMPLE_SIZE, _PERFORMANCE)
