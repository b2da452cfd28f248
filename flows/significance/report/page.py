"""The page of a significance study: models over data sets, and agreement of approximate with exact methods."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sigstats.many_datasets.comparison import compare_over_datasets
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.significance import TableTested

from ...pages.wording import count_of, join_words
from ...report import heat_tables, sections, verdicts
from ...report import over_data_sets as data_sets
from ...report.evidence import RESAMPLES, SEED, Evidence, KindPage, OverDataSets, Particulars, Score, Verdict
from ...report.rows import group_by
from . import tables

_METHOD = (
    "Exact signed-rank tests use one difference of scores from each data set. The data sets are treated as a sample "
    "of data sets like them, and the random error of each score is unknown. Probabilities are those of the Bayesian "
    "signed-rank test; differences of at most {equal} count as equal in practice. If less is better, the sign of "
    "differences is reversed, so that greater is better."
)


def over_data_sets(evidence: Evidence) -> OverDataSets | None:
    """The analysis; None if there is no table of scores."""
    columns: dict[str, list[float]] = {}
    options: Mapping[str, Any] = {}
    for cell in evidence.results.cells("evaluate", test="signed-rank"):
        options = cell.work_of(TableTested).data
        columns |= {cell.subject["a"]: options["a"], cell.subject["b"]: options["b"]}
    if not columns:
        return None
    scores, names = np.array(list(columns.values()), dtype=np.float64).T, list(columns)
    score = Score(
        "score", "model", in_percent=False, rope=options["rope"], greater_is_better=options["greater_is_better"]
    )
    comparison = compare_over_datasets(
        scores,
        models=names,
        missing="pairs",
        control=options["control"],
        adjust=evidence.results.plan.adjust,
        alpha=evidence.alpha,
        rope=score.rope,
        greater_is_better=score.greater_is_better,
        n_resamples=RESAMPLES,
        rng=SEED,
    )
    means = dict(zip(names, np.nanmean(scores, axis=0).tolist(), strict=True))
    return OverDataSets(comparison, score, means, _METHOD.format(equal=score.equal))


_APPROXIMATE = {"chi2": "chi-square", "likelihood-ratio": "the likelihood ratio"}


def approximations(evidence: Evidence) -> Verdict | None:
    """Judge approximate p-values that are below the exact one or decide otherwise; None if no test has both."""
    sentences, others = [], []
    names = {section.test: section.name for section in sections.of_study(evidence)}
    for test in evidence.tests:
        tables = [
            {row.method: row for row in reversed(rows) if row.p_value is not None}
            for rows in group_by(evidence.rows_of(test), evidence.table_of).values()
        ]
        for method, name in _APPROXIMATE.items():
            pairs = [(rows["exact"], rows[method]) for rows in tables if "exact" in rows and method in rows]
            if not pairs:
                continue
            sentences.append(_compared_with_exact(f"{names[test]}: the p-value of {name}", pairs))
            others += [
                _in_words(exact, pair, name, verdicts.p_name(evidence))
                for exact, pair in pairs
                if exact.decision != pair.decision
            ]
    if not sentences:
        return None
    return Verdict(sentences[0], (*sentences[1:], *others))


def _compared_with_exact(subject: str, pairs: Sequence[tuple[Hypothesis, Hypothesis]]) -> str:
    pvalues = [(exact.p_value or 0.0, pair.p_value or 0.0) for exact, pair in pairs]
    below = [(exact, pvalue) for exact, pvalue in pvalues if pvalue < exact]
    share = f"below the exact one in {len(below)} of {count_of(len(pairs), 'table')}"
    if len(below) == len(pairs):
        share = "below the exact one in " + (f"all {len(pairs)} tables" if len(pairs) > 1 else "the one table")
    most = max((exact / value for exact, value in below if value), default=1.0)
    factor = f", by a factor of up to {most:.2g}" if most >= 1.05 else ""
    otherwise = sum(exact.decision != pair.decision for exact, pair in pairs)
    return f"{subject} is {share}{factor}; it decides otherwise in {otherwise or 'none'}."


def _in_words(exact: Hypothesis, hypothesis: Hypothesis, name: str, p_name: str) -> str:
    verbs = {"reject": "rejects", "keep": "does not reject"}
    clauses = [
        f"{who} {verbs.get(row.decision, row.decision)} ({verdicts.decision_p_in_words(row, p_name)})"
        for who, row in (("the exact test", exact), (name, hypothesis))
    ]
    return f"{sections.subject_in_words(exact)}: {join_words(clauses)}."


PAGE = KindPage(
    sections={
        "sigstats.flows.report.sections": ("efficiency", "friedman", "signed-rank"),
        "sigstats.flows.significance.report.tables":
            ("enumeration-size", "joint-outcomes", "likeness", "monte-carlo-size"),
    },
    figures=(
        data_sets.draw_ranks,
        data_sets.draw_pairs,
        heat_tables.draw_classifiers,
        tables.draw_counts,
        heat_tables.draw_pairs,
    ),
    particulars=lambda evidence: Particulars(
        last=[("Do approximations agree with the exact tests?", approximations(evidence), "")]
    ),
    over_data_sets=over_data_sets,
    table=lambda cell: cell.work_of(TableTested).data,
)  # fmt: skip
