"""The figures of the report, by the modules that draw them.

A figure is a piece of HTML (inline SVG, or a table with coloured cells) whose colours are classes of the page's style
sheet, so that it is right on light, dark and paper. `FIGURES` of a module has for the name of each of its kinds where
it stands among the others, and the function that draws those that the evidence holds.
"""

import importlib
from collections.abc import Callable, Iterable

from ..evidence import Evidence
from ..section import Figure

#: The modules that draw figures.
MODULES = (
    "sigstats.flows.report.figures.counts",
    "sigstats.flows.report.figures.dominance",
    "sigstats.flows.report.figures.nested_loops",
    "sigstats.flows.report.figures.null_histograms",
    "sigstats.flows.report.figures.null_p_values",
    "sigstats.flows.report.figures.over_data_sets",
    "sigstats.flows.report.figures.paired_rates",
    "sigstats.flows.report.figures.power_curves",
    "sigstats.flows.report.figures.single_classifiers",
    "sigstats.flows.report.figures.stated_confidence",
    "sigstats.flows.report.figures.trends",
    "sigstats.flows.report.figures.zips",
)


def kinds() -> dict[str, Callable[[Evidence], Iterable[Figure]]]:
    """The functions that draw each kind of figure, by its name, in the order of the report."""
    every = [kind for module in map(importlib.import_module, MODULES) for kind in module.FIGURES.items()]
    return {name: draw for name, (_, draw) in sorted(every, key=lambda kind: kind[1][0])}


def draw_all(evidence: Evidence) -> list[Figure]:
    """Every figure that there is something to draw in."""
    return [figure for draw in kinds().values() for figure in draw(evidence)]
