"""The kinds of cluster on which a study runs. A new kind is one new module of this folder."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any, Protocol, get_args

from sigstats._common.credentials import refuse_credentials
from sigstats._common.registry import Registry
from sigstats._common.validation import did_you_mean, refuse, shown
from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.plan import Needs

from ..config.model import Strict, validated
from ..config.toml_files import read_toml
from ..errors import BadInput
from .address import Given, given, open_given


class ClusterKind(Protocol):
    """The members that a module of this folder must have."""

    @property
    def Cluster(self) -> type[Strict]:  # noqa: N802
        """The model of a cluster file; its field ``kind`` is a Literal of the kinds that it describes."""

    def open_pool(self, cluster: Any, needs: Sequence[Needs], /) -> AbstractContextManager[Pool]:
        """Start the workers, and stop them when the context ends.

        `needs` is what blocks need beyond what any worker has; by default nothing. If no worker will have it, BadInput
        is raised: one line that names the resource and who needs it.
        """


REGISTRY = Registry(__name__, ClusterKind, what="cluster")


@cache
def _modules() -> dict[str, ClusterKind]:
    """The module of each kind of cluster."""
    modules = REGISTRY.modules().values()
    found = {kind: module for module in modules for kind in get_args(module.Cluster.model_fields["kind"].annotation)}
    return dict(sorted(found.items()))


def open_pool(cluster: Any, needs: Sequence[Needs] = ()) -> AbstractContextManager[Pool]:
    """Start the workers of a cluster, and stop them when the context ends.

    `cluster`: a cluster file or its equivalent, as `load_cluster` returns it. `needs`: what blocks need beyond what any
    worker has.
    """
    if isinstance(cluster, Given):
        return open_given(cluster, needs)
    return _modules()[cluster.kind].open_pool(cluster, needs)


def allowed(packages: Sequence[str], cluster: Strict | None) -> tuple[str, ...]:
    """The packages whose code a study may import: those that a person names, and those of the cluster file."""
    for name in packages:
        if not name.isidentifier():
            near = name.partition(":")[0].partition(".")[0]
            hint = f" (did you mean {near!r}?)" if near.isidentifier() else ""
            raise BadInput(f"--allow: {shown(name)} is not valid; expected the name of a package{hint}")
    return (*packages, *getattr(cluster, "allow", ()))


def as_cluster(value: Any, workers: int | None = None) -> Strict:
    """The cluster that ``cluster=`` names, or is: as `load_cluster`, or a client or a cluster of Dask."""
    if value is None or isinstance(value, str):
        return load_cluster(value, workers)
    found = given(value)
    if found is None:
        wanted = "the name of a kind, an address or a cluster file, or a Client or a cluster of Dask"
        raise refuse("cluster", value, wanted)
    if workers is not None:
        raise BadInput(f"workers: {workers} is not valid; the cluster has workers of its own")
    return found


def load_cluster(text: str | None, workers: int | None = None) -> Strict:
    """The cluster that the command line names: a kind, an address or a cluster file; local processes by default."""
    known = _modules()
    values: dict[str, Any]
    source = "--cluster"
    if text is None or text in known:
        values = {"kind": text or "local"}
        source = "--cluster" if text in (None, "local") else f"--cluster: {text!r} needs a cluster file"
    elif "://" in text:
        values = {"kind": "address", "address": text}
    elif text.endswith(".toml") or Path(text).exists():
        source, values = text, read_toml(Path(text))
    else:
        hint = did_you_mean(text, known)
        wanted = f"{', '.join(known)}, tcp://HOST:PORT or a cluster file{hint}"
        raise BadInput(f"--cluster: {shown(text)} is not valid; expected {wanted}")
    refuse_credentials(values, source=source, error=BadInput)
    kind = values.get("kind", "local")
    if not isinstance(kind, str) or kind not in known:
        raise BadInput(f"{source}: kind: {shown(kind)} is not valid; expected one of {', '.join(known)}")
    model = known[kind].Cluster
    if workers is not None:
        if "workers" not in model.model_fields:
            raise BadInput(
                f"--workers: {workers} is not valid; a cluster of kind {kind!r} has no number of workers to set"
            )
        values = {**values, "workers": workers}
    return validated(model, values, source=source)
