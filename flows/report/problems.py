"""Problems of a study: cells that are not finished or failed, and hypotheses without a result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sigstats.tasks.fan_out import in_words
from sigstats.tasks.plan import Cell
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from ..pages.wording import count_of
from . import sections
from .evidence import Evidence
from .rows import distinct
from .usual_columns import where

#: The most hypotheses without a result that are named.
_NAMED = 3


@dataclass(frozen=True)
class Problem:
    """A cell that is not complete."""

    #: The cell, and what happened to it.
    sentence: str
    #: Traceback; empty if it did not fail.
    traceback: str


def read_failures(store: Store) -> list[dict[str, str]]:
    """The failed blocks of all receipts; unreadable receipts are skipped, since no result depends on them."""
    failures: list[dict[str, str]] = []
    for name in store.files.names("receipts"):
        try:
            content = store.read_json(f"receipts/{name}")
        except (Damaged, FileNotFoundError):
            continue
        cell = str(content.get("cell", name.removesuffix(".json")))
        failures += [
            {**{key: str(value) for key, value in failure.items()}, "cell": cell}
            for failure in content.get("failures", [])
        ]
    return failures


def problems(evidence: Evidence, failures: Sequence[Mapping[str, str]]) -> list[Problem]:
    """The incomplete cells that hypotheses need: first those that failed, then unfinished ones."""
    by_cell: dict[str, Mapping[str, str]] = {}
    for failure in failures:
        by_cell.setdefault(failure.get("cell") or failure.get("block", "").partition("/")[0], failure)
    failed, unfinished = [], []
    for cell in evidence.incomplete:
        cause = by_cell.get(cell.name)
        if cause is None:
            unfinished.append(Problem(f"{cell_in_words(cell)}: not finished.", ""))
        else:
            what = f"{cause.get('error', 'error')}: {cause.get('message', '')}".rstrip(": ")
            failed.append(Problem(f"{cell_in_words(cell)}: failed with {what}", cause.get("traceback", "")))
    return failed + unfinished


def cell_in_words(cell: Cell) -> str:
    """The subject of a cell in words: ``1-nn on wine, retrains (features)``."""
    rest = dict(cell.subject)
    subject = " on ".join(rest.pop(key) for key in ("classifier", "dataset") if key in rest)
    what = in_words(cell)
    others = ", ".join(rest.values())
    return ", ".join(part for part in (subject, what + (f" ({others})" if others else "")) if part)


def shortfall(evidence: Evidence) -> str:
    """Describe the hypotheses without a result; empty if all have one."""
    missing = [row for row in evidence.rows if row.decision == "missing"]
    if not missing:
        return ""
    names = {section.test: section.name for section in sections.of_study(evidence)}
    shown = distinct(f"{names[row.test]} of {_subject(row)}" for row in missing)
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    values = sum(row.decision == "none" for row in evidence.rows)
    untested = f" ({values} of the others have no test)" if values else ""
    return (
        f"{len(missing)} of {count_of(len(evidence.rows), 'result')} {'is' if len(missing) == 1 else 'are'} "
        f"missing{untested}: {'; '.join(shown[:_NAMED])}{more}. Adjusted p-values are over the hypotheses with "
        "results, and may grow when the others are computed."
    )


def how_to_finish(evidence: Evidence, failures: Sequence[Mapping[str, str]] = ()) -> str:
    """Advice to complete missing computations; empty if none is missing.

    `failures`: the result of `read_failures`, if these must be corrected first.
    """
    lacking = evidence.incomplete
    if not lacking:
        return ""
    failed = any(problem.traceback for problem in problems(evidence, failures))
    return (
        f"{'Fix what failed, then run' if failed else 'Run'} this study again: sigstats run STUDY --output OUTPUT, "
        f"both as before, computes the {len(lacking):,} of {len(evidence.results.plan.cells):,} computations that "
        f"{'is' if len(lacking) == 1 else 'are'} missing."
    )


def _subject(row: Hypothesis) -> str:
    who = row.classifier or " against ".join(name for name in (row.a, row.b) if name)
    return " on ".join(part for part in (who, where(row)) if part) or row.null_hypothesis
