"""The report: one page of HTML that holds everything it needs, made from the summary and the replicates alone.

What it says of a test is a module of `sigstats.flows.report.sections`, a figure is a module of
`sigstats.flows.report.figures`, how it looks is in `flows/templates`. Equal results give an equal page, byte for byte:
nothing of the time, the machine or the order of completion enters it.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sigstats.tasks.plan import Cell
from sigstats.tasks.results import Results
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from . import figures, sections
from .evidence import Evidence, distinct
from .section import Column, Section
from .toml_text import toml_text
from .wording import adjusted_p, counted

_ACTIONS = {"crossval": "observed run", "retrain": "retrains"}


@dataclass(frozen=True)
class Problem:
    """A cell that is not complete.

    Attributes
    ----------
    sentence : str
        Which one, and what happened to it.
    traceback : str
        Where it failed; empty where it did not.
    """

    sentence: str
    traceback: str


def render(
    results: Results,
    *,
    config: Mapping[str, Any],
    versions: Mapping[str, str],
    failures: Sequence[Mapping[str, str]] = (),
    fingerprint: str = "",
) -> str:
    """The report of a study.

    Parameters
    ----------
    results : sigstats.tasks.results.Results
        A plan, a summary, and what replicates there are.
    config : mapping
        The resolved configuration.
    versions : mapping of str to str
        The versions of the programs that made the results.
    failures : sequence of mapping
        Blocks that failed, each with ``cell`` (or a ``block`` that starts with its name), ``error``, ``message`` and
        ``traceback``. One whose cell is complete by now is passed over.
    fingerprint : str
        The identity of the study.

    Returns
    -------
    str
        HTML that needs no network.
    """
    evidence = Evidence(results)
    used = sections.of(evidence)
    return page(
        "report.html.j2",
        plan=results.plan,
        subtitle=_subtitle(evidence),
        problems=problems(evidence, failures),
        shortfall=_shortfall(evidence),
        verdicts=[(section, section.verdict(evidence.of(section.test), evidence)) for section in used],
        methods=[(section, section.method_of(evidence.of(section.test))) for section in used],
        transforms=_transforms(evidence),
        printed=sections.printed_numbers(evidence),
        figures=figures.draw_all(evidence),
        tables=[(section, *_table(section, evidence)) for section in used],
        config=toml_text({key: config[key] for key in sorted(config, key=_first_things_first)}),
        versions=dict(sorted(versions.items())),
        fingerprint=fingerprint,
        seeds=distinct(cell.seed for cell in results.plan.cells),
        adjusted=adjusted_p(results.plan.adjust),
    )


def page(template: str, **values: Any) -> str:
    """A page of a template of this package, with the style and the script that all pages share."""
    script = _source("report.js")
    return (
        _environment()
        .get_template(template)
        .render(
            **values,
            style=Markup(_source("report.css")),  # noqa: S704 - a file of this package
            script=Markup(script),  # noqa: S704 - a file of this package
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def write_report(store: Store) -> str:
    """Write ``report.html`` from what the store holds; return its location.

    Raises
    ------
    FileNotFoundError
        If the study has no summary yet.
    sigstats.tasks.storage.seal.Damaged
        If the plan, the summary or the configuration cannot be used.
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


def read_failures(store: Store) -> list[dict[str, str]]:
    """The failed blocks of all receipts; a receipt that cannot be read is passed over, since no result rests on it."""
    failures: list[dict[str, str]] = []
    for name in store.files.names("receipts"):
        try:
            found = store.read_json(f"receipts/{name}").get("failures", [])
        except (Damaged, FileNotFoundError):
            continue
        cell = name.removesuffix(".json")
        failures += [{**{key: str(value) for key, value in failure.items()}, "cell": cell} for failure in found]
    return failures


def problems(evidence: Evidence, failures: Sequence[Mapping[str, str]]) -> list[Problem]:
    """Every cell that hypotheses lack, with its failure where there is one."""
    by_cell: dict[str, Mapping[str, str]] = {}
    for failure in failures:
        by_cell.setdefault(failure.get("cell") or failure.get("block", "").partition("/")[0], failure)
    found = []
    for cell in evidence.incomplete:
        cause = by_cell.get(cell.name)
        if cause is None:
            found.append(Problem(f"{cell_in_words(cell)}: not finished.", ""))
        else:
            what = f"{cause.get('error', 'error')}: {cause.get('message', '')}".rstrip(": ")
            found.append(Problem(f"{cell_in_words(cell)}: failed with {what}", cause.get("traceback", "")))
    return found


def cell_in_words(cell: Cell) -> str:
    """What a cell is about: ``1-nn on wine, retrains (features)``."""
    rest = dict(cell.subject)
    subject = " on ".join(rest.pop(key) for key in ("classifier", "dataset") if key in rest)
    what = _ACTIONS.get(cell.fanout, cell.fanout)
    others = ", ".join(rest.values())
    return ", ".join(part for part in (subject, what + (f" ({others})" if others else "")) if part)


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


def _shortfall(evidence: Evidence) -> str:
    missing = [row for row in evidence.rows if row.decision == "missing"]
    if not missing:
        return ""
    names = {section.test: section.name for section in sections.of(evidence)}
    shown = [f"{names[row.test]} of {_subject(row)}" for row in missing]
    more = f" and {len(shown) - 12} more" if len(shown) > 12 else ""
    return (
        f"{counted(len(missing), 'hypothesis', 'hypotheses')} of {len(evidence.rows)} "
        f"{'has' if len(missing) == 1 else 'have'} no result: {'; '.join(shown[:12])}{more}. Adjusted p-values are "
        "over the hypotheses that have one, and may grow when the rest is there."
    )


def _subject(row: Hypothesis) -> str:
    who = row.classifier or " against ".join(name for name in (row.a, row.b) if name)
    return " on ".join(part for part in (who, row.dataset) if part) or row.null


def _subtitle(evidence: Evidence) -> str:
    rows = evidence.rows
    parts = [
        counted(len(distinct(row.dataset for row in rows)), "table" if evidence.of_tables else "data set"),
        counted(len(distinct(name for row in rows for name in (row.classifier, row.a, row.b))), "classifier"),
        counted(len(rows), "hypothesis", "hypotheses"),
    ]
    return ", ".join(part for part in parts if not part.startswith("0 "))


def _first_things_first(key: str) -> tuple[int, str]:
    first = ("kind", "name", "seed")
    return (first.index(key) if key in first else len(first), key)


def _table(
    section: Section, evidence: Evidence
) -> tuple[tuple[str, str], Sequence[Column], list[list[tuple[str, str]]]]:
    rows = evidence.of(section.test)
    columns = section.columns(rows)
    noun = ("row", "rows") if all(row.decision == "none" for row in rows) else ("hypothesis", "hypotheses")
    return noun, columns, [[(column.text(row), _sort_key(column, row)) for column in columns] for row in rows]


def _sort_key(column: Column, row: Hypothesis) -> str:
    if column.sort is None:
        return ""
    value = column.sort(row)
    return "" if value is None else repr(float(value))


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]
