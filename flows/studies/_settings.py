"""Settings that tables of several kinds of study have: limits of code of other packages, and stopping rules."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from sigstats._common.numerals import significant
from sigstats._common.validation import refuse
from sigstats.multiplicity import adjust_pvalues as adjusted
from sigstats.sequential.gandy_rule import GandyRule
from sigstats.sequential.precision_rules import PrecisePRule
from sigstats.sequential.rules import deciding_exceedances
from sigstats.tasks.plan import Adjustment, Plan

from ..config.model import Memory, Strict, bytes_of


class Needs(Strict):
    """What code of another package needs of a worker."""

    memory: Annotated[Memory | None, Field(description='The most memory of its process, as in "8 GiB"')] = None
    threads: Annotated[
        int | None, Field(ge=1, le=1024, description="Threads of its numerical libraries; one by default")
    ] = None
    gpu: Annotated[int | None, Field(ge=1, le=64, description="GPUs of its worker")] = None


class Limited(Strict):
    """A table of a study file that may name code of another package."""

    time_limit: Annotated[
        float | None,
        Field(gt=0, exclude=True, description="Seconds that a fit, or a call of a test, of another package may take"),
    ] = None
    resources: Annotated[
        Needs, Field(exclude=True, description="What a classifier or test of another package needs of a worker")
    ] = Needs()

    def limits(self, where: str, *, own: bool) -> dict[str, float] | None:
        """The limits, as `sigstats.tasks.plan.Cell` states them."""
        needs = self.resources
        memory = None if needs.memory is None else bytes_of(needs.memory)
        asked = {"time_limit": self.time_limit, "memory": memory, "threads": needs.threads, "gpu": needs.gpu}
        found = {name: float(value) for name, value in asked.items() if value is not None}
        if found and not own:
            wanted = "none: they are for code of other packages, which runs in processes of its own"
            raise refuse(f"{where}: limits", ", ".join(found), wanted)
        return found or None


Stopping = Literal["none", "besag-clifford", "gandy", "precision"]


class StoppingSettings(Strict):
    """The stopping rule of a study file, and its parameters."""

    stopping: Annotated[
        Stopping,
        Field(
            description="When to end a test early: where p cannot become alpha or less (besag-clifford), where the "
            "decision is certain up to risk (gandy), or where p is known to precision (precision)"
        ),
    ] = "none"
    certain: Annotated[
        Literal["adjusted", "unadjusted"],
        Field(
            description="What gandy is certain of when it ends a test: of the decision on the adjusted p, whatever the "
            "other tests say, or of whether p itself is at most alpha"
        ),
    ] = "adjusted"
    risk: Annotated[
        float,
        Field(gt=0, le=0.25, description="How likely gandy's decision may differ from that of endless replicates"),
    ] = 1e-3

    precision: Annotated[
        float,
        Field(
            ge=0.002,
            le=0.25,
            description="The Monte-Carlo standard error of p at which precision ends a test; an interval of 95% is "
            "about four times as wide",
        ),
    ] = 0.01

    def stopping_of(
        self, *, alpha: float, adjust: Adjustment, tests: int, replicates: int, rule: Stopping | None = None
    ) -> dict[str, Any] | None:
        """The stopping of a cell, as `sigstats.tasks.plan.Cell` has it; None if all replicates are drawn."""
        rule = rule or self.stopping
        if rule == "none":
            return None
        if rule == "besag-clifford":
            return {"rule": rule, "exceedances": deciding_exceedances(alpha, replicates)}
        if rule == "precision":
            return {"rule": PrecisePRule.method, "error": self.precision}
        factor = 1.0
        if adjust != "none" and self.certain == "adjusted":
            # What adjusting multiplies p by where every other test has p = 1: whatever they have, it is no more.
            smallest = 2.0**-40
            factor = float(adjusted([smallest, *[1.0] * (tests - 1)], method=adjust)[0]) / smallest
        return {"rule": rule, "alpha": alpha, "reject_at": alpha / factor, "risk": self.risk}


def stopping_notes(plan: Plan) -> Iterator[str]:
    """Notes on the stopping rules, for the person who starts the study."""
    for rule in {one.rule for one in plan.cells if one.stopping is not None}:
        if isinstance(rule, GandyRule) and not rule.can_reject:
            yield (
                "gandy ends no test as rejected: that is certain only where "
                f"p <= {significant(rule.rejection_level, 2)}, which {rule.maximum:,} replicates "
                "cannot show (certain = 'unadjusted' asks for less)"
            )
