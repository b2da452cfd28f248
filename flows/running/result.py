"""The result of a run of any study, and the result of a study that is computed in cells."""

import datetime as dt
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from sigstats._common.messages import printable
from sigstats._common.numerals import count_of, duration, significant
from sigstats.tasks.engine.execute import Outcome
from sigstats.tasks.plan import Plan
from sigstats.tasks.results import Results
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.storage.store import Store

from ..errors import DONE, FAILED
from ..report.rows import Decisions
from .options import Part
from .progress import Display
from .workers import StaffChanges

if TYPE_CHECKING:
    import pandas as pd

#: The maximum number of lines of one kind that are shown. The report has all.
_MOST_LINES = 20


def first_lines(lines: Sequence[str]) -> list[str]:
    """Return the first lines, and a line with the number of the others.

    >>> first_lines(["a", "b"]), first_lines([str(number) for number in range(30)])[-2:]
    (['a', 'b'], ['19', 'and 10 more'])
    """
    rest = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], *([f"and {rest:,} more"] if rest > 0 else [])]


@dataclass(frozen=True, kw_only=True)
class Artifacts:
    """The artifacts of a run on a server."""

    #: The URL or path of each page.
    links: Mapping[str, str]
    tables: Mapping[str, Sequence[dict[str, Any]]] = field(default_factory=dict)
    markdown: Mapping[str, str] = field(default_factory=dict)
    #: The URL or path of each data set that the run wrote.
    assets: Mapping[str, str] = field(default_factory=dict)


class StudyResult(Protocol):
    """The result of a run of a study."""

    @property
    def code(self) -> int:
        """The exit code of `sigstats.flows.errors`."""

    @property
    def title(self) -> str:
        """The result in a few words."""

    @property
    def subject(self) -> str:
        """The subject of the computation or comparison, in a few words."""

    @property
    def reasons(self) -> Sequence[str]:
        """The reasons why the exit code is not 0, one per line."""

    @property
    def output(self) -> str:
        """The folder or the URL of the results."""

    @property
    def report(self) -> str:
        """The path or URL of the report."""

    @property
    def summary(self) -> "pd.DataFrame":
        """A data frame with a row per tested hypothesis or measure."""

    @property
    def since(self) -> dt.datetime | None:
        """The date of an earlier run with the same result on the same files, or None."""

    @property
    def event(self) -> str | None:
        """The last part of the name of the event that is sent to a server, or None if no event is sent."""

    def keep_delivered(self) -> None:
        """Record that a server has received the event."""

    @property
    def artifacts(self) -> Artifacts:
        """The artifacts for a server."""

    def tell(self, display: Display) -> None:
        """Show the result at the terminal."""


#: The maximum number of hypotheses in a table on a server. The report has all.
_MOST_ROWS = 200


@dataclass(frozen=True, kw_only=True)
class CellStudyResult:
    """The result of a study that is computed in cells, a `sigstats.flows.running.result.StudyResult`."""

    plan: Plan
    rows: tuple[Hypothesis, ...] = ()
    decisions: Decisions = field(default_factory=Decisions)
    #: The outcomes of the incomplete cells.
    failed: tuple[Outcome, ...] = ()
    #: The paths or URLs of the results and of the report.
    output: str
    report: str = ""
    #: The number of replicates behind the results.
    replicates: int
    seconds: float
    #: The engines that computed blocks: "serial" is this process, "dask" the workers of a cluster. Empty if nothing was
    #: left to compute.
    engines: frozenset[str] = frozenset()
    #: The changes among the workers, in this run and in all runs of the output.
    changes: StaffChanges = field(default_factory=StaffChanges)
    all_changes: StaffChanges
    #: The part of the study, if only a part was computed. `plan` then has only its cells; `rows`, `report` are empty.
    part: Part | None = None

    @property
    def code(self) -> int:
        """The exit code."""
        return FAILED if self.failed else DONE

    @property
    def title(self) -> str:
        """The number of cells or, if any failed, of failed cells."""
        if self.failed:
            return f"{len(self.failed)} of {len(self.plan.cells)} computations failed"
        computations = count_of(len(self.plan.cells), "computation")
        if self.part is not None:
            return f"part {self.part}: {computations}"
        return f"{computations}, {self.decisions.tested}"

    @property
    def subject(self) -> str:
        """The number of replicates behind the results."""
        return count_of(self.replicates, "replicate")

    @property
    def reasons(self) -> Sequence[str]:
        """A line with the reason for each failed cell."""
        return [f"failed: {', '.join(outcome.cell.subject.values())}: {_reason(outcome)}" for outcome in self.failed]

    @property
    def summary(self) -> "pd.DataFrame":
        """A data frame with a row per hypothesis, without empty columns; a note tells why a decision is withheld."""
        from ..report.evidence import Evidence

        return Evidence(Results(Store(self.output))).summary

    @property
    def since(self) -> None:
        """None, since each run computes failed cells again."""

    @property
    def event(self) -> str | None:
        """``failed`` if a cell failed, otherwise None."""
        return "failed" if self.code else None

    def keep_delivered(self) -> None:
        """Do nothing, since each run computes failed cells again."""

    @property
    def artifacts(self) -> Artifacts:
        """A link to the report, and a table of the hypotheses that begins with the rejected hypotheses."""
        changes = str(self.all_changes)
        return Artifacts(
            links={"report": self.report},
            tables={"hypotheses": _as_table(self.rows)},
            markdown={"workers": f"Over all runs of this output: {changes}."} if changes else {},
            assets={"summary": f"{self.output.rstrip('/')}/summary.parquet"},
        )

    def tell(self, display: Display) -> None:
        """Show the failed cells, the totals, and the path of the report."""
        for outcome in self.failed:
            display.event("failed", cell=outcome.cell.name, error=_reason(outcome))
        for line in first_lines(self.reasons):
            print(printable(f"sigstats: {line}"), file=sys.stderr)  # noqa: T201
        decisions, level = self.decisions, significant(self.plan.alpha)
        by = _places_in_words(self.engines, self.changes.lost) if self.engines or not self.failed else ""
        if self.part is not None:
            display.say(f"{self.title}, {self.subject}, in {duration(self.seconds)}{by}")
            if any(cell.rule.method == "joint" for cell in self.plan.cells):
                display.say("tests that stop together need several rounds: start the parts again for the next round")
            display.say("without --part, the same command computes the missing replicates, summarises and reports")
            return
        display.say(
            f"{count_of(len(self.plan.cells), 'computation')}, {count_of(self.replicates, 'replicate')}, "
            f"{decisions.tested}, {f'{decisions.rejected:,} rejected at {level} {decisions.by}'.strip()}, "
            f"in {duration(self.seconds)}{by}"
        )
        if changes := str(self.all_changes):
            display.say(f"over all runs of this output: {changes}")
        display.say(f"report: {self.report}")
        display.event(
            "end",
            cells=len(self.plan.cells),
            failed=len(self.failed),
            replicates=self.replicates,
            hypotheses=decisions.hypotheses,
            rejected=decisions.rejected,
            withheld=decisions.withheld,
            seconds=round(self.seconds, 3),
            engines=sorted(self.engines),
            workers_lost=self.changes.lost,
            changes=asdict(self.all_changes),
            report=self.report,
        )


def _places_in_words(engines: Collection[str], lost: int) -> str:
    if not engines:
        return "; nothing was left to compute"
    places = {"serial": "this process", "dask": "workers"}
    losses = f", of which {lost:,} {'was' if lost == 1 else 'were'} lost" if lost else ""
    return f" by {' and '.join(place for engine, place in places.items() if engine in engines)}{losses}"


def _as_table(rows: Sequence[Hypothesis]) -> list[dict[str, Any]]:
    columns = ("dataset", "slice", "classifier", "a", "b", "test", "method", "measure", "estimate", "p_adjusted")
    ordered = sorted(rows, key=lambda row: row.decision != "reject")[:_MOST_ROWS]
    used = [name for name in columns if any(getattr(row, name) is not None for row in ordered)]
    return [{"decision": row.decision, **{name: getattr(row, name) for name in used}} for row in ordered]


def _reason(outcome: Outcome) -> str:
    if not outcome.failures:
        return "replicates are missing"
    return f"{outcome.failures[0].error}: {outcome.failures[0].message}"
