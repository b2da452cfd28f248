"""Changes that would make a benchmark study cheaper, and by how much, estimated from the cells that were timed."""

import importlib.util
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from sigstats.retraining.retrainer import Retrainer
from sigstats.tasks.benchmark.retrain import lent_retrainer
from sigstats.tasks.benchmark.work import CrossValidated
from sigstats.tasks.engine.guarded import run_guarded
from sigstats.tasks.engine.run_block import Failure
from sigstats.tasks.own_code import build_as_planned
from sigstats.tasks.plan import Cell
from sigstats.tasks.storage.store import Store

from ..running.estimate import Estimate
from ..running.progress import duration
from .model import BenchmarkStudy

#: A change that saves less than this share of the work is not named.
_WORTH = 0.1
#: The number of the costliest cells that are timed with other transforms.
_TRIED = 3
#: Trees of small sets take a tenth of the time with Numba and forests a third (`benchmarks/permutation.md`).
_NUMBA_SHARE = 0.5
#: Behind a scaler this learner takes a tenth of the time or less.
_SCALES, _SCALED = ".LogisticRegression", 0.9
_OF_NUMBA = ("DecisionTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier", "decision-tree")


def savings(study: BenchmarkStudy, estimates: Sequence[Estimate], scratch: Store) -> Iterator[str]:
    """The ways of retraining, and a line for each change of the study that would save a tenth of the work."""
    total = sum(one.expected or 0.0 for one in estimates)
    retrains = [one for one in estimates if one.cell.fanout in ("retrain", "measured-retrain") and one.seconds]
    yield from _fits(retrains, scratch)
    entries = {
        "permutation.stopping = 'gandy'": _by_stopping(study, retrains),
        "cross_validation.transforms = 'all'": _by_transforms(study, retrains, scratch),
        f"permutation.resamples = {study.resamples_needed:,}, the fewest that can reject": _by_fewer(study, retrains),
        "Numba (pip install 'sigstats[fast]')": _by_numba(retrains),
        "a StandardScaler first, such as of the ready learner 'logistic-regression'": _by_scalers(retrains, scratch),
    }
    for change, seconds in entries.items():
        if seconds >= max(_WORTH * total, 1.0):
            yield f"cheaper: {change} would save about {duration(seconds)}"


def _fits(retrains: Sequence[Estimate], scratch: Store) -> Iterator[str]:
    """A line that lists the classifiers whose permutations share work, the compiled ones, and the refitted ones."""
    named = defaultdict[str, dict[str, None]](dict)
    for one in retrains:
        with _lent(one.cell, scratch) as classifier:
            named[classifier.fits][one.cell.subject["classifier"]] = None
    if named:
        yield "; ".join(f"{fits}: {', '.join(names)}" for fits, names in sorted(named.items(), reverse=True))


def _by_stopping(study: BenchmarkStudy, retrains: Sequence[Estimate]) -> float:
    """The seconds saved by a stopping rule, with p from the timed replicates; the smallest if none is as extreme."""
    saved = 0.0
    for one in retrains:
        settings = study.permutation.stopping_of(
            alpha=study.alpha, adjust=study.adjust, tests=study.cases, replicates=one.cell.replicates, rule="gandy"
        )
        if one.cell.stopping is None and one.share is not None and one.seconds is not None:
            needed = replace(one.cell, stopping=settings).rule.stops_at(one.share)
            saved += one.seconds * max(0.0, 1 - max(0, needed - one.done) / one.left)
    return saved


def _by_fewer(study: BenchmarkStudy, retrains: Sequence[Estimate]) -> float:
    least = study.resamples_needed
    return sum(max(0.0, (r.expected or 0.0) - (r.per_replicate or 0.0) * max(0, least - r.done)) for r in retrains)


def _by_transforms(study: BenchmarkStudy, retrains: Sequence[Estimate], scratch: Store) -> float:
    if study.cross_validation.transforms == "all":
        return 0.0
    transformed = []
    for one in retrains:
        built = build_as_planned(one.cell.work_of(CrossValidated).classifier, nominal=None)
        if len(getattr(built, "steps", ())) > 1 and one.per_replicate is not None:
            transformed.append(one)
    saved = timed = 0.0
    for one in sorted(transformed, key=lambda one: -(one.expected or 0.0))[:_TRIED]:
        value = _timed_with_all(one.cell, scratch)
        if value is not None and one.per_replicate:
            expected = one.expected or 0.0
            saved, timed = saved + (1 - value / one.per_replicate) * expected, timed + expected
    return max(0.0, saved / timed if timed else 0.0) * sum(one.expected or 0.0 for one in transformed)


def _timed_with_all(cell: Cell, scratch: Store) -> float | None:
    work = cell.work_of(CrossValidated)
    settings = replace(work.cross_validation, transforms="all")
    block = replace(cell, work=replace(work, cross_validation=settings)).block(0, 1)
    outcomes = [run_guarded(block, scratch) for _ in range(2)]
    seconds = [one.seconds for one in outcomes if not isinstance(one, Failure)]
    return min(seconds) / (block.last - block.first) if seconds else None


def _learner(cell: Cell) -> str:
    return cell.work_of(CrossValidated).classifier.learner


def _lent(cell: Cell, scratch: Store) -> AbstractContextManager[Retrainer]:
    null: Any = cell.subject["null"]
    return lent_retrainer(scratch, cell.work_of(CrossValidated), null=null)


def _by_numba(retrains: Sequence[Estimate]) -> float:
    if importlib.util.find_spec("numba") is not None:
        return 0.0
    grown = [one for one in retrains if _learner(one.cell).rpartition(".")[2] in _OF_NUMBA]
    return _NUMBA_SHARE * sum(one.expected or 0.0 for one in grown)


def _by_scalers(retrains: Sequence[Estimate], scratch: Store) -> float:
    seconds = 0.0
    for one in (one for one in retrains if _learner(one.cell).endswith(_SCALES)):
        with _lent(one.cell, scratch) as classifier:
            seconds += (one.expected or 0.0) * classifier.batched_if_scaled
    return _SCALED * seconds
