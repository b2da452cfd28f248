"""The study that an output belongs to: ``study.json`` in it names its configuration and its inputs."""

import importlib.metadata
import platform
from collections.abc import Collection, Mapping
from typing import Any

from sigstats.tasks.fingerprint import digest
from sigstats.tasks.storage.plan_table import write_plan
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store
from sigstats.tasks.summary.published import write_references

from ..config.study import Study
from ..errors import BadInput
from .prepared import Prepared


def identity_of(study: Study, prepared: Prepared) -> dict[str, Any]:
    """The identity of a study: its configuration and the content of what it reads."""
    return {
        "study": study.model_dump(mode="json"),
        "inputs": {dataset.name: dataset.digest() for dataset in prepared.datasets},
    }


def refuse_another(store: Store, identity: Mapping[str, Any], kinds: Collection[str]) -> str:
    """Refuse an output that holds another study, and say what differs.

    Parameters
    ----------
    store : Store
    identity : mapping
        That of the study that is about to run.
    kinds : collection of str
        The names of all kinds of study.

    Returns
    -------
    str
        What is wrong with a ``study.json`` that cannot be used, and is written again; empty if nothing is.

    Raises
    ------
    BadInput
        If it holds another study, or cannot be read.
    """
    try:
        before = store.read_json("study.json")
    except FileNotFoundError:
        return ""
    except Damaged as error:
        return str(error)
    except OSError as error:
        raise BadInput(
            f"--output: {store.root} is not valid; study.json in it cannot be read ({error.strerror or error})"
        ) from None
    kept = {key: value for key, value in before.items() if key not in ("fingerprint", "versions")}
    changes = _differences({key: before.get(key, {}) for key in identity}, identity)
    if identity.get("study", {}).get("kind") == "benchmark":
        # Its tests are made of the same replicates: with others only the summary is another one.
        changes = [change for change in changes if change[0] != "study.tests"]
    useless = ""
    if before.get("fingerprint") != digest("study", **kept):
        # A file of replicates says for itself to what it belongs; a history of comparisons has no fingerprint.
        useless = "study.json was altered after it was written"
        changes = [change for change in changes if change[0] == "study.kind" and change[1] in kinds]
    if changes:
        key, old, new = changes[0]
        more = f" (and {len(changes) - 1} more)" if len(changes) > 1 else ""
        raise BadInput(
            f"--output: {store.root} holds another study: {key} is {old!r} there and {new!r} here{more}; "
            "choose another output"
        )
    return useless


def begin(store: Store, identity: Mapping[str, Any], prepared: Prepared) -> None:
    """Write what workers and readers need."""
    store.files.sweep()
    store.write_json("study.json", {**identity, "fingerprint": digest("study", **identity), "versions": _versions()})
    for dataset in prepared.datasets:
        store.write_data(dataset)
    if prepared.references:
        write_references(store, prepared.references)
    write_plan(store, prepared.plan)


def _versions() -> dict[str, str]:
    """The versions that made the results: for people, and no part of the identity."""
    packages = (
        "sigstats",
        "numpy",
        "scipy",
        "scikit-learn",
        "pyarrow",
        "dask",
        "distributed",
        "prefect",
        "python-flint",
    )
    found = {name: importlib.metadata.version(name) for name in packages}
    return {"python": platform.python_version(), **found}


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any, Any]]:
    found: list[tuple[str, Any, Any]] = []
    for key in sorted({*old, *new}):
        a, b = old.get(key), new.get(key)
        if key not in old and b == []:  # tables of a kind that an earlier version did not know, and there are none
            continue
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found.extend(_differences(a, b, f"{prefix}{key}."))
        elif a != b:
            found.append((f"{prefix}{key}", a, b))
    return found
