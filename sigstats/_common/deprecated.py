"""Former names, which work for one more minor release and warn (docs/releases.md)."""

import warnings
from importlib import import_module
from typing import Any

#: Former names of `sigstats`: the module and the name now, and the release that no longer has the former name.
MOVED = {
    "dcf_test": ("sigstats.proportions", "dcf_test", "0.3"),
    "dominance": ("sigstats.possibilistic", "dominance", "0.3"),
    "membership": ("sigstats.possibilistic", "membership", "0.3"),
    "possibility": ("sigstats.possibilistic", "possibility", "0.3"),
    "proportion_test": ("sigstats.proportions", "proportion_test", "0.3"),
    "rank_sets": ("sigstats.ranking.rank_sets", "rank_sets", "0.3"),
    "relax_probabilities": ("sigstats.possibilistic", "relax_probabilities", "0.3"),
    "weigh_hypotheses": ("sigstats.possibilistic", "weigh_hypotheses", "0.3"),
}


def moved(name: str) -> Any:
    """The object that a name of `MOVED` stands for."""
    module, now, until = MOVED[name]
    told = f"sigstats.{name} is now {module}.{now}; the former name goes with {until}"
    warnings.warn(told, DeprecationWarning, stacklevel=3)
    return getattr(import_module(module), now)
