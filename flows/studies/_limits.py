"""The limits of code of other packages, as a study file states them for a classifier or a test."""

from typing import Annotated

from pydantic import Field

from sigstats._common.validation import refuse

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
        """The limits, as `sigstats.tasks.plan.Cell` states them.

        `where`: its name in a message. `own`: whether it is of another package. Raises ValueError if something of
        this package or scikit-learn's has a limit, since it has no process of its own.
        """
        needs = self.resources
        memory = None if needs.memory is None else bytes_of(needs.memory)
        asked = {"time_limit": self.time_limit, "memory": memory, "threads": needs.threads, "gpu": needs.gpu}
        found = {name: float(value) for name, value in asked.items() if value is not None}
        if found and not own:
            wanted = "none: they are for code of other packages, which runs in processes of its own"
            raise refuse(f"{where}: limits", ", ".join(found), wanted)
        return found or None
