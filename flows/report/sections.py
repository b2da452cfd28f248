"""The sections of the report, one for each test; most tests need only the words of their record.

Here are also those of tests that several kinds of study share: Nyssen's test of accuracy, and tests of models on data
sets like these (mean ranks, Friedman's test, and signed-rank tests of pairs).
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sigstats._common.messages import join_words
from sigstats._common.numerals import NBSP, adjusted_p, both_ends, count_of, number, percent, signed, significant
from sigstats.multiplicity import IN_WORDS
from sigstats.sequential.gandy_rule import GandyRule
from sigstats.sequential.joint_rule import JointRule
from sigstats.sequential.precision_rules import PrecisePRule
from sigstats.sequential.rules import FixedRule
from sigstats.tasks import statistical_tests
from sigstats.tasks.schema import Hypothesis

from . import usual_columns as usual
from . import verdicts
from .evidence import Column, Evidence, Section, Verdict
from .rows import distinct, group_by, is_proportion, not_rejected, primary_rows, rejected


def of_study(evidence: Evidence) -> list[Section]:
    """Return the sections of a study: one for each of its tests."""
    every = [section for name in evidence.page.sections for section in importlib.import_module(name).SECTIONS]
    ready = [section for section in every if section.test in evidence.tests]
    covered = {section.test for section in ready}
    plain = [section_without_module(name) for name in evidence.tests if name not in covered]
    return sorted([*ready, *plain], key=lambda section: section.order)


def section_of(
    name: str, *, verdict: Callable[[Sequence[Hypothesis], Evidence], Verdict], columns: Sequence[Column]
) -> Section:
    """Return the section of a test of `sigstats.tasks.statistical_tests`, in the words of its record."""
    test = statistical_tests.named(name)
    return Section(
        order=test.order,
        test=name,
        name=test.label,
        question=test.question,
        verdict=verdict,
        columns=columns,
        method=test.words,
        source=test.source,
        terms=test.terms,
        unit=test.unit,
    )


def caveat(name: str) -> str:
    """Return the assumptions of a test that cross-validated runs do not meet."""
    runs = statistical_tests.of_runs(name)
    return "" if runs is None else runs.caveat


def verdict(rows: Sequence[Hypothesis], evidence: Evidence, *, by: str = "") -> Verdict:
    """Count the tables with a rejection, then name those without; tables with equal counts are one."""
    test = statistical_tests.named(rows[0].test)
    claim, by = test.claim, by or test.by or test.label
    what = "table" if evidence.of_tables or any(row.a or row.classifier for row in rows) else "data set"
    first = [group[0] for group in group_by(primary_rows(rows), evidence.table_of).values()]
    spared = savings(rows, evidence, replicates="replicates")
    sure, unsure = rejected(first), not_rejected(first)
    total, name = len(sure) + len(unsure), adjusted_p(evidence.adjust)
    if not total:
        return Verdict(f"There is no result: every hypothesis of this test ({by}) is missing.")
    if not sure:
        where = "" if total == 1 else f" in any of {count_of(total, what)}"
        return Verdict(f"It was not shown that {claim}{where} ({by}, {verdicts.smallest_p(unsure, name)}).", spared)
    sentence = f"({by}, {verdicts.largest_p(sure, name)})"
    if total == 1:
        return Verdict(f"{claim[0].upper()}{claim[1:]} {sentence}.", spared)
    share = f"all {total}" if not unsure else f"{len(sure)} of {total}"
    details = [
        f"{subject_in_words(row)}: not shown ({verdicts.decision_p_in_words(row, verdicts.p_name(evidence))})."
        for row in unsure
    ]
    return Verdict(f"In {share} {what}s {claim} {sentence}.", (*spared, *details))


def subject_in_words(row: Hypothesis) -> str:
    """Return the subject of a row: ``table 9 (Bayes and CRT)``."""
    pair = " and ".join(name for name in (row.a, row.b) if name)
    name = row.dataset or row.classifier or "the table"
    return f"{name} ({pair})" if pair else name


def savings(rows: Sequence[Hypothesis], evidence: Evidence, *, replicates: str = "permutations") -> tuple[str, ...]:
    """Return the saved share of the work and the certainty of the decisions; empty if no cell has a rule."""
    cells = [(row, evidence.cells[row.cell]) for row in rows if row.replicates and row.cell in evidence.cells]
    ruled = [(row.replicates or 0, cell) for row, cell in cells if cell.stopping is not None]
    if not ruled:
        return ()
    early = sum(counts < cell.replicates for counts, cell in ruled)
    run, most = sum(counts for counts, _ in ruled), sum(cell.replicates for _, cell in ruled)
    saving = (
        f"Sequential stopping ended {early} of {count_of(len(ruled), 'test')} early: of {most:,} {replicates}, {run:,} "
        f"were needed ({percent(run / most)})."
    )
    return (saving, *distinct(_promise(cell.rule, evidence, replicates) for _, cell in ruled))


def _promise(rule: FixedRule, evidence: Evidence, replicates: str) -> str:
    if isinstance(rule, GandyRule):
        raw = evidence.adjust != "none" and rule.rejection_level == rule.alpha
        what = f"whether p, before adjustment, is at most {significant(rule.alpha)}" if raw else "its decision"
        return (
            f"Gandy's rule ends a test once {what} is certain: with probability at most {significant(rule.risk)} "
            f"infinitely many {replicates} would decide otherwise."
        )
    if isinstance(rule, JointRule):
        return (
            f"A test ended once it was rejected together with others (p {IN_WORDS[rule.adjust]}), or once it had more "
            f"{replicates} as extreme as observed than tests at the level of rejection were likely to have by then; "
            f"its p is valid, and would only fall with more {replicates}."
        )
    if isinstance(rule, PrecisePRule):
        error = significant(rule.error)
        return f"A test ended where p was known to a Monte-Carlo standard error of {error}; its p is valid."
    return (
        "Besag and Clifford's rule ends a test where its p can no longer become small enough: every decision is the "
        f"one that all {replicates} would give."
    )


_BETTER = {"greater": "A is better", "less": "B is better"}


def section_without_module(name: str) -> Section:
    """Return the section of a test without a module, by its record if it has one."""
    test = statistical_tests.find(name)
    if test is None:
        return replace(_PLAIN, test=name, name=name, question=name)
    columns = (*usual.SUBJECT, _SIDE, usual.OBJECTS if test.claim else usual.ROWS, *_DIFFERENCE, *usual.CLOSING)
    return section_of(name, verdict=_verdict_of_record, columns=columns)


def _verdict_of_record(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Return the number of tables or data sets with a rejection; for pairs, how many differ and which one is better."""
    test = statistical_tests.named(rows[0].test)
    by = test.by or test.label
    value = verdict(rows, evidence) if test.claim else verdicts.verdict(rows, evidence, by=by)
    return value if evidence.of_tables else replace(value, caveat=caveat(rows[0].test))


_SIDE = Column(
    "Alternative",
    lambda row: _BETTER.get(row.alternative, row.alternative),
    needed=lambda rows: any(row.alternative in _BETTER and row.b for row in rows),
)


def _has_proportions(rows: Sequence[Hypothesis]) -> bool:
    return any(map(is_proportion, rows))


_DIFFERENCE = (
    *(replace(one, needed=_has_proportions) for one in verdicts.in_points("95% interval of the difference (Tango)")),
    *(
        replace(one, needed=lambda rows: not _has_proportions(rows))
        for one in usual.difference("95% interval of the difference")
    ),
)


def _verdict(rows: Sequence[Hypothesis], _evidence: Evidence) -> Verdict:
    decided = len(rejected(rows)) + len(not_rejected(rows))
    nulls = "; ".join(dict.fromkeys(row.null_hypothesis for row in rows))
    return Verdict(f"Rejected in {len(rejected(rows))} of {count_of(decided, 'test')}: {nulls}.")


_EVERY_COLUMN = (
    usual.DATASET, usual.SLICE, usual.CLASSIFIER, usual.A, usual.B, usual.MEASURE, usual.ROWS,
    usual.estimate("Estimate"), usual.INTERVAL, usual.null_mean("Under the null"), *usual.CLOSING,
)  # fmt: skip
_PLAIN = Section(order=1000, test="", name="", question="", verdict=_verdict, columns=_EVERY_COLUMN, method="")


def _efficiency_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    if all(row.classifier is None for row in rows):
        return verdict(rows, evidence)
    claim = "agreed with the true classes better than chance"
    headline = verdicts.headline(rows, evidence, claim=claim, by=statistical_tests.named(rows[0].test).by)
    doubts = verdicts.sentences_on_retained(rows, "could not be distinguished from random assignment", evidence)
    return Verdict(headline, tuple(doubts), caveat("efficiency"))


_EFFICIENCY_COLUMNS = usual.case_columns(
    usual.estimate("Accuracy", "share of right predictions, observed"),
    usual.null_mean("Chance", "mean accuracy of random assignment with the same margins"),
)

_RANK = partial(number, decimals=2)
_DATA_SETS = usual.ROWS.named("Data sets", "data sets with a score of every model")


def _ranks_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    ranked = sorted((row.estimate, row.classifier or "?") for row in rows if row.estimate is not None)
    named = join_words([f"{name} {_RANK(rank)}" for rank, name in ranked])
    return Verdict(f"Mean ranks on {rows[0].n} data sets: {named}." if ranked else "There is no result.")


_RANK_COLUMNS = (usual.CLASSIFIER, _DATA_SETS, usual.value("Mean rank", "estimate", _RANK, "1 is the best"), usual.NOTE)
_FRIEDMAN_COLUMNS = (
    *usual.SUBJECT, _DATA_SETS, usual.value("F", "statistic", partial(number, decimals=4)), *usual.CLOSING,
)  # fmt: skip
SIGNED_RANK_INTERVAL = usual.interval_by(
    lambda row, low, high: " to ".join(both_ends(low, high, signed, 4)).replace("inf", "∞"),
    "of this difference, by the signed-rank test",
)
_SIGNED_RANK_COLUMNS = (
    *usual.SUBJECT,
    usual.ROWS.named("Data sets", "data sets with a score of both models"),
    usual.value(
        f"A{NBSP}−{NBSP}B",
        "estimate",
        partial(signed, decimals=4),
        "Hodges and Lehmann's estimate of the score of A minus that of B; with the opposite sign if less is better",
    ),
    SIGNED_RANK_INTERVAL,
    *usual.CLOSING,
)

SECTIONS = (
    section_of("efficiency", verdict=_efficiency_verdict, columns=_EFFICIENCY_COLUMNS),
    Section(
        order=9,
        test="mean-rank",
        name="Mean ranks",
        question="How do the classifiers rank over the data sets?",
        verdict=_ranks_verdict,
        columns=_RANK_COLUMNS,
        method="On each data set the classifiers are ranked by accuracy, 1 for the best; ties share their ranks.",
        source="Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006)",
    ),
    section_of("friedman", verdict=verdict, columns=_FRIEDMAN_COLUMNS),
    section_of("signed-rank", verdict=partial(verdicts.verdict, by="signed ranks"), columns=_SIGNED_RANK_COLUMNS),
)
