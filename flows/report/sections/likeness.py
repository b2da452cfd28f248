"""Likeness: which of several known algorithms a new one is like."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence
from ..section import Column, Section, Verdict
from ..wording import NBSP, index_number, listed
from . import _cases, _columns


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    """The most similar known algorithm of each table, and how much that is worth."""
    groups = _cases.by_dataset([row for row in rows if row.pd is not None and row.method == rows[0].method])
    if not groups:
        return Verdict("There is no result: every comparison is missing.")
    sentences = [_of(dataset, group) for dataset, group in groups.items()]
    return Verdict(sentences[0], tuple(sentences[1:]))


def _of(dataset: str, rows: Sequence[Hypothesis]) -> str:
    first, *others = sorted(rows, key=lambda row: -(row.p_value or 0))
    than = listed([f"{row.a} ({_cases.decisive_p(row)})" for row in others])
    psd, nsd = (index_number(value or 0) for value in (first.psd, first.nsd))
    return (
        f"{dataset}: closest to {first.a} ({_cases.decisive_p(first)}), then {than}; that it is like {first.a} rather "
        f"than {first.b} is possible to{NBSP}{psd} and necessary to{NBSP}{nsd}."
    )


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The known algorithm, its rival, and the table's size."""
    names = [
        Column("Like", _columns.A.text),
        Column("Rival", _columns.B.text, meaning="the most plausible of the others"),
    ]
    method = [_columns.METHOD] if len({row.method for row in rows}) > 1 else []
    return [_columns.DATASET, *names, *method, _columns.OBJECTS, *_columns.tail(rows)]


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
