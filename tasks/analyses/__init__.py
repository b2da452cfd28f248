"""The analyses: how stored replicates become hypotheses. A new test of a study is one new module of this folder.

A module has a function ``rows(results)`` that yields `sigstats.tasks.schema.Hypothesis` for every hypothesis it can
find in a study, in the order of the plan, one with ``decision="missing"`` where replicates are missing. It fills in
what it knows; adjustment for multiplicity, the possibilistic indices and the decision are added for all tests alike by
`sigstats.tasks.summary.summarize`.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache

from ..schema import Hypothesis
from ..summary.results import Results


def names() -> list[str]:
    """The names of all analyses."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))


@cache
def analysis(name: str) -> Callable[[Results], Iterator[Hypothesis]]:
    """The function of an analysis."""
    if name not in names():
        raise ValueError(f"analysis: {name!r} is not valid; expected one of {', '.join(names())}")
    rows: Callable[[Results], Iterator[Hypothesis]] = importlib.import_module(f"{__name__}.{name}").rows
    return rows
