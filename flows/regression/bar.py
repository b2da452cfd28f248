"""One model against a bar; the bar replaces the baseline's values in rows, trends and pages."""

from sigstats.comparison.check.bar import check_predictions
from sigstats.comparison.check.result import CheckedRow, CheckResult, rows_that_decide
from sigstats.comparison.paired_predictions import PairedPredictions
from sigstats.comparison.result import ComparisonResult
from sigstats.comparison.rows import ComparisonRow
from sigstats.comparison.rule import ComparisonRule

from .study import RegressionStudy


def check_bar(study: RegressionStudy, paired: PairedPredictions, bar: float, rule: ComparisonRule) -> ComparisonResult:
    """The comparison with the bar, by the tests of `sigstats check`; ValueError if no value could miss the bar."""
    at_most = study.at_least is None
    result = check_predictions(paired, bar, rule, study.measures, positive=study.positive, at_most=at_most)
    rows = tuple(_compared(row, result) for row in result.rows)
    return ComparisonResult(rows=rows, rule=rule, n=result.n, notes=result.notes)


def _compared(row: CheckedRow, result: CheckResult) -> ComparisonRow:
    shared = {name: value for name, value in vars(row).items() if name not in ("value", "counted", "other_interval")}
    ends = {"difference": row.value, "low": row.low, "high": row.high}
    return ComparisonRow(
        **shared | {name: None if end is None else end - result.bar for name, end in ends.items()},
        baseline=result.bar,
        candidate=row.value,
        candidate_interval=row.confidence_interval,
        deciding=rows_that_decide(row, result) if row.verdict == "inconclusive" else None,
        lower_is_better=result.at_most,
        against_bar=True,
    )
