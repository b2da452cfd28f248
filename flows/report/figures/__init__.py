"""The figures of the report, by the modules that draw them.

A figure is a piece of HTML (inline SVG, or a table with coloured cells) whose colours are classes of the page's style
sheet, so that it works on light, dark and paper. `FIGURES` of a module has, for the name of each kind, its position
among the others, and the function that draws those that the evidence contains.
"""

import importlib
from collections.abc import Callable, Iterable

from ..evidence import Evidence
from ..section import Figure

#: The modules that draw figures, and the kinds of study that have them.
MODULES = {
    "sigstats.flows.significance.report.counts": ("significance",),
    "sigstats.flows.report.figures.dominance": ("benchmark", "significance"),
    "sigstats.flows.calibration.report.nested_loops": ("calibration",),
    "sigstats.flows.benchmark.report.null_histograms": ("benchmark",),
    "sigstats.flows.calibration.report.null_p_values": ("calibration",),
    "sigstats.flows.report.figures.over_data_sets": ("benchmark", "significance"),
    "sigstats.flows.calibration.report.paired_rates": ("calibration",),
    "sigstats.flows.calibration.report.power_curves": ("calibration",),
    "sigstats.flows.report.figures.single_classifiers": ("benchmark", "significance"),
    "sigstats.flows.calibration.report.stated_confidence": ("calibration",),
    "sigstats.flows.benchmark.report.trends": ("benchmark",),
    "sigstats.flows.calibration.report.zips": ("calibration",),
}


def kinds(study: str | None = None) -> dict[str, Callable[[Evidence], Iterable[Figure]]]:
    """The functions that draw the figures of a kind of study, all by default, by name in the order of the report."""
    wanted = [name for name, of in MODULES.items() if study is None or study in of]
    every = [kind for module in map(importlib.import_module, wanted) for kind in module.FIGURES.items()]
    return {name: draw for name, (_, draw) in sorted(every, key=lambda kind: kind[1][0])}


def draw_all(evidence: Evidence) -> list[Figure]:
    """Every figure that there is something to draw in."""
    return [figure for draw in kinds(evidence.results.plan.kind).values() for figure in draw(evidence)]
