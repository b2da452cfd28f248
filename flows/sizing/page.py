"""A sample-size plan as one page of HTML that needs no network."""

from sigstats._common.numerals import significant
from sigstats.comparison.size import SizePlan

from ..pages.page import page
from .power_plot import power_plot
from .words import DROPS_HEADER, PARTS_HEADER, answers_cells, answers_header, basis, drop_cells, headline, part_cells


def as_html(found: SizePlan) -> str:
    """The page: the headline, its basis, the power curves, the tables."""
    return page(
        "size.html.j2",
        title=headline(found),
        basis=list(basis(found)),
        target=f"{significant(100 * found.target)}%",
        at_hand=bool(found.parts),
        figure=power_plot(found),
        drops_header=DROPS_HEADER,
        drops=[drop_cells(found, each) for each in found.drops],
        answers_header=answers_header(found),
        answers=list(map(answers_cells, found.answers)),
        parts_header=PARTS_HEADER,
        parts=[part_cells(each) for each in found.parts] if len(found.parts) > 1 else [],
    )
