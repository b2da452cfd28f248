"""Histograms of bootstrap replicates of a difference (Keller, Mariethoz and Bengio, Figure 1)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from sigstats.tasks.schema import Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...pages.wording import number, percent
from ..evidence import Evidence, group_by
from ..section import Figure
from ..usual_columns import where

ORDER = 8
_WIDTH, _HEIGHT = 300.0, 150.0


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure, a panel for each bootstrap of trained classifiers; those of one measure are side by side."""
    panels = []
    groups = group_by(list(evidence.of("confidence")), lambda row: row.method).values()
    for index, row in enumerate(row for group in groups for row in group):
        if row.resampled is not None:
            panels.append(_panel(f"resampled-{index}", row, json.loads(row.resampled)))
    if panels:
        yield Figure(
            title="Resampled differences on the one test set",
            caption=(
                "Bootstrap replicates of the difference between the classifier that is better on the test set and the "
                "other. Those up to zero do not bear it out; the share of the others is the stated "
                "confidence. The shaded part holds 95% of the replicates, centred at their mean: if 0 is outside, the "
                "two differ with 95% confidence (Keller, Mariethoz and Bengio, Figure 1 and equation 14)."
            ),
            body=svg.side_by_side(panels),
        )


def _panel(name: str, row: Hypothesis, found: Mapping[str, Any]) -> Markup:
    width, mean, counts = found["width"], found["mean"], np.array(found["counts"])
    left = (found["first"] + np.arange(len(counts))) * width
    axes = Axes(
        width=_WIDTH, height=_HEIGHT, left=9, right=9, x_limits=(float(left[0]), float(left[-1] + width)), bottom=38
    )
    heights = np.maximum(counts / counts.max() * (axes.base - axes.top), np.where(counts > 0, 0.8, 0.0))
    positions = np.array([axes.x(value) for value in left.tolist()])
    step = axes.x(float(left[0]) + width) - axes.x(float(left[0]))
    behind = left < -1e-15
    band = [float(np.clip(mean + side * found["reach"], left[0], left[-1] + width)) for side in (-1, 1)]
    parts = [
        axes.band(band, [0.0, 0.0], [1.0, 1.0]),
        *(
            svg.path(css, svg.bars(np.where(shown, heights, 0.0), positions, step, axes.base))
            for css, shown in (("null", ~behind), ("extreme", behind))
            if (shown & (counts > 0)).any()
        ),
        axes.upwards("observed", 0.0),
        axes.x_axis(f"difference in {row.measure}", most=4),
    ]
    description = (
        f"{found['replicates']:,} replicates, mean {number(mean, 4)}, observed {number(found['observed'], 4)}; "
        f"{percent(found['above'])} are above 0."
    )
    title = f"{where(row)}: {row.method}, {percent(row.statistic or 0.0)} sure of {row.b}"
    return Markup('<figure class="trend resampled"><h4>{}</h4>{}</figure>').format(
        title, axes.drawing(name, title, description, *parts)
    )
