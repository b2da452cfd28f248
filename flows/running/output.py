"""The study to which an output belongs: ``study.json`` contains its configuration and its inputs.

A study may grow in its folder: changes that do not affect stored cells, such as more replicates, are accepted.
"""

import contextlib
import importlib.metadata
import platform
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sigstats._common.messages import shown
from sigstats._common.numerals import count_of
from sigstats.tasks.fan_out import in_words, own_code
from sigstats.tasks.plan import Cell, Plan, group_by
from sigstats.tasks.record import digest
from sigstats.tasks.results import read_plan, write_plan
from sigstats.tasks.storage.data import Growing, read_data, write_data
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store
from sigstats.tasks.summary import write_references

from ..config.model import Study
from ..errors import BadInput, file_errors
from ..kinds import KINDS
from .options import Prepared


def identity_of(study: Study, prepared: Prepared) -> dict[str, Any]:
    """Return the identity of a study: its configuration and the digests of its inputs.

    These are the values of ``study.json`` without the fingerprint and the versions of packages.
    """
    return {
        "study": study.model_dump(mode="json"),
        "inputs": {dataset.name: dataset.digest() for dataset in prepared.datasets},
    }


def stored_study(store: Store) -> tuple[Mapping[str, Any] | None, str]:
    """Return the ``study.json`` of an output, None if it is missing or damaged, and a description of the damage."""
    with file_errors(f"--output: {store.root}: study.json cannot be read"):
        try:
            return store.read_json("study.json"), ""
        except FileNotFoundError:
            return None, ""
        except Damaged as error:
            return None, str(error)


def another_study(store: Store, key: str, old: Any, new: Any, more: str = "") -> BadInput:
    """Return the error for an output that contains another study, with a different value of this key."""
    values = f"{key} is {shown(old)} there and {shown(new)} here{more}"
    return BadInput(f"--output: {store.root} contains another study: {values}; choose another output")


def refuse_another(store: Store, identity: Mapping[str, Any], prepared: Prepared) -> str:
    """Raise BadInput if the output has another study; return the reason to write ``study.json`` again, if any."""
    before, damage = stored_study(store)
    if before is None:
        return damage
    stored_identity = {key: value for key, value in before.items() if key not in ("fingerprint", "versions", "notes")}
    changes = _differences({key: before.get(key, {}) for key in identity}, identity)
    of_kind = [change for change in changes if change[0] == "study.kind" and change[1] in KINDS]
    is_altered = before.get("fingerprint") != digest("study", **stored_identity)
    if is_altered:  # each file of replicates has a fingerprint, but a history of comparisons has none
        changes = of_kind
    harm = "" if of_kind or not changes else _harm(store, prepared.plan, _grown(store, before, prepared))
    if of_kind or harm:
        key, old, new = min(of_kind or changes, key=lambda change: change[0] in _HARMLESS)
        others = [change[0] for change in changes if change[0] not in (key, *_HARMLESS)]
        more = f" (and {', '.join(others)})" if others and harm else ""
        raise another_study(store, key, old, new, more + harm)
    return "study.json was altered after it was written" if is_altered else ""


#: Settings that do not change any replicate. Messages name other settings first.
_HARMLESS = ("study.name", "study.alpha", "study.adjust", "study.tests", "study.published", "study.performance")


def _grown(store: Store, before: Mapping[str, Any], prepared: Prepared) -> set[str]:
    """Return the names of populations to which files were added, with all earlier files unchanged."""
    names = set()
    for data in prepared.datasets:
        if not isinstance(data, Growing):
            continue
        with contextlib.suppress(KeyError, FileNotFoundError, Damaged):
            if data.extends(read_data(store, type(data), data.name, before["inputs"][data.name])):
                names.add(data.name)
    return names


def _harm(store: Store, plan: Plan, grown: Collection[str]) -> str:
    """Return a description of the stored cells that would change or be lost, or "" if the study has only grown.

    A cell changes if the new cell with the same subject draws or reads something else. This is allowed for populations
    that have `grown`, and for code from other packages (`sigstats.flows.running.study.changed_code`). A cell that the
    new plan omits is not lost if the study has its data set and classifiers, or the same code under another name.
    """
    try:
        before = read_plan(store)
    except (FileNotFoundError, Damaged):  # no cell was begun, or the fingerprints of the files decide
        return ""
    now = group_by(plan.cells, _subject)
    present = {part for cell in plan.cells for part in cell.subject.items()}
    fingerprints = {cell.fingerprint for cell in plan.cells}
    changed = [
        cell
        for cell in before.cells
        if _subject(cell) in now
        and cell.subject.get("dataset") not in grown
        # A cell that differs only in the version of the fan-out or in code is the same cell and is computed again.
        and not any(
            cell.definition == other.definition and other.replicates >= cell.replicates for other in now[_subject(cell)]
        )
    ]
    lost = [
        cell
        for cell in before.cells
        if any(part not in present for part in cell.subject.items() if part[0] in ("dataset", "classifier"))
        and not (cell.fingerprint in fingerprints and own_code(cell))
    ]
    return "".join(_in_words(cells, verb) for cells, verb in ((changed, "change"), (lost, "lose")) if cells)


def _subject(cell: Cell) -> str:
    return digest("subject", fanout=cell.fanout, subject=cell.subject)


def _in_words(cells: Sequence[Cell], verb: str) -> str:
    first, others = f"{in_words(cells[0])} of {', '.join(cells[0].subject.values())}", len(cells) - 1
    more = f" and {others:,} more" if others else ""
    return f"; it would {verb} {count_of(len(cells), 'stored cell')}, {first}{more}"


def write_inputs(store: Store, identity: Mapping[str, Any], prepared: Prepared, *, alone: bool = True) -> list[str]:
    """Write the files that workers and readers need: ``study.json``, the data, the plan, and published results.

    `identity`: the identity of the study. `alone`: True if no other run writes to the output, so that the remains of
    killed runs can be removed.

    Returns a line per stored table that could not be used. These tables are written again, the summary later.
    """
    if alone:
        store.files.sweep()
    damaged = [store.usable(f"{kind}.parquet", kind=kind)[1] for kind in ("plan", "summary", "references")]
    record = {**identity, "fingerprint": digest("study", **identity), "versions": _versions()}
    store.write_json("study.json", record | ({"notes": prepared.notes} if prepared.notes else {}))
    damaged += [write_data(store, dataset) for dataset in prepared.datasets]
    if prepared.references:
        write_references(store, prepared.references)
    write_plan(store, prepared.plan)
    return list(filter(None, damaged))


def _versions() -> dict[str, str]:
    """Return the versions of Python and of packages, for readers. They are not part of the identity."""
    packages = (
        "sigstats", "numpy", "scipy", "scikit-learn", "pyarrow", "dask", "distributed", "prefect", "python-flint",
    )  # fmt: skip
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in packages}


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any, Any]]:
    changes: list[tuple[str, Any, Any]] = []
    for key in sorted({*old, *new}):
        a, b = old.get(key), new.get(key)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            changes.extend(_differences(a, b, f"{prefix}{key}."))
        elif a != b:
            changes.append((f"{prefix}{key}", a, b))
    return changes
