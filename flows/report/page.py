"""The report: one self-contained page of HTML, made only from the summary and the replicates.

Its study file is shown as TOML.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from sigstats._common.numerals import adjusted_p, count_of, significant
from sigstats.tasks.results import Results
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.storage.store import Store

from ..pages.page import Answer, page
from . import sections
from .evidence import Column, Evidence, Figure, Section, Verdict
from .over_data_sets import best_over_data_sets
from .problems import how_to_finish, printed_numbers, problems, read_failures, shortfall
from .rows import WITHHELD, distinct, hypotheses, not_rejected, rejected, undecided_rows


def config_as_toml(config: Mapping[str, Any]) -> str:
    """Return a configuration as TOML text; None, which TOML lacks, is left out."""
    first = ("kind", "name", "seed")
    keys = [*(key for key in first if key in config), *sorted(config.keys() - set(first))]
    return toml_text({key: config[key] for key in keys})


#: A key that needs no quotes.
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(values: Mapping[str, Any]) -> str:
    """Return the TOML text of some values; None, which TOML lacks, is left out.

    >>> print(toml_text({"seed": 1, "permutation": {"rule": None, "nulls": ["labels"]}, "tables": [{"name": "a b"}]}))
    seed = 1
    <BLANKLINE>
    [permutation]
    nulls = ["labels"]
    <BLANKLINE>
    [[tables]]
    name = "a b"
    """
    return "\n\n".join(_tables(values, "", ""))


def _tables(values: Mapping[str, Any], name: str, heading: str) -> Iterator[str]:
    within = {key: tables for key, value in values.items() if (tables := _tables_in(value))}
    lines = [f"{_key(key)} = {_inline(one)}" for key, one in values.items() if key not in within and one is not None]
    if heading and (lines or not within or heading.startswith("[[")):
        lines.insert(0, heading)
    if lines:
        yield "\n".join(lines)
    for key, tables in within.items():
        full = f"{name}.{_key(key)}" if name else _key(key)
        for one in tables:
            yield from _tables(one, full, f"[{full}]" if isinstance(values[key], Mapping) else f"[[{full}]]")


def _tables_in(value: Any) -> Sequence[Mapping[str, Any]]:
    """Return the tables that a value is or contains; empty for other values."""
    tables = [value] if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else []
    return tables if all(isinstance(table, Mapping) for table in tables) else []


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _inline(key)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = [f"{_key(key)} = {_inline(one)}" for key, one in value.items() if one is not None]
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_inline(one) for one in value if one is not None)}]"
    if isinstance(value, str):  # JSON escapes all that TOML asks for except DEL
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, (bool, int, float)) else str(value)


def render(
    evidence: Evidence,
    *,
    config: Mapping[str, Any],
    versions: Mapping[str, str],
    failures: Sequence[Mapping[str, str]] = (),
    fingerprint: str = "",
    notes: Sequence[str] = (),
) -> str:
    """Return the report of a study."""
    results = evidence.results
    tested = [(section, evidence.rows_of(section.test)) for section in sections.of_study(evidence)]
    particulars = evidence.page.particulars(evidence)
    over_data_sets = evidence.over_data_sets
    answers = [
        ("Which is best over the data sets?", best_over_data_sets(evidence), ""),
        *particulars.first,
        *((section.question, _verdict(section, rows, evidence), section.terms) for section, rows in tested),
        *particulars.last,
        ("Can the printed numbers be reproduced?", printed_numbers(evidence), ""),
    ]
    verdicts = [(question, verdict, terms) for question, verdict, terms in answers if verdict is not None]
    small = next((figure for figure in evidence.figures if "<svg" in figure.body and len(figure.body) < _SMALL), None)
    first = particulars.figure or small
    units = {section.test: section.unit for section, _ in tested}
    answer = _answer(evidence, verdicts, first, how_to_finish(evidence, failures), units)
    return page(
        "report.html.j2",
        title=f"{results.plan.study}: {answer.headline}",
        question=verdicts[0][0] if verdicts else "",
        answer=answer,
        plan=results.plan,
        alpha=significant(evidence.alpha),
        subtitle=_subtitle(evidence),
        notes=notes,
        design=particulars.design,
        problems=problems(evidence, failures),
        shortfall=shortfall(evidence),
        over_data_sets_method="" if over_data_sets is None else over_data_sets.method,
        verdicts=verdicts,
        methods=[(section, section.method_of(rows)) for section, rows in tested],
        transforms=particulars.transforms,
        figures=[figure for figure in evidence.figures if figure is not first],
        tables=[table_of(section, evidence) for section, _ in tested],
        config=config_as_toml(config),
        versions=dict(sorted(versions.items())),
        fingerprint=fingerprint,
        seeds=distinct(cell.seed for cell in results.plan.cells),
        adjusted=adjusted_p(results.plan.adjust),
    )


def _verdict(section: Section, rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Return the verdict of a test, without the withheld data sets."""
    reasons = [f"On {name} nothing is concluded: {reason}." for name, reason in evidence.withheld.items()]
    if not (rest := [row for row in rows if row.decision != WITHHELD and row.dataset not in evidence.withheld]):
        return Verdict(" ".join(reasons))
    verdict = section.verdict(rest, evidence)
    return replace(verdict, details=(*verdict.details, *reasons))


#: A drawing of more bytes is not for the first screen.
_SMALL = 40_000


def _answer(
    evidence: Evidence,
    verdicts: Sequence[tuple[str, Verdict, str]],
    figure: Figure | None,
    finish: str,
    units: Mapping[str, str],
) -> Answer:
    """Return the first screen: the first verdict as the heading, the others below it, and the figure.

    `finish`: the advice for an unfinished study. `units`: the unit of observation of each test.
    """
    decided = [row for row in evidence.rows if row.decision in ("reject", "keep")]
    by_test = [(what, [row for row in decided if row.test == test]) for test, what in evidence.page.counted.items()]
    numbers = [number for _, verdict, _ in verdicts[:1] for number in verdict.numbers]
    numbers += [(what, *_rejections(rows)) for what, rows in by_test if rows]
    if len(numbers) < 2 and decided:
        counts = evidence.decisions(decided)
        p = f"{counts.by} {adjusted_p(evidence.adjust)} ≤ {significant(evidence.alpha)}".strip()
        numbers = [("hypotheses tested", f"{counts.hypotheses:,}", ""), ("rejected", f"{counts.rejected:,}", p)]
    advice = "" if finish else _more_units(decided, units)
    to_do = next((verdict.to_do for _, verdict, _ in verdicts if verdict.to_do), advice)
    return Answer(
        headline=(verdicts[0][1].headline if verdicts else "The summary has no hypothesis").removesuffix("."),
        numbers=numbers,
        shown=[
            *(also for _, verdict, _ in verdicts[:1] for also in verdict.also),
            *((question, verdict.headline) for question, verdict, _ in verdicts[1:]),
        ],
        to_do=f"{finish} {to_do}".strip(),
        figure=Markup("") if figure is None else figure.body,
        caption="" if figure is None else f"{figure.title}. {figure.caption}".removeprefix(". "),
    )


def _more_units(decided: Sequence[Hypothesis], unit_of: Mapping[str, str]) -> str:
    """Return the advice if every test only states which hypotheses are rejected."""
    if not decided:
        return ""
    relied = "Rely only on rejected hypotheses; others are" if rejected(decided) else "Rely on none of these; they are"
    units = {unit_of[row.test] for row in not_rejected(decided) or decided}
    more = " or ".join(f"more {unit}s" for unit in sorted(units, reverse=True))
    size = " (sigstats size)" * ("row" in units)  # which plans rows, not data sets
    return f"{relied} not shown to be equal, and {more} may show a difference{size}."


def _rejections(rows: Sequence[Hypothesis]) -> tuple[str, str]:
    undecided = len(undecided_rows(rows))
    if undecided == len(rows):
        return "?", "too few permutations"
    return f"{len(rejected(rows)):,}", f"of {len(rows):,}" + (f"; {undecided:,} undecided" if undecided else "")


def write_report(store: Store, evidence: Evidence | None = None) -> str:
    """Write ``report.html`` from the store, or its evidence if that is known; return its location.

    Raises FileNotFoundError if the study has no summary yet. Raises sigstats.tasks.storage.seal.Damaged if the plan,
    the summary or the configuration cannot be used.
    """
    study = store.read_json("study.json")
    page = render(
        evidence or Evidence(Results(store)),
        config=study.get("study", {}),
        versions=study.get("versions", {}),
        failures=read_failures(store),
        fingerprint=str(study.get("fingerprint", "")),
        notes=study.get("notes") or (),
    )
    store.files.write("report.html", page.encode("utf-8", "replace"))
    return f"{store.root.rstrip('/')}/report.html"


def _subtitle(evidence: Evidence) -> str:
    rows = evidence.rows
    tested = hypotheses(rows)
    parts = [
        count_of(len(distinct(row.dataset for row in rows)), "table" if evidence.of_tables else "data set"),
        count_of(len(distinct(name for row in rows for name in (row.classifier, row.a, row.b))), "classifier"),
        evidence.decisions(tested).tested if tested or evidence.withheld else count_of(len(rows), "result"),
    ]
    return ", ".join(part for part in parts if not part.startswith("0 "))


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    #: Sort key of the column; empty for the text.
    key: str = ""
    #: Tooltip.
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
    """Return the table of a section's hypotheses."""
    rows = evidence.rows_of(section.test)
    columns = [column for column in section.columns if column.is_shown(rows)]
    one, several = ("hypothesis", "hypotheses") if len(hypotheses(rows)) == len(rows) else ("row", "rows")
    heading = f"{section.name}: " + (f"the only {one}" if len(rows) == 1 else f"all {len(rows):,} {several}")
    notes = distinct(column.text(row) or None for row in rows for column in columns if column.note)
    return Table(section, heading, columns, [[_cell(column, row, notes) for column in columns] for row in rows], notes)


def _cell(column: Column, row: Hypothesis, notes: tuple[str, ...]) -> Cell:
    text = column.text(row)
    if column.note:
        return Cell(str(notes.index(text) + 1), hint=text) if text else Cell("")
    value = None if column.sort is None else column.sort(row)
    return Cell(text, "" if value is None else repr(float(value)))
