"""What sequential stopping spared, in words."""

from collections.abc import Sequence

from sigstats.sequential.gandy_rule import GandyRule
from sigstats.sequential.precise_p_rule import PrecisePRule
from sigstats.sequential.rules import FixedRule
from sigstats.tasks.schema import Hypothesis

from ...pages.wording import count_of, percent, significant
from ..evidence import Evidence, distinct


def savings(rows: Sequence[Hypothesis], evidence: Evidence, *, replicates: str = "permutations") -> tuple[str, ...]:
    """How much of the work was not needed and what is known of the decisions; nothing where no cell has a rule.

    Parameters
    ----------
    rows : sequence of Hypothesis
        Of one test.
    evidence : Evidence
    replicates : str
        What the test's replicates are called.
    """
    cells = [(row, evidence.cells[row.cell]) for row in rows if row.replicates and row.cell in evidence.cells]
    ruled = [(row.replicates or 0, cell) for row, cell in cells if cell.stopping is not None]
    if not ruled:
        return ()
    early = sum(counts < cell.replicates for counts, cell in ruled)
    run, most = sum(counts for counts, _ in ruled), sum(cell.replicates for _, cell in ruled)
    saving = (
        f"Sequential stopping ended {early} of {count_of(len(ruled), 'test')} early: of {most:,} {replicates}, {run:,} "
        f"were needed ({percent(run / most)})."
    )
    return (saving, *distinct(_promise(cell.rule, evidence, replicates) for _, cell in ruled))


def _promise(rule: FixedRule, evidence: Evidence, replicates: str) -> str:
    if isinstance(rule, GandyRule):
        raw = evidence.adjust != "none" and rule.rejection_level == rule.alpha
        what = f"whether p, before adjustment, is at most {significant(rule.alpha)}" if raw else "its decision"
        return (
            f"Gandy's rule ends a test where {what} is certain: with probability at most {significant(rule.risk)} "
            f"endless {replicates} would say otherwise."
        )
    if isinstance(rule, PrecisePRule):
        error = significant(rule.error)
        return f"A test ended where p was known to a Monte-Carlo standard error of {error}; its p is valid."
    return (
        "Besag and Clifford's rule ends a test where its p can no longer become small enough: every decision is the "
        f"one that all {replicates} would give."
    )
