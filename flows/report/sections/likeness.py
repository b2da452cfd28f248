"""Likeness: which of several known algorithms a new one is like."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence
from ..section import Column, Section, Verdict
from ..wording import NBSP, adjusted_p, index_number, join_words
from . import _cases, _columns


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """For each table which known algorithms are rejected, and which is the closest, with its indices."""
    groups = _cases.by_dataset([row for row in rows if row.pd is not None and row.method == rows[0].method])
    if not groups:
        return Verdict("There is no result: every comparison is missing.")
    sentences = [_on(dataset, group, evidence) for dataset, group in groups.items()]
    return Verdict(sentences[0], tuple(sentences[1:]))


def _on(dataset: str, rows: Sequence[Hypothesis], evidence: Evidence) -> str:
    first, *others = sorted(rows, key=lambda row: -(row.p_value or 0))
    ranks = join_words([f"{row.a} ({_p(row, evidence)})" for row in (first, *others)])
    pd, psd, nsd = (index_number(value or 0) for value in (first.pd, first.psd, first.nsd))
    indices = f"{first.a} rather than {first.b}: PD{NBSP}{pd}, PSD{NBSP}{psd}, NSD{NBSP}{nsd}"
    if first.decision == "reject":
        return (
            f"{dataset}: the new algorithm is like none of the known ones; the test rejects {ranks}. {first.a} is the "
            f"closest, yet rejected too ({indices})."
        )
    refused = [row.a or "?" for row in others if row.decision == "reject"]
    rest = f"; {join_words(refused)} {'is' if len(refused) == 1 else 'are'} rejected" if refused else ""
    return (
        f"{dataset}: the new algorithm is not shown to differ from {first.a}{rest}. Closest first: {ranks} ({indices})."
    )


def _p(row: Hypothesis, evidence: Evidence) -> str:
    return _cases.decision_p_in_words(row, adjusted_p(evidence.adjust))


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The known algorithm, its rival, and the table's size."""
    names = [
        Column("Like", _columns.A.text),
        Column("Rival", _columns.B.text, meaning="the most plausible of the others"),
    ]
    method = [_columns.METHOD] if len({row.method for row in rows}) > 1 else []
    return [_columns.DATASET, *names, *method, _columns.OBJECTS, *_columns.closing_columns(rows)]


SECTION = Section(
    order=70,
    test="likeness",
    name="Likeness",
    question="Which known algorithm is the new one like?",
    verdict=verdict,
    columns=columns,
    method=(
        "The new algorithm's counts are tested against the class probabilities of each known one, and each hypothesis "
        "is compared with the most plausible of the others by its possibilistic indices: PSD above 0 says that the "
        "data may speak for it, NSD above 0 that they do."
    ),
    source="Hryniewicz, Possibilistic methodology for the evaluation of classification algorithms, equations 25 to 27",
)
