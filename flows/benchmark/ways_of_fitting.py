"""How permutations retrain the classifiers of a benchmark study: which share work, are compiled, or are refitted."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from sigstats.tasks.benchmark.retrain import lent_retrainer
from sigstats.tasks.benchmark.work import CrossValidated
from sigstats.tasks.storage.store import Store

from ..running.estimate import Estimate


def ways_of_fitting(estimates: Sequence[Estimate], scratch: Store) -> Iterator[str]:
    """A line that lists the classifiers whose permutations share work, the compiled ones, and the refitted ones."""
    named = defaultdict[str, dict[str, None]](dict)
    for one in estimates:
        if one.cell.fanout in ("retrain", "measured-retrain") and one.seconds:
            null: Any = one.cell.subject["null"]
            with lent_retrainer(scratch, one.cell.work_of(CrossValidated), null=null) as classifier:
                named[classifier.fits][one.cell.subject["classifier"]] = None
    if named:
        yield "; ".join(f"{fits}: {', '.join(names)}" for fits, names in sorted(named.items(), reverse=True))
