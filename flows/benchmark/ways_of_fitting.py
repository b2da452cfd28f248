"""Report of the classifiers of a benchmark study that share work between permutations, are compiled, or refitted."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from sigstats.tasks.benchmark.fan_outs import lent_retrainer
from sigstats.tasks.benchmark.work import CrossValidated
from sigstats.tasks.storage.store import Store

from ..running.estimate import Estimate


def ways_of_fitting(estimates: Sequence[Estimate], scratch: Store) -> Iterator[str]:
    """Yield one line: the classifiers whose permutations share work, the compiled ones, and the refitted ones."""
    names_by_way = defaultdict[str, dict[str, None]](dict)
    for estimate in estimates:
        cell = estimate.cell
        if cell.fanout in ("retrain", "measured-retrain") and estimate.seconds:
            null: Any = cell.subject["null"]
            with lent_retrainer(scratch, cell.work_of(CrossValidated), null=null) as classifier:
                names_by_way[classifier.fits][cell.subject["classifier"]] = None
    if names_by_way:
        yield "; ".join(f"{way}: {', '.join(names)}" for way, names in sorted(names_by_way.items(), reverse=True))
