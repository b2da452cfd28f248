"""Sections on the classifiers that a calibration study trains: confidence stated on their test set, and performance."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sigstats._common.messages import join_words
from sigstats._common.numerals import count_of, percent
from sigstats.tasks.schema import Hypothesis

from ...report import usual_columns as usual
from ...report.evidence import Column, Evidence, Section, Verdict
from ...report.rows import group_by
from ...report.usual_columns import where
from .page import RATE, RATE_INTERVAL, TEST_SETS, rate


def _confidence_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    hypotheses = [row for row in rows if row.statistic is not None]
    if not hypotheses:
        return Verdict("There is no result: comparisons are missing, or both models are equally good on the test set.")
    over, under = (sum(_side_of_interval(row) == sign for row in hypotheses) for sign in (1, -1))
    return Verdict(
        f"Of {count_of(len(hypotheses), 'stated confidence')}, {over} {'is' if over == 1 else 'are'} above and {under} "
        f"{'is' if under == 1 else 'are'} below the interval of what test sets of the same size achieve.",
        tuple(_in_words(row) for row in hypotheses),
    )


def _side_of_interval(row: Hypothesis) -> int:
    """Return 1 if the stated confidence is above the interval of the achieved one, -1 if below, 0 if inside."""
    assert row.statistic is not None
    assert row.estimate_low is not None
    assert row.estimate_high is not None
    return int(row.statistic > row.estimate_high) - int(row.statistic < row.estimate_low)


def _in_words(row: Hypothesis) -> str:
    return (
        f"{where(row)}: {row.method} was {percent(row.statistic or 0)} sure that {row.b} is better in {row.measure}; "
        f"it was better on {percent(rate(row))} of {row.replicates or 0:,} other test sets."
    )


_KELLER = (
    "Keller, Mariethoz and Bengio, Significance tests for 'bizarre' measures in 2-class classification tasks, section 5"
)

_CONFIDENCE = Section(
    order=95,
    test="confidence",
    name="Confidence",
    question="Does the confidence of a test match the agreement of other test sets of the same size?",
    verdict=_confidence_verdict,
    columns=(
        Column("Population", where),
        usual.METHOD.named("Test"),
        usual.MEASURE,
        usual.ROWS.named("Rows", "rows of the test set"),
        usual.B.named("Better", "which of A and B is better on the test set"),
        usual.value("Stated", "statistic", percent, "the test's confidence in that"),
        RATE.named("Achieved", "share of other test sets on which the same one is better"),
        RATE_INTERVAL,
        TEST_SETS,
        usual.NOTE,
    ),
    method=(
        "Both classifiers are trained once and compared on one test set; all rows that neither has seen stand for "
        "the truth. The table compares the confidence of a test on this test set, that the classifier which is "
        "better there is truly better, with the share of other test sets of the same size, drawn from those rows "
        "without replacement, on which the same classifier is better. The stated confidence depends on the test set "
        "and would differ on the next."
    ),
    source=f"{_KELLER} and Table 3",
)


def _trained_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    hypotheses = [row for row in rows if row.estimate is not None]
    if not hypotheses:
        return Verdict("There is no result: no classifier was trained.")
    headline, *others = [
        _better_classifiers(measure or "?", group)
        for measure, group in group_by(hypotheses, lambda row: row.measure).items()
    ]
    return Verdict(headline, (*others, *_chosen_parameters(hypotheses)))


def _better_classifiers(measure: str, rows: Sequence[Hypothesis]) -> str:
    pairs = list(group_by(rows, where).values())
    agreeing = sum((a.statistic > b.statistic) == (a.estimate > b.estimate) for a, b in pairs)  # type: ignore[operator]
    wins = Counter(max(pair, key=rate).classifier or "?" for pair in pairs)
    named = join_words([f"{name} on {count}" for name, count in wins.most_common()])
    return (
        f"By {measure} on the population, the better one is {named} of {count_of(len(pairs), 'population')}; the test "
        f"set agrees on {agreeing}."
    )


def _chosen_parameters(rows: Sequence[Hypothesis]) -> list[str]:
    first = [row for row in rows if row.measure == rows[0].measure and row.method != "as given"]
    sentences = []
    for name, group in group_by(first, lambda row: row.classifier).items():
        counts = Counter(row.method for row in group)
        times = join_words(
            [f"{params} for {count} of {count_of(len(group), 'set')}" for params, count in counts.most_common()]
        )
        sentences.append(f"For {name}, cross-validation of the training rows chose {times}.")
    return sentences


_TRAINED = Section(
    order=96,
    test="trained",
    name="Classifiers",
    question="How good are the classifiers that were trained, and which parameters were chosen?",
    verdict=_trained_verdict,
    columns=(
        Column("Population", where),
        usual.CLASSIFIER,
        replace(
            usual.METHOD.named("Parameters", "chosen by cross-validation of the training rows"),
            needed=lambda rows: any(row.method != "as given" for row in rows),
        ),
        usual.MEASURE,
        usual.ROWS.named("Rows", "rows of the test set"),
        usual.value("Test set", "statistic", percent, "the measure on the test set"),
        usual.value("Population's", "estimate", percent, "the same on all remaining rows"),
    ),
    method=(
        "Both classifiers are trained on the training rows only. If a study gives a grid of parameters, each "
        "combination is cross-validated on the training rows, and the first one with the highest F1 is used for all "
        "classifiers of a set. The table shows the measure on the test set and on all remaining rows, which stand "
        "for the truth."
    ),
    source=_KELLER,
)

SECTIONS = (_CONFIDENCE, _TRAINED)
