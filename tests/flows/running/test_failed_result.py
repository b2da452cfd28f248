"""What a run tells where every cell of it failed."""

from sigstats.flows.report.rows import Decisions, hypotheses
from sigstats.flows.running.progress import Display
from sigstats.flows.running.result import CellStudyResult
from sigstats.flows.running.workers import StaffChanges
from sigstats.tasks.engine.blocks import Failure
from sigstats.tasks.engine.execute import Outcome
from sigstats.tasks.plan import Plan
from sigstats.tasks.schema import Hypothesis

from ...cells import a_cell


def told(failures, capsys, rows=(), withheld=()):
    """The last line but that of the report."""
    cell = a_cell(subject={"dataset": "digits"})
    plan = Plan(study="s", kind="benchmark", cells=(cell,), analyses=(), alpha=0.05, adjust="holm")
    failed = (Outcome(cell, failures=failures),) if failures else ()
    of = {"output": "out", "report": "", "replicates": 0, "seconds": 1.0, "all_changes": StaffChanges()}
    decisions = Decisions.of([[row] for row in hypotheses(rows)], withheld)
    result = CellStudyResult(plan=plan, failed=failed, rows=rows, decisions=decisions, **of)
    result.tell(Display())
    line = capsys.readouterr().err.splitlines()[-2]
    assert failed or result.title.removeprefix("1 computation, ") in line  # the message of a flow
    return line


def test_nothing_was_left_to_compute_only_if_nothing_failed(capsys):
    assert told([], capsys).endswith("; nothing was left to compute")
    failure = Failure(first=0, last=1, error="MemoryLimit", message="too much", traceback="")
    assert told([failure], capsys).endswith("in 1.0 s")


def test_estimates_are_not_counted_as_hypotheses(capsys):
    base = Hypothesis(study="s", cell="c", test="t", method="m", alternative="a", null_hypothesis="h")
    rows = [base.with_(decision=decision) for decision in ("reject", "keep", "none", "none", "missing")]
    assert ", 3 hypotheses, 1 rejected at 0.05, " in told([], capsys, rows)


def test_data_sets_without_a_conclusion_are_named_or_counted(capsys):
    base = Hypothesis(study="s", cell="c", test="t", method="m", alternative="a", null_hypothesis="h")
    rows = [base.with_(decision=decision) for decision in ("reject", "keep", "withheld", "withheld")]
    line = told([], capsys, rows, list("abcde"))
    assert ", 2 hypotheses (nothing is concluded on a, b, c and 2 more), 1 rejected at 0.05, " in line
