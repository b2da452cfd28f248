"""Calibration: whether a test rejects, and its interval holds the truth, as often as it says."""

from collections.abc import Callable, Mapping, Sequence

from sigstats.tasks.calibration.rates import COVERAGE, ERROR, POWER, is_large_part
from sigstats.tasks.calibration.work import OnTestSets, Outcomes
from sigstats.tasks.schema import Hypothesis

from ...pages.wording import adjusted_p, count_of, join_words, percent
from ...report import usual_columns as usual
from ...report import verdicts
from ...report.evidence import Column, Evidence, Section, Verdict
from ...report.rows import distinct, group_by, not_rejected, rejected
from ...report.usual_columns import where
from ._power import fewest_needed, finds
from .columns import FAILED, MONTE_CARLO_ERROR, RATE, RATE_INTERVAL, TEST_SETS, rate, share
from .statements import statements


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """The tests that reject too often or intervals that miss; if none, the detectable differences. Then every rate."""
    wrong, fine = rejected(rows), not_rejected(rows)
    name = adjusted_p(evidence.adjust)
    hypotheses = [row for row in rows if row.estimate is not None]
    if not hypotheses:
        return Verdict("There is no result: every rate is missing.")
    groups = list(group_by(hypotheses, lambda row: (row.dataset, row.slice, row.method, row.measure)).values())
    details = [_of_group(group, evidence) for group in groups]
    powers = [group for group in groups if group[0].measure == POWER]
    kinds = group_by(hypotheses, lambda row: row.measure)
    errors, coverages = kinds.get(ERROR, []), kinds.get(COVERAGE, [])
    expected = _expected(wrong, fine, hypotheses, name)
    failing = [row for row in wrong if row.measure == ERROR and rate(row) > (row.null_mean or 0)]
    short = [row for row in wrong if row.measure == COVERAGE]
    also = [
        ("Size:", _failing(failing, errors, evidence) if failing else _kept(errors, evidence)),
        ("Intervals:", _short(short, coverages, errors) if short else _held(coverages)),
    ]
    if short and not failing:
        also.reverse()
    if powers:
        # Where a test finds least, most rows are needed.
        hardest = min(powers, key=lambda group: max((row.n or 0, rate(row)) for row in group)[1])
        also.append((f"Power, {where(hardest[0])}:", finds(hardest, evidence)))
        if not failing and not short:
            details.pop(groups.index(hardest))
    also += [("Rates:", expected), ("Drawn:", _drawn(evidence))]
    (first, headline), *also = [value for value in also if value[1]]
    if first.startswith("Power"):
        headline = f"Not tried: in every population one classifier is better. {headline}"
    elif not failing and not short and first != "Rates:":
        headline = f"Yes, in all tried cases: {headline}"
    shown = tuple((what, said[:1].upper() + said[1:]) for what, said in also if wrong or what != "Rates:")
    to_do = _to_do((failing, errors, "tests", ""), (short, coverages, "intervals", "the intervals of "), powers=powers)
    return Verdict(headline, (expected, *details), _sure(hypotheses, evidence), shown, _numbers(kinds, evidence), to_do)


def _to_do(
    *kinds: tuple[Sequence[Hypothesis], Sequence[Hypothesis], str, str], powers: Sequence[Sequence[Hypothesis]]
) -> str:
    """The test or interval to use at these sizes; if all are valid, the rows that the hardest population needs."""
    for wrong, rows, what, of in kinds:
        if not wrong:
            continue
        by_fault: dict[tuple[str, ...], list[int]] = {}
        for n in sorted({row.n or 0 for row in rows}):
            by_fault.setdefault(tuple(sorted({row.method for row in wrong if row.n == n})), []).append(n)
        if len(by_fault) > 1:
            advice = [
                f"with {join_words([f'{n:,}' for n in sizes])} rows "
                + (f"do not use {of}{join_words(methods)}" if methods else "no fault was shown")
                for methods, sizes in by_fault.items()
            ]
            return f"{advice[0][:1].upper()}{'; '.join(advice)[1:]}."
        right = set(distinct(row.method for row in rows)) - {row.method for row in wrong}
        return f"At these sizes use {join_words(sorted(right)) if right else f'none of these {what}'}."
    return fewest_needed(powers) or "Use these tests at these sizes."


def _drawn(evidence: Evidence) -> str:
    """A statement that test sets are a large part of their population, if they are."""
    drawn = [
        (work.n, sum(work.population.outcomes))
        for work in (cell.work for cell in evidence.results.plan.cells)
        if isinstance(work, OnTestSets) and isinstance(work.population, Outcomes) and not work.population.endless
    ]
    parts = [n / rows for n, rows in drawn if is_large_part(n, rows)]
    if not parts:
        return ""
    return (
        f"without replacement, up to {percent(max(parts))} of the population at once, so that rates are better than "
        "those of new rows like these; replacement = true draws as from an infinite population."
    )


def _numbers(kinds: Mapping[str | None, list[Hypothesis]], evidence: Evidence) -> tuple[tuple[str, str, str], ...]:
    worst = {measure: (max if measure == ERROR else min)(rows, key=rate) for measure, rows in kinds.items()}
    numbers = []
    for measure, what in ((ERROR, "rejects wrongly"), (COVERAGE, "intervals right"), (POWER, "difference found")):
        if row := worst.get(measure):
            stated = f"stated {percent(evidence.alpha if measure == ERROR else row.null_mean or 0)}"
            below = f"at the least, {count_of(row.n or 0, 'row')}" if measure == POWER else stated
            numbers.append((what, percent(rate(row)), below))
    return tuple(numbers)


def _kept(errors: Sequence[Hypothesis], evidence: Evidence) -> str:
    """The highest rate of rejections when neither is better; empty if one always is."""
    if not errors:
        return ""
    most = max(errors, key=rate)
    return (
        f"where neither is better, no test rejects too often, at most {_at(most)} of the "
        f"test sets at a level of {percent(evidence.alpha)}."
    )


def _held(coverages: Sequence[Hypothesis]) -> str:
    """The lowest coverage of intervals; empty if there are none."""
    if not coverages:
        return ""
    least = min(coverages, key=lambda row: rate(row) - (row.null_mean or 0))
    how_often = f"{_at(least)} of the test sets or more, where {share(least.null_mean)} is stated"
    return f"the intervals contain the truth on {how_often}."


def _at(row: Hypothesis) -> str:
    return f"{percent(rate(row))} ({row.method}, {count_of(row.n or 0, 'row')})"


def _sure(hypotheses: Sequence[Hypothesis], evidence: Evidence) -> str:
    """The stated confidence at the smallest and the largest size, and the share that is right."""
    sizes = sorted({row.n or 0 for row in hypotheses})
    parts = []
    for n in dict.fromkeys((*sizes[:1], *sizes[-1:])):
        groups = group_by([row for row in hypotheses if row.n == n], lambda row: row.method)
        said = {method: statements(group, evidence) for method, group in groups.items()}
        named = [
            f"{method} {percent(float(value.stated.mean()))} and {percent(float(value.right.mean()))}"
            for method, value in said.items()
            if value is not None
        ]
        if named:
            parts.append(f"with {count_of(n, 'row')} {join_words(named)}")
    if not parts:
        return ""
    return (
        "Mean stated confidence that the classifier that is better on a test set is truly better, and how often that "
        f"is right: {'; '.join(parts)}."
    )


def _of_each_method(rows: Sequence[Hypothesis], choose: Callable[..., Hypothesis]) -> dict[str, Hypothesis]:
    return {method: choose(group, key=rate) for method, group in group_by(rows, lambda row: row.method).items()}


def _short(short: Sequence[Hypothesis], coverages: Sequence[Hypothesis], errors: Sequence[Hypothesis]) -> str:
    """The intervals that cover too seldom, and the lowest coverage."""
    missing = _of_each_method(short, min)
    worst = sorted(missing.values(), key=rate)
    how = [f"on as few as {percent(rate(row))} of the test sets ({count_of(row.n or 0, 'row')})" for row in worst]
    more = "".join(f", that of {row.method} {on}" for row, on in zip(worst[1:], how[1:], strict=True))
    kept = "; no test was shown to reject too often" if errors else ""
    held = [row for row in coverages if row.method not in missing]
    if held:
        best = max(_of_each_method(held, min).values(), key=rate)
        kept += f"; take that of {best.method}, which held it on {percent(rate(best))} and more"
    return (
        f"The interval of {worst[0].method} held the truth {how[0]}{more}, not on the "
        f"{percent(worst[0].null_mean or 0)} that are stated{kept}."
    )


def _failing(failing: Sequence[Hypothesis], errors: Sequence[Hypothesis], evidence: Evidence) -> str:
    """The tests that reject a true null hypothesis too often, and the highest rate; then the others."""
    most = _of_each_method(failing, max)
    named = [f"{row.method} on up to {share(row.estimate)}" for row in sorted(most.values(), key=rate, reverse=True)]
    fine = [method for method in distinct(row.method for row in errors) if method not in most]
    kept = f"; not shown of {join_words(fine)}" if fine else ""
    return (
        f"Where the null hypothesis is true, {count_of(len(named), 'test')} of {len(named) + len(fine)} "
        f"{'rejects' if len(named) == 1 else 'reject'} too often for a level of {percent(evidence.alpha)}: "
        f"{join_words(named)} of the test sets{kept}."
    )


def _expected(wrong: Sequence[Hypothesis], fine: Sequence[Hypothesis], result: Sequence[Hypothesis], name: str) -> str:
    total = len(wrong) + len(fine)
    if not total:
        return f"{count_of(len(result), 'rate')} were found; there is nothing to compare them with."
    if not wrong:
        subject = f"All {total} tested rates are" if total > 1 else "The rate is"
        return f"{subject} as expected ({verdicts.smallest_p(fine, name)})."
    what = distinct(f"{row.measure} of {row.method} on {where(row)}" for row in wrong)
    named = f": {join_words(what)}" if len(what) <= 4 else ""
    return f"{len(wrong)} of {total} tested rates are not as expected{named} ({verdicts.largest_p(wrong, name)})."


def _of_group(rows: Sequence[Hypothesis], evidence: Evidence) -> str:
    first = rows[0]
    if first.measure == POWER:
        return f"{where(first)}: {finds(rows, evidence)}"
    subject = f"On {where(first)}, the {first.measure} of {first.method} was"
    meaning = ", where neither is better" if first.measure == ERROR else ""
    low, high = min(rows, key=rate), max(rows, key=rate)
    if len(rows) > 1 and percent(rate(low)) == percent(rate(high)):
        return f"{subject} {percent(rate(first))} at all {len(rows)} sizes{meaning}."
    ends = " to ".join(f"{percent(rate(row))} with {count_of(row.n or 0, 'row')}" for row in (low, high)[: len(rows)])
    return f"{subject} {ends}{meaning}."


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The population, the size, the test, the rate and its nominal value."""
    parts = [usual.SLICE] if any(row.slice for row in rows) else []
    adjusted = [] if all(row.p_adjusted == row.p_value for row in rows) else [usual.ADJUSTED]
    return [
        usual.DATASET.named("Population"),
        *parts,
        usual.METHOD.named("Test"),
        usual.MEASURE,
        usual.ROWS.named("Rows", "rows of a test set"),
        TEST_SETS,
        RATE,
        MONTE_CARLO_ERROR,
        RATE_INTERVAL,
        FAILED,
        usual.value("Without a class", "without_class", usual.COUNT, "test sets without a row of a class that counts"),
        usual.value("Expected", "null_mean", percent, "the exact rate, or what is stated"),
        usual.P,
        *adjusted,
        Column("As expected", lambda row: {"reject": "no", "keep": "yes"}.get(row.decision, row.decision)),
        *usual.notes(rows),
    ]


_SECTION = Section(
    order=90,
    test="calibration",
    name="Calibration",
    question="Can the tests be trusted at these sample sizes?",
    verdict=verdict,
    columns=columns,
    method=(
        "Test sets are drawn from a population of which all is known and every test is applied to each of them: all "
        "tests see the same test sets. The rate of rejections is the type I error where neither classifier is better, "
        "the power where one is; the coverage is how often the interval holds the true difference. Where a test "
        "depends on counts alone, its exact rate is summed over all test sets there are, and p tests whether the "
        "simulation agrees with it; elsewhere p tests whether the type I error is above the level, or the coverage "
        "below the confidence, that is stated."
    ),
    source=(
        "Sturm, Comparing two classifiers using a contingency table; Keller, Mariethoz and Bengio, Significance tests "
        "for 'bizarre' measures in 2-class classification tasks, section 5"
    ),
)

SECTIONS = (_SECTION,)
