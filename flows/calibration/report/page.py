"""The page of a calibration study: its first screen, its figures and design, and the columns of its tables.

The first screen shows each test with its level, its power and the coverage of its interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sigstats._common.messages import join_words
from sigstats._common.numerals import count_of, number, percent, percent_range
from sigstats.tasks.calibration.performance import SHARES, monte_carlo_error
from sigstats.tasks.calibration.rejections import COVERAGE, ERROR
from sigstats.tasks.schema import POWER, Hypothesis

from ...pages import svg
from ...pages.page import DotRow, data_table, dot_rows
from ...report import usual_columns as usual
from ...report.evidence import Column, Evidence, Figure, KindPage, Particulars
from ...report.rows import distinct, group_by
from . import null_p_values, rate_curves, same_test_sets, stated_confidence
from .design import design


def rate(row: Hypothesis) -> float:
    """Return the exact rate of rejections if it is known, otherwise the simulated rate."""
    if row.measure in (ERROR, POWER) and row.statistic is not None:
        return row.statistic
    return row.estimate or 0.0


def share(value: float | None) -> str:
    """Format a share in percent; a dash if it is missing."""
    return usual.ABSENT if value is None else percent(value)


TEST_SETS = Column("Test sets", lambda row: f"{row.replicates or 0:,}", lambda row: row.replicates)
FAILED = usual.value(
    "Failed", "unanswered", usual.COUNT, "test sets on which a test gave no p-value or a method no interval"
)
RATE = usual.value("Rate", "estimate", percent, "share of the test sets")
RATE_INTERVAL = usual.interval_by(
    lambda row, low, high: percent_range(low, high), "95% interval of the share (Clopper, Pearson)"
)


def _error(row: Hypothesis) -> str:
    error = monte_carlo_error(row)
    if error is None:
        return usual.ABSENT
    return f"{number(100 * error, 2)}%" if row.measure in SHARES else number(error, 4)


MONTE_CARLO_ERROR = Column(
    "MC error", _error, monte_carlo_error, "Monte-Carlo standard error of the rate, sqrt(p (1 - p) / n)"
)


#: The columns of the drawing: heading, and name of the column of rates.
_PANELS = {
    ERROR: ("Level: rejects where nothing differs", "Level"),
    POWER: ("Power: finds a difference", "Power"),
    COVERAGE: ("Coverage: interval contains the truth", "Coverage"),
}
#: Power below which a test is not recommended.
_USEFUL = 0.5
#: With more tests the drawing is too large for the first screen.
_MOST_TESTS = 16


@dataclass(frozen=True)
class TestRates:
    """The rates of a test over all populations and sizes; its power is that of the largest size."""

    method: str
    rows: Mapping[str, Sequence[Hypothesis]]
    alpha: float

    def span(self, measure: str) -> tuple[float, float] | None:
        """Return the smallest and the largest rate; None if there are no rates."""
        values = [rate(row) for row in self.rows.get(measure, ())]
        return (min(values), max(values)) if values else None

    @property
    def faulty(self) -> tuple[Hypothesis, ...]:
        """The worst of the levels and coverages that are faulty."""
        kinds = [[row for row in self.rows.get(measure, ()) if is_faulty(row, self.alpha)] for measure in _PANELS]
        return tuple((max if rows[0].measure == ERROR else min)(rows, key=rate) for rows in kinds if rows)

    @property
    def idle(self) -> bool:
        """True if the test detects every difference of the study less than half of the time."""
        power = self.span(POWER)
        return power is not None and power[1] < _USEFUL

    @property
    def verdict(self) -> str:
        """The verdict on the test, from its rates in the study's populations and sizes."""
        faults = [_FAULTS[row.measure or ""] for row in self.faulty]
        weak = [f"finds at most {percent((self.span(POWER) or (0, 0))[1])}"] if self.idle else []
        return ", ".join([*faults, *weak]) or "no fault shown"


_FAULTS = {ERROR: "rejects too often", COVERAGE: "interval misses too often"}


def is_faulty(row: Hypothesis, alpha: float) -> bool:
    """Return True if a test rejects a true null hypothesis, or its interval misses the truth, more often than stated.

    The exact rate of rejections is compared with the level if it is known; otherwise the simulated rate is tested.
    """
    if row.measure == ERROR and row.statistic is not None:
        return row.statistic > alpha * (1 + 1e-9)
    return row.measure in (ERROR, COVERAGE) and row.decision == "reject"


def rates_of_tests(rows: Sequence[Hypothesis], alpha: float) -> list[TestRates]:
    """Return each test with its rates, in the order of the rows."""
    known = [row for row in rows if row.measure in _PANELS and row.estimate is not None]
    tests = []
    for method, group in group_by(known, lambda row: row.method).items():
        largest = max(row.n or 0 for row in group)
        kinds = group_by([row for row in group if row.measure != POWER or row.n == largest], lambda row: row.measure)
        tests.append(TestRates(method, {measure or "": rows for measure, rows in kinds.items()}, alpha))
    return tests


def headline_of(tests: Sequence[TestRates]) -> str:
    """Return the tests with a fault, or the worst rates; empty if the study has neither levels nor coverages."""
    faults = [_sentence(row, test) for test in tests for row in test.faulty]
    if faults:
        fine = [test.method for test in tests if not test.faulty]
        rest = f"; no fault was shown for {join_words(fine)}" if fine else ""
        return f"Not all: {'; '.join(faults)}{rest}."
    worst = []
    for measure, choose in ((ERROR, max), (COVERAGE, min)):
        if rows := [(choose(test.rows[measure], key=rate), test) for test in tests if measure in test.rows]:
            worst.append(_sentence(*choose(rows, key=lambda item: rate(item[0]))))
    return f"No fault was shown: at worst {' and '.join(worst)}." if worst else ""


def _sentence(row: Hypothesis, test: TestRates) -> str:
    if row.measure == ERROR:
        clause, stated = f"{row.method} rejects without a difference on {percent(rate(row))}", percent(test.alpha)
    else:
        clause = f"the interval of {row.method} contains the truth on {percent(rate(row))}"
        stated = percent(row.null_mean or 0)
    return f"{clause} of the test sets ({count_of(row.n or 0, 'row')}; {stated} is stated)"


def advice(tests: Sequence[TestRates], fewest: str = "") -> str:
    """Return the tests to use at these sizes; `fewest`: the one that needs fewest rows among tests without a fault."""
    faulty = [row for test in tests for rows in test.rows.values() for row in rows if is_faulty(row, test.alpha)]
    sizes = sorted({row.n or 0 for test in tests for rows in test.rows.values() for row in rows})
    by_faulty_methods = group_by(sizes, lambda n: tuple(distinct(row.method for row in faulty if row.n == n)))
    if len(by_faulty_methods) > 1:
        clauses = "; ".join(
            f"with {join_words([f'{n:,}' for n in sizes])} rows "
            + (f"do not use {join_words(methods)}" if methods else "no fault was shown")
            for methods, sizes in by_faulty_methods.items()
        )
        return f"{clauses[:1].upper()}{clauses[1:]}."
    if not faulty and fewest:
        return fewest
    strong = [test.method for test in tests if not test.faulty and not test.idle]
    idle = [test.method for test in tests if not test.faulty and test.idle]
    if not strong and idle:
        return (
            f"No fault was shown, but {join_words(idle)} detected these differences less than half of the time: use "
            "larger test sets, unless differences this small do not matter."
        )
    more = f" {join_words(idle)} would need more rows to find a difference half of the time." if idle else ""
    return f"At these sizes use {join_words(strong) or 'none of these tests'}.{more}"


def screen(evidence: Evidence) -> Figure | None:
    """Return the picture and the table of all tests; None if there are no rates, or too many tests."""
    tests = rates_of_tests((*evidence.rows_of("calibration"), *evidence.rows_of("performance")), evidence.alpha)
    if not tests or len(tests) > _MOST_TESTS:
        return None
    panels = [*filter(None, (_panel(f"screen-{place}", measure, tests) for place, measure in enumerate(_PANELS)))]
    return Figure("Tests by level, power and coverage", _CAPTION, svg.side_by_side(panels) + _table(tests))


_CAPTION = (
    "A line spans the rates (exact if a formula exists, else simulated) over all populations and sizes (power: at the "
    "largest size only). The mark is the worst rate, a square if a fault is shown. Dashed: the stated rate."
)


def _panel(name: str, measure: str, tests: Sequence[TestRates]) -> Markup | None:
    heading, _ = _PANELS[measure]
    rows, stated = [], {}
    for test in tests:
        if (span := test.span(measure)) is not None:
            mark = "fail" if any(is_faulty(row, test.alpha) for row in test.rows[measure]) else ""
            worst = span[1] if measure == ERROR else span[0]
            rows.append(DotRow(test.method, worst, span, _span(span), mark))
            stated = {ERROR: {"level": test.alpha}, COVERAGE: {"level": 1 - test.alpha}}.get(measure, {})
    if not rows:
        return None
    least = min([row.ends[0] for row in rows] + list(stated.values()))
    most = 1.1 * max([row.ends[1] for row in rows] + list(stated.values()))
    limits = {ERROR: (0.0, min(most, 1.0)), POWER: (0.0, 1.0), COVERAGE: (max(0.0, least - 0.02), 1.0)}[measure]
    texts = "; ".join(f"{row.label} {row.shown}" for row in rows)
    return dot_rows(name, heading, rows, lines=stated, limits=limits, title=heading, description=f"{texts}.")


def _table(tests: Sequence[TestRates]) -> Markup:
    measures = [measure for measure in _PANELS if any(measure in test.rows for test in tests)]
    kinds = {"Test": "row"} | {_PANELS[measure][1]: "number" for measure in measures} | {"In this study": ""}
    rows = [[test.method, *(_span(test.span(measure)) for measure in measures), test.verdict] for test in tests]
    return data_table("Tests by level, power and coverage", kinds, rows)


def _span(span: tuple[float, float] | None) -> str:
    ends = [] if span is None else list(dict.fromkeys(map(percent, span)))
    return "–".join(ends).replace("%–", "–") or "–"


PAGE = KindPage(
    sections=("sigstats.flows.calibration.report.rates", "sigstats.flows.calibration.report.trained"),
    figures=(
        rate_curves.draw_curves,
        null_p_values.draw_rates,
        stated_confidence.draw_resampled,
        stated_confidence.draw_reliability,
        rate_curves.draw_loops,
        null_p_values.draw_law,
        same_test_sets.draw_pairs,
        same_test_sets.draw_zips,
    ),
    particulars=lambda evidence: Particulars(figure=screen(evidence), design=design(evidence)),
)
