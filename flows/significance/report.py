"""The page of a significance study: its tests and counts, models over data sets, and approximate methods."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sigstats._common.messages import join_words
from sigstats._common.numerals import NBSP, adjusted_p, count_of, index_number
from sigstats.many_datasets.comparison import compare_over_datasets
from sigstats.possibilistic_indices import possibility
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.significance import TableTested

from ..report import heat_tables, sections, verdicts
from ..report import over_data_sets as data_sets
from ..report import usual_columns as usual
from ..report.evidence import (
    RESAMPLES,
    SEED,
    Evidence,
    KindPage,
    OverDataSets,
    Particulars,
    Score,
    Section,
    Verdict,
)
from ..report.rows import group_by
from ..report.sections import section_of
from . import counts

_WHOLE = "{:,.0f}".format


def _terms_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    ordered = sorted((row for row in rows if row.estimate is not None), key=lambda row: -(row.estimate or 0))
    if not ordered:
        return Verdict("There is no result.")
    most = ordered[0]
    lines = tuple(f"{row.dataset}: {row.estimate:,.0f} tables." for row in rows if row.estimate is not None)
    return Verdict(
        f"Up to {most.estimate:,.0f} tables ({most.dataset}) would have to be listed; the exact test lists none.",
        lines if len(lines) > 1 else (),
    )


def _replicates_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    sizes = [f"{row.estimate:,.0f} replicates at {row.dataset}" for row in rows if row.estimate is not None]
    return Verdict(f"A Monte-Carlo test should have at least {join_words(sizes)}." if sizes else "There is no result.")


#: Explanation of the indices (Hryniewicz, eq. 22 to 28).
_INDICES = (
    "From 0 (not at all) to 1 (fully): PD is the degree to which the data leave it possible that one of two "
    "hypotheses is no worse a choice than the other, PSD that it is the better choice, and NSD the degree to which "
    "they make that certain. A PD after a p-value compares being like this algorithm with not being like it."
)


def _likeness_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    groups = verdicts.by_dataset([row for row in rows if row.pd is not None and row.method == rows[0].method])
    if not groups:
        return Verdict("There is no result: every comparison is missing.")
    sentences = [_like(dataset, group, evidence) for dataset, group in groups.items()]
    return Verdict(sentences[0], tuple(sentences[1:]))


def _like(dataset: str, rows: Sequence[Hypothesis], evidence: Evidence) -> str:
    name = adjusted_p(evidence.adjust)
    first, *others = sorted(rows, key=lambda row: -(row.p_value or 0))
    # PD of one is how possible it is at all to be like it: eq. (29), against the complement.
    pds = [f"PD{NBSP}{index_number(possibility(row.p_value or 0).pd)}" for row in (first, *others)]
    named = zip((first, *others), pds, strict=True)
    ranks = join_words([f"{row.a} ({verdicts.decision_p_in_words(row, name)}, {pd})" for row, pd in named])
    closer = _closer(first)
    if first.decision == "reject":
        return (
            f"{dataset}: the new algorithm is like none of the known ones; the test rejects {ranks}. {first.a} is the "
            f"closest, yet rejected too; {closer}."
        )
    refused = [row.a or "?" for row in others if row.decision == "reject"]
    rest = f"; {join_words(refused)} {'is' if len(refused) == 1 else 'are'} rejected" if refused else ""
    return (
        f"{dataset}: the new algorithm is not shown to differ from {first.a}{rest}. Closest first: {ranks}; {closer}."
    )


def _closer(row: Hypothesis) -> str:
    """State which of two known algorithms the new one is closer to, with the indices of eq. 25 to 27."""
    pd, psd, nsd = (index_number(value or 0) for value in (row.pd, row.psd, row.nsd))
    indices = f"PD{NBSP}{pd}, PSD{NBSP}{psd}, NSD{NBSP}{nsd}"
    shown = "the data show that it is closer" if row.nsd else "it is not shown to be closer"
    return f"{shown} to {row.a} than to {row.b} ({indices})"


_LIKENESS = Section(
    order=70,
    test="likeness",
    name="Likeness",
    question="Which known algorithm is the new one like?",
    verdict=_likeness_verdict,
    columns=(
        usual.DATASET,
        usual.A.named("Like"),
        usual.B.named("Rival", "the most plausible of the others"),
        usual.SUBJECT[-1],
        usual.OBJECTS,
        *usual.CLOSING,
    ),
    method=(
        "The new algorithm's counts are tested against the class probabilities of each known one, and each "
        "hypothesis is compared with the most plausible of the others by its possibilistic indices, which concern "
        "only these two hypotheses: a PD of 1 means that the rival is not certainly the better choice, a PSD above 0 "
        "that the data may support the hypothesis rather than its rival, and an NSD above 0 that they do. The PD "
        "after a known algorithm's p compares being like it at all with the complement: min(1, 2p). If all are "
        "rejected, the answer is: like none of them."
    ),
    source="Hryniewicz, Possibilistic methodology for the evaluation of classification algorithms, equations 25 to 27",
    terms=_INDICES,
)

SECTIONS = (
    section_of(
        "joint-outcomes",
        verdict=lambda rows, evidence: sections.verdict(rows, evidence, by=rows[0].method),
        columns=(
            *usual.SUBJECT,
            usual.MEASURE,
            usual.OBJECTS,
            *usual.difference("95% percentile interval of the difference"),
            *usual.CLOSING,
        ),
    ),
    section_of(
        "enumeration-size",
        verdict=_terms_verdict,
        columns=(
            usual.DATASET,
            usual.OBJECTS,
            usual.value("Tables", "estimate", _WHOLE, "tables of the same margins with at least as many right"),
            *usual.OF_PUBLICATION,
        ),
    ),
    section_of(
        "monte-carlo-size",
        verdict=_replicates_verdict,
        columns=(usual.DATASET.named("Level"), usual.value("Replicates", "estimate", _WHOLE), *usual.OF_PUBLICATION),
    ),
    _LIKENESS,
)


_METHOD = (
    "Exact signed-rank tests use one difference of scores from each data set. The data sets are treated as a sample "
    "of data sets like them, and the random error of each score is unknown. Probabilities are those of the Bayesian "
    "signed-rank test; differences of at most {equal} count as equal in practice. If less is better, the sign of "
    "differences is reversed, so that greater is better."
)


def over_data_sets(evidence: Evidence) -> OverDataSets | None:
    """Return the analysis; None if there is no table of scores."""
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
    sections=("sigstats.flows.report.sections", "sigstats.flows.significance.report"),
    figures=(
        data_sets.draw_ranks,
        data_sets.draw_pairs,
        heat_tables.draw_classifiers,
        counts.draw_counts,
        heat_tables.draw_pairs,
    ),
    particulars=lambda evidence: Particulars(
        last=[("Do approximations agree with the exact tests?", approximations(evidence), "")]
    ),
    over_data_sets=over_data_sets,
    table=lambda cell: cell.work_of(TableTested).data,
)
