"""The kinds of cluster on which a study runs. To add a kind, add an entry to `kinds`."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from sigstats._common.credentials import refuse_credentials
from sigstats._common.validation import did_you_mean, refuse, shown
from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.plan import Needs

from ..config.model import Strict, validated
from ..config.toml_files import read_toml
from ..errors import BadInput
from .address import Given, as_given, open_given


class Kind(NamedTuple):
    """A kind of cluster: the model of its files, and the function that starts its workers.

    `open_pool` returns a context manager that stops the workers at its end. It raises BadInput if no worker meets the
    needs of a block.
    """

    model: Any
    open_pool: Callable[[Any, Sequence[Needs]], AbstractContextManager[Pool]]


def kinds() -> dict[str, Kind]:
    """Return the kinds of cluster by name."""
    from . import address, by_class, local

    return {
        "address": Kind(address.Cluster, address.open_pool),
        "dask": Kind(by_class.Cluster, by_class.open_pool),
        "local": Kind(local.Cluster, local.open_pool),
        "serial": Kind(local.SerialCluster, local.open_serial),
    }


def open_pool(cluster: Any, needs: Sequence[Needs] = ()) -> AbstractContextManager[Pool]:
    """Start the workers of a cluster, and stop them when the context ends.

    `cluster`: the result of `load_cluster`. `needs`: resources of blocks that not every worker has.
    """
    if isinstance(cluster, Given):
        return open_given(cluster, needs)
    return kinds()[cluster.kind].open_pool(cluster, needs)


def allowed(packages: Sequence[str], cluster: Strict | None) -> tuple[str, ...]:
    """Return the packages that a study may import: the packages given by the user and those of the cluster file."""
    for name in packages:
        if not name.isidentifier():
            near = name.partition(":")[0].partition(".")[0]
            hint = f" (did you mean {near!r}?)" if near.isidentifier() else ""
            raise BadInput(f"--allow: {shown(name)} is not valid; expected the name of a package{hint}")
    return (*packages, *getattr(cluster, "allow", ()))


def as_cluster(value: Any, workers: int | None = None, packages: Sequence[str] = ()) -> Strict:
    """Return the cluster in the argument ``cluster``: a text for `load_cluster`, or a Dask client or cluster."""
    if value is None or isinstance(value, str):
        return load_cluster(value, workers, packages)
    result = as_given(value)
    if result is None:
        wanted = "the name of a kind, an address, a cluster file, or a Dask client or cluster"
        raise refuse("cluster", value, wanted)
    if workers is not None:
        raise BadInput(f"workers: {workers} is not valid, since the cluster has its own workers; remove it")
    return result


def load_cluster(text: str | None, workers: int | None = None, packages: Sequence[str] = ()) -> Strict:
    """Return the cluster that the command line names: a kind, an address or a cluster file. The default is ``local``.

    `packages`: packages whose classes the user allows.
    """
    known = kinds()
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
    kind = values.get("kind", "dask" if "class" in values else "local")
    if not isinstance(kind, str) or kind not in known:
        raise BadInput(f"{source}: kind: {shown(kind)} is not valid; expected one of {', '.join(known)}")
    model = known[kind].model
    if workers is not None:
        if "workers" not in model.model_fields:
            raise BadInput(f"--workers: {workers} is not valid for a cluster of kind {kind!r}; remove it")
        values = {**values, "workers": workers}
    cluster: Strict = validated(model, values, source=source, context=packages)
    return cluster
