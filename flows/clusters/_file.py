"""What the files of all kinds of cluster share: packages, GPUs, and the number of workers, fixed or adapted."""

from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from ..config.model import Strict

#: The name of a package that can be imported.
Package = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


Gpus = Annotated[
    int, Field(ge=0, le=64, description="GPUs of this machine that classifiers may use, from the first on")
]


class ClusterFile(Strict):
    """The fields that the files of all kinds of cluster share."""

    allow: Annotated[
        list[Package],
        Field(
            default_factory=list,
            description="Packages whose classifiers a study may name: their code is imported and run",
        ),
    ]


class Adaptive(Strict):
    """Bounds between which Dask adapts the number of workers to the work."""

    minimum: Annotated[int, Field(ge=0, le=100_000, description="Workers to keep when there is no work")] = 1
    maximum: Annotated[int, Field(ge=1, le=100_000, description="Workers never to exceed")]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.minimum > self.maximum:
            raise ValueError(f"minimum: {self.minimum} is not valid; expected at most maximum, {self.maximum}")
        return self


def _tag(value: Any) -> str:
    return "Adaptive" if isinstance(value, dict | Adaptive) else "int"


#: What a cluster file says of its workers.
Workers = Annotated[
    Annotated[int, Field(ge=1, le=100_000), Tag("int")] | Annotated[Adaptive, Tag("Adaptive")], Discriminator(_tag)
]


def expected(workers: int | Adaptive) -> int:
    """The number of workers once all have started."""
    return workers.maximum if isinstance(workers, Adaptive) else workers


def start(cluster: Any, workers: int | Adaptive) -> None:
    """Start the workers of a `distributed.SpecCluster`.

    Raises RuntimeError if the first of them cannot be started; the message is that of the batch system.
    """
    cluster.scale(max(1, workers.minimum) if isinstance(workers, Adaptive) else workers)
    cluster.sync(_started, cluster)
    if isinstance(workers, Adaptive):
        # Each cell waits with two blocks a worker, so a short target lets the number double until all are wanted.
        cluster.adapt(minimum=workers.minimum, maximum=workers.maximum, interval="1s", target_duration="500ms")


async def _started(cluster: Any) -> None:
    from distributed import Status

    await cluster
    try:
        for member in list(cluster.workers.values()):
            await member  # tries once more where one could not be started, which scale() only logs
    except RuntimeError:
        for member in list(cluster.workers.values()):
            await member.close()
            member.status = Status.closed  # which closing the cluster asks of them
        raise
