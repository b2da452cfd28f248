"""The report: one page of HTML that holds everything it needs, made from the summary and the replicates alone.

What it says of a test is a module of `sigstats.flows.report.sections`, a figure is a module of
`sigstats.flows.report.figures`, how it looks is in `sigstats.flows.pages`. Equal results give an equal page, byte for
byte: nothing of the time, the machine or the order of completion enters it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sigstats.tasks.results import Results
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.storage.store import Store

from ..pages.page import page
from ..pages.wording import adjusted_p, count_of, significant
from . import figures, sections
from .design import design
from .evidence import Evidence, distinct
from .performance import accuracy_panels, performance, performances
from .problems import problems, read_failures, shortfall
from .section import Column, Section


def render(
    results: Results,
    *,
    config: Mapping[str, Any],
    versions: Mapping[str, str],
    failures: Sequence[Mapping[str, str]] = (),
    fingerprint: str = "",
) -> str:
    """The report of a study.

    `results`: a plan, a summary, and what replicates there are.
    `config`: the resolved configuration.
    `versions`: the versions of the programs that made the results.
    `failures`: blocks that failed, each with ``cell`` (or a ``block`` that starts with its name), ``error``,
    ``message`` and ``traceback``. One whose cell is complete by now is passed over.
    `fingerprint`: the identity of the study.

    Returns HTML that needs no network.
    """
    evidence = Evidence(results)
    used, measured = sections.of(evidence), performances(evidence)
    return page(
        "report.html.j2",
        plan=results.plan,
        alpha=significant(evidence.alpha),
        subtitle=_subtitle(evidence),
        design=design(evidence),
        problems=problems(evidence, failures),
        shortfall=shortfall(evidence),
        over_data_sets=sections.over_data_sets(evidence),
        over_data_sets_method=sections.over_data_sets_method(evidence),
        verdicts=[(section, section.verdict(evidence.of(section.test), evidence)) for section in used],
        methods=[(section, section.method_of(evidence.of(section.test))) for section in used],
        transforms=_transforms(evidence),
        performance=performance(measured),
        accuracies=accuracy_panels(measured),
        approximations=sections.approximations(evidence),
        printed=sections.printed_numbers(evidence),
        figures=figures.draw_all(evidence),
        tables=[table_of(section, evidence) for section in used],
        config=config_as_toml(config),
        versions=dict(sorted(versions.items())),
        fingerprint=fingerprint,
        seeds=distinct(cell.seed for cell in results.plan.cells),
        adjusted=adjusted_p(results.plan.adjust),
    )


def write_report(store: Store) -> str:
    """Write ``report.html`` from what the store holds; return its location.

    Raises FileNotFoundError if the study has no summary yet. Raises sigstats.tasks.storage.seal.Damaged if the plan,
    the summary or the configuration cannot be used.
    """
    study = store.read_json("study.json")
    page = render(
        Results(store),
        config=study.get("study", {}),
        versions=study.get("versions", {}),
        failures=read_failures(store),
        fingerprint=str(study.get("fingerprint", "")),
    )
    store.files.write("report.html", page.encode("utf-8", "replace"))
    return f"{store.root.rstrip('/')}/report.html"


def config_as_toml(config: Mapping[str, Any]) -> str:
    """A configuration as the TOML text that gives it again: what is None, which TOML lacks, is left out."""
    ordered = {key: config[key] for key in sorted(config, key=_first_things_first)}
    import tomlkit

    return tomlkit.dumps(_without_none(ordered)).strip()


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(one) for key, one in value.items() if one is not None}
    if isinstance(value, (list, tuple)):
        return [_without_none(one) for one in value if one is not None]
    return value


def _transforms(evidence: Evidence) -> str:
    """Which rows scales and the like were learned on, where classifiers were trained."""
    if not any(cell.fanout == "crossval" for cell in evidence.results.plan.cells):
        return ""
    if evidence.transforms_on_all_rows:
        return (
            "Scales, categories and imputed values were learned once on all rows, without their labels. The "
            "permutation tests are valid all the same, since permuting commutes with it; the errors may be slightly "
            "optimistic."
        )
    return "Scales, categories and imputed values were learned on each training fold alone."


def _subtitle(evidence: Evidence) -> str:
    rows = evidence.rows
    parts = [
        count_of(len(distinct(row.dataset for row in rows)), "table" if evidence.of_tables else "data set"),
        count_of(len(distinct(name for row in rows for name in (row.classifier, row.a, row.b))), "classifier"),
        count_of(len(rows), "hypothesis", "hypotheses"),
    ]
    return ", ".join(part for part in parts if not part.startswith("0 "))


def _first_things_first(key: str) -> tuple[int, str]:
    first = ("kind", "name", "seed")
    return (first.index(key) if key in first else len(first), key)


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    #: What the column is sorted by; empty for the text.
    key: str = ""
    #: What a pointer over it shows.
    hint: str = ""


@dataclass(frozen=True)
class Table:
    """The table of a test."""

    section: Section
    heading: str
    columns: Sequence[Column]
    rows: list[list[Cell]]
    #: The sentences to which numbers in the cells refer, from 1.
    notes: tuple[str, ...]


def table_of(section: Section, evidence: Evidence) -> Table:
    """The table of a section's hypotheses."""
    rows = evidence.of(section.test)
    columns = section.columns(rows)
    one, several = ("row", "rows") if all(row.decision == "none" for row in rows) else ("hypothesis", "hypotheses")
    heading = f"{section.name}: " + (f"the only {one}" if len(rows) == 1 else f"all {len(rows):,} {several}")
    notes = distinct(column.text(row) or None for row in rows for column in columns if column.note)
    return Table(section, heading, columns, [[_cell(column, row, notes) for column in columns] for row in rows], notes)


def _cell(column: Column, row: Hypothesis, notes: tuple[str, ...]) -> Cell:
    text = column.text(row)
    if column.note:
        return Cell(str(notes.index(text) + 1), hint=text) if text else Cell("")
    value = None if column.sort is None else column.sort(row)
    return Cell(text, "" if value is None else repr(float(value)))
