"""Tests of a significance study with special verdicts or columns, computed numbers, and the counts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from sigstats.possibilistic_indices import possibility
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.significance import TableTested

from ...pages.heat_table import data_table
from ...pages.wording import NBSP, adjusted_p, index_number, join_words, number, p_at_most
from ...report import sections, verdicts
from ...report import usual_columns as usual
from ...report.evidence import Evidence, Figure, Section, Verdict
from ...report.rows import at_smallest_p, distinct, group_by
from ...report.sections import section_of

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
    section_of("enumeration-size", verdict=_terms_verdict, columns=_TERMS_COLUMNS),
    section_of("monte-carlo-size", verdict=_replicates_verdict, columns=_REPLICATES_COLUMNS),
    _LIKENESS,
)

#: The largest table that is shown; of larger ones, only the size.
_MOST_CLASSES = 6
#: A table of counts, and expected counts under the null hypothesis.
Counts = list[list[int]]
Expected = list[list[float]]


def draw_counts(evidence: Evidence) -> Iterator[Figure]:
    """Return one figure for each test of tables; equal counts share a line."""
    for section in sections.of_study(evidence):
        groups = group_by(evidence.rows_of(section.test), evidence.table_of).values()
        lines = [(rows, counted) for rows in groups if (counted := _counts_of(rows[0], evidence)) is not None]
        if lines:
            yield Figure(
                title=f"{section.name}: the counts, and p by each method",
                caption=(
                    "Observed counts, and counts expected under the null hypothesis given the totals of the test. "
                    "p-values are before adjustment; ● marks those that reject. Only the largest number of "
                    "Monte-Carlo replicates is shown."
                ),
                body=_table([rows for rows, _ in lines], [counted for _, counted in lines]),
            )


def _counts_of(row: Hypothesis, evidence: Evidence) -> tuple[Counts, Expected] | None:
    cells = evidence.cells_of(row)
    if len(cells) != 1 or row.p_value is None:
        return None
    work = cells[0].work
    return counted(work.data) if isinstance(work, TableTested) else None


def counted(data: Mapping[str, Any]) -> tuple[Counts, Expected] | None:
    """Return the observed and expected counts of a test of tables; None for other tests.

    >>> counted({"counts": [8, 2], "probabilities": [0.5, 0.5]})
    ([[8, 2]], [[5.0, 5.0]])
    >>> counted({"counts_a": [9, 1], "counts_b": [5, 5]})
    ([[9, 1], [5, 5]], [[7.0, 3.0], [7.0, 3.0]])
    """
    if "probabilities" in data:
        n = sum(data["counts"])
        return [data["counts"]], [[n * p for p in data["probabilities"]]]
    table = data.get("table") or ([data["counts_a"], data["counts_b"]] if "counts_a" in data else None)
    if table is None:
        return None
    columns, n = [sum(column) for column in zip(*table, strict=True)], sum(map(sum, table))
    return table, [[sum(row) * column / n for column in columns] for row in table]


def _table(groups: Sequence[Sequence[Hypothesis]], tables: Sequence[tuple[Counts, Expected]]) -> Markup:
    methods = distinct(row.method for rows in groups for row in rows)
    known = groups[0][0].test == "likeness"
    columns = {"Table": "row", **({"Like": ""} if known else {}), "Counts": "counts", "Expected": "counts"}
    columns |= dict.fromkeys(("Least expected", *methods), "number")
    rows = [_line(rows, *table, methods, known=known) for rows, table in zip(groups, tables, strict=True)]
    return data_table("counts and p-values", columns, rows, "data")


def _line(
    rows: Sequence[Hypothesis], counts: Counts, expected: Expected, methods: Sequence[str], *, known: bool
) -> list[str]:
    by_method = {row.method: row for row in sorted(rows, key=lambda row: row.replicates or 0)}
    return [
        rows[0].dataset or "",
        *([rows[0].a or ""] if known else []),
        _grid(counts, 0),
        _grid(expected, 1),
        number(min(map(min, expected)), 1),
        *(_p(by_method.get(method)) for method in methods),
    ]


def _grid(table: Sequence[Sequence[float]], decimals: int) -> Markup:
    """Return the numbers of a table, a line for each row; for a large one, its size."""
    if max(len(table), len(table[0])) > _MOST_CLASSES:
        return Markup("{} × {}").format(len(table), len(table[0]))
    return Markup("<br/>").join(" ".join(number(value, decimals) for value in row) for row in table)


def _p(row: Hypothesis | None) -> str:
    if row is None or row.p_value is None:
        return "–"
    shown = p_at_most(row.p_value, at_most=at_smallest_p(row), log10_p=row.log10_p)
    return f"● {shown}" if row.decision == "reject" else shown
