"""The page of a calibration study, with its design."""

from ...report.evidence import KindPage, Particulars
from . import nested_loops, null_p_values, paired_rates, power_curves, stated_confidence, zips
from .design import design
from .first_screen import screen

PAGE = KindPage(
    sections={
        "sigstats.flows.calibration.report.rates": ("calibration",),
        "sigstats.flows.calibration.report.performance": ("confidence", "performance", "sample-size", "trained"),
    },
    figures=(
        power_curves.draw,
        null_p_values.draw_rates,
        stated_confidence.draw_resampled,
        stated_confidence.draw_reliability,
        nested_loops.draw,
        null_p_values.draw_law,
        paired_rates.draw,
        zips.draw,
    ),
    particulars=lambda evidence: Particulars(figure=screen(evidence), design=design(evidence)),
)
