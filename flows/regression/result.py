"""The regression study: whether the newest candidate is worse than the baseline, on any measure or slice.

It runs repeatedly, by hand or on a schedule, and keeps a history. It has no cells: it is evaluated in this process, in
about the time it takes to read the two files.
"""

import datetime as dt
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigstats._common.messages import printable
from sigstats.comparison.answer import reasons
from sigstats.comparison.cells import cells_of, verdict_of
from sigstats.comparison.rule import failing_verdicts
from sigstats.tasks.storage.history import Record
from sigstats.tasks.storage.store import Store

from ..comparison.markdown import as_markdown
from ..comparison.text import show
from ..errors import DONE, REGRESSION
from ..running.kind import InProcess, Kind
from ..running.options import RunOptions
from ..running.progress import Display
from ..running.result import Artifacts, first_lines
from .evaluate import Evaluated, evaluate, plan
from .ledger import delivered, keep_delivered
from .page import report_again
from .study import RegressionStudy

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RegressionResult(Evaluated):
    """The result of an evaluation: a `sigstats.flows.running.result.StudyResult`."""

    #: The candidates before this one that came since the last run.
    caught_up: tuple[Evaluated, ...] = ()

    @property
    def code(self) -> int:
        """The exit code: that of the worst candidate of the run."""
        return REGRESSION if self._failed else DONE

    @property
    def _failed(self) -> list[Record]:
        """The evaluations of this run that failed."""
        failing = failing_verdicts(self.study.fail_on == "inconclusive")
        return [one.record for one in (*self.caught_up, self) if one.comparison.verdict in failing]

    @property
    def event(self) -> str | None:
        """``failed`` until a server received it, ``still-failing`` for the rest of the episode, ``repaired`` once."""
        sent, last = self._delivered(self._reportable), self.episodes[-1] if self.episodes else None
        if self.code:
            return "still-failing" if sent else "failed"
        return "repaired" if last and last.repaired and not sent and self._delivered([last.alarm]) else None

    def _delivered(self, records: Sequence[Record]) -> bool:
        return all(delivered(Store(self.output), record.evaluation.evaluation) for record in records)

    def keep_delivered(self) -> None:
        """Record in the output that a server received the event."""
        for record in self._reportable:
            keep_delivered(Store(self.output), record.evaluation.evaluation)

    @property
    def _reportable(self) -> list[Record]:
        """Return the evaluations to report: the one that began or ended the last episode, or else those that failed."""
        last, failed = self.episodes[-1] if self.episodes else None, self._failed
        if not failed:
            return [last.end] if last and last.end else []
        return [last.alarm] if last and any(record.evaluation.verdict == "fail" for record in failed) else failed

    @property
    def title(self) -> str:
        """The verdict and the effect that decides it, of the newest candidate unless only earlier ones failed."""
        failed = [record.evaluation.candidate for record in self._failed]
        if failed and failed[-1] != self.record.evaluation.candidate:
            return next(line for line in self._of_those_before if line.startswith(f"{failed[-1]}: "))
        return self.comparison.answer.headline

    @property
    def subject(self) -> str:
        """The files, and the number of the look at their rows."""
        about = self.record.evaluation
        return f"{about.candidate} against {about.baseline}, look {about.look}"

    @property
    def _of_those_before(self) -> list[str]:
        return [f"{one.record.evaluation.candidate}: {one.comparison.answer.headline}" for one in self.caught_up]

    @property
    def reasons(self) -> Sequence[str]:
        """The advice, and the reasons why other rows do not pass."""
        advice = self.comparison.answer.advice.rstrip(".")
        before = [line for line in self._of_those_before if line != self.title]
        return [advice, *before, *reasons(self.comparison, others=True)]

    @property
    def since(self) -> dt.datetime | None:
        """The date of the first comparison of these files; None if it was now."""
        return None if self.appended else self.record.evaluation.evaluated_at

    @property
    def promise(self) -> str:
        """The probability of false alarms that the rule of the looks allows."""
        return self.study.looks.promise(self.study.alpha)

    @property
    def verdict(self) -> str:
        """``"pass"``, ``"inconclusive"``, ``"fail"`` or another verdict of a comparison."""
        return self.comparison.verdict

    @property
    def summary(self) -> "pd.DataFrame":
        """One row for each measure on each slice, the most severe first."""
        import pandas as pd

        return pd.DataFrame(self.artifacts.tables["measures"])

    @property
    def artifacts(self) -> Artifacts:
        """The table of measures, the comparison as Markdown (Prefect draws no Mermaid), and links to both pages."""
        about = self.record.evaluation
        rows = [{**cells_of(row), "verdict": verdict_of(row)} for row in self.comparison.ranked]
        return Artifacts(
            links={"report": self.report, "page": self.page},
            tables={"measures": rows},
            markdown={"comparison": as_markdown(self.comparison, about.baseline, about.candidate, picture=False)},
            assets={"history": f"{self.output.rstrip('/')}/history"} if self.since is None else {},
        )

    def tell(self, display: Display) -> None:
        """Show the comparison; in a quiet run only the reasons of a failure."""
        about = self.record.evaluation
        if display.json and not display.quiet:
            self._log(display)
        elif not display.quiet:
            show(self.comparison, about.baseline, about.candidate)
            if self.since is not None:
                failing = f"still failing since {self.since:%Y-%m-%d %H:%M} UTC, " if self.code else ""
                print(f"nothing new: {failing}these files were compared on {self.since:%Y-%m-%d %H:%M} UTC")  # noqa: T201
            if self.newest:
                print(printable(f"newest: {self.newest}"))  # noqa: T201
            print(f"look {about.look} at {self.study.looks.rows_in_words}, {self.look}")  # noqa: T201
            print(f"promise: {self.promise}")  # noqa: T201
            print(printable(f"report: {self.report}"))  # noqa: T201
        elif self.code == REGRESSION:
            for line in (f"{self.study.name}: {self.title}", *(f"  {reason}" for reason in first_lines(self.reasons))):
                print(printable(line), file=sys.stderr)  # noqa: T201
        caught_up = [] if display.quiet else [f"caught up: {line}" for line in self._of_those_before]
        for note in (*caught_up, *self.notes):
            if display.json:
                display.say(f"note: {note}")
            else:
                print(printable(f"note: {note}"), file=sys.stderr)  # noqa: T201

    def _log(self, display: Display) -> None:
        about = self.record.evaluation
        for row in self.artifacts.tables["measures"]:
            display.event("measure", **row)
        display.event(
            "end",
            verdict=self.verdict,
            headline=self.comparison.answer.headline,
            reasons=list(self.reasons),
            baseline=about.baseline,
            candidate=about.candidate,
            look=about.look,
            level=about.level,
            promise=self.promise,
            since=None if self.since is None else self.since.isoformat(),
            report=self.report,
        )


def _run(study: RegressionStudy, options: RunOptions) -> RegressionResult:
    """Compare the newest predictions, and append the comparison to the history."""
    *before, last = evaluate(study, options)
    return RegressionResult(**vars(last), caught_up=tuple(before))


KIND = Kind(model=RegressionStudy, in_process=InProcess(plan=plan, run=_run, report=report_again))
