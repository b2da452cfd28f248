"""The tests of a significance study with special verdicts or columns, and numbers that are only computed."""

from collections.abc import Sequence

from sigstats.possibilistic_indices import possibility
from sigstats.tasks.schema import Hypothesis

from ...pages.wording import NBSP, adjusted_p, index_number, join_words
from ...report import sections, verdicts
from ...report import usual_columns as usual
from ...report.evidence import Evidence, Section, Verdict
from ...report.sections import section_of

_OUTCOMES_COLUMNS = (
    *usual.SUBJECT,
    usual.MEASURE,
    usual.OBJECTS,
    *usual.difference("95% percentile interval of the difference"),
    *usual.CLOSING,
)


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


_TERMS_COLUMNS = (
    usual.DATASET,
    usual.OBJECTS,
    usual.value("Tables", "estimate", _WHOLE, "tables of the same margins with at least as many right"),
    *usual.OF_PUBLICATION,
)


def _replicates_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    sizes = [f"{row.estimate:,.0f} replicates at {row.dataset}" for row in rows if row.estimate is not None]
    return Verdict(f"A Monte-Carlo test should have at least {join_words(sizes)}." if sizes else "There is no result.")


_REPLICATES_COLUMNS = (
    usual.DATASET.named("Level"), usual.value("Replicates", "estimate", _WHOLE), *usual.OF_PUBLICATION,
)  # fmt: skip

#: What the indices say, for who has not met them (Hryniewicz, eq. 22 to 28).
_INDICES = (
    "From 0, not at all, to 1, fully: PD is how far the data leave possible that one of two hypotheses is no worse a "
    "choice than the other, PSD how far they leave possible that it is the better choice, NSD how far they make that "
    "certain. A PD behind a p-value is that of being like this algorithm, against not being like it."
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
    """The verdict on which of two known algorithms the new one is closer to, with the indices of eq. 25 to 27."""
    pd, psd, nsd = (index_number(value or 0) for value in (row.pd, row.psd, row.nsd))
    indices = f"PD{NBSP}{pd}, PSD{NBSP}{psd}, NSD{NBSP}{nsd}"
    shown = "the data show that it is closer" if row.nsd else "it is not shown to be closer"
    return f"{shown} to {row.a} than to {row.b} ({indices})"


_LIKENESS_COLUMNS = (
    usual.DATASET,
    usual.A.named("Like"),
    usual.B.named("Rival", "the most plausible of the others"),
    usual.SUBJECT[-1],
    usual.OBJECTS,
    *usual.CLOSING,
)

_LIKENESS = Section(
    order=70,
    test="likeness",
    name="Likeness",
    question="Which known algorithm is the new one like?",
    verdict=_likeness_verdict,
    columns=_LIKENESS_COLUMNS,
    method=(
        "The new algorithm's counts are tested against the class probabilities of each known one, and each hypothesis "
        "is compared with the most plausible of the others by its possibilistic indices, which speak of the two "
        "hypotheses alone: PD of 1 says that the rival is not the better choice for certain, PSD above 0 that the data "
        "may speak for the one rather than the other, NSD above 0 that they do. The PD behind a known algorithm's p is "
        "that of being like it at all, against its complement: min(1, 2p). If all are rejected, the answer is: like "
        "none of them."
    ),
    source="Hryniewicz, Possibilistic methodology for the evaluation of classification algorithms, equations 25 to 27",
    terms=_INDICES,
)

SECTIONS = (
    section_of(
        "joint-outcomes",
        verdict=lambda rows, evidence: sections.verdict(rows, evidence, by=rows[0].method),
        columns=_OUTCOMES_COLUMNS,
    ),
    section_of("enumeration-size", verdict=_terms_verdict, columns=_TERMS_COLUMNS),
    section_of("monte-carlo-size", verdict=_replicates_verdict, columns=_REPLICATES_COLUMNS),
    _LIKENESS,
)
