"""Likeness: which of several known algorithms a new one is like."""

from collections.abc import Sequence

from sigstats.possibilistic_indices import possibility
from sigstats.tasks.schema import Hypothesis

from ...pages.wording import NBSP, adjusted_p, index_number, join_words
from .. import usual_columns as usual
from ..evidence import Evidence
from ..section import Column, Section, Verdict
from . import _verdicts

#: What the indices say, for who has not met them (Hryniewicz, eq. 22 to 28).
_INDICES = (
    "From 0, not at all, to 1, fully: PD is how far the data leave possible that one of two hypotheses is no worse a "
    "choice than the other, PSD how far they leave possible that it is the better choice, NSD how far they make that "
    "certain. A PD behind a p-value is that of being like this algorithm, against not being like it."
)


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """For each table which known algorithms are rejected, and which is the closest, with its indices."""
    groups = _verdicts.by_dataset([row for row in rows if row.pd is not None and row.method == rows[0].method])
    if not groups:
        return Verdict("There is no result: every comparison is missing.")
    sentences = [_on(dataset, group, evidence) for dataset, group in groups.items()]
    return Verdict(sentences[0], tuple(sentences[1:]))


def _on(dataset: str, rows: Sequence[Hypothesis], evidence: Evidence) -> str:
    name = adjusted_p(evidence.adjust)
    first, *others = sorted(rows, key=lambda row: -(row.p_value or 0))
    # PD of one is how possible it is at all to be like it: eq. (29), against the complement.
    pds = [f"PD{NBSP}{index_number(possibility(row.p_value or 0).pd)}" for row in (first, *others)]
    named = zip((first, *others), pds, strict=True)
    ranks = join_words([f"{row.a} ({_verdicts.decision_p_in_words(row, name)}, {pd})" for row, pd in named])
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
    """Whether the new algorithm is closer to one known algorithm than to another, with the indices of eq. 25 to 27."""
    pd, psd, nsd = (index_number(value or 0) for value in (row.pd, row.psd, row.nsd))
    indices = f"PD{NBSP}{pd}, PSD{NBSP}{psd}, NSD{NBSP}{nsd}"
    shown = "the data show that it is closer" if row.nsd else "it is not shown to be closer"
    return f"{shown} to {row.a} than to {row.b} ({indices})"


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The known algorithm, its rival, and the table's size."""
    names = [usual.A.named("Like"), usual.B.named("Rival", "the most plausible of the others")]
    method = [usual.METHOD] if len({row.method for row in rows}) > 1 else []
    return [usual.DATASET, *names, *method, usual.OBJECTS, *usual.closing_columns(rows)]


_SECTION = Section(
    order=70,
    test="likeness",
    name="Likeness",
    question="Which known algorithm is the new one like?",
    verdict=verdict,
    columns=columns,
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

SECTIONS = (_SECTION,)
