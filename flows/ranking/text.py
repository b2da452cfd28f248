"""A leaderboard in the terminal."""

import sys

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sigstats.ranking.rank import Ranking

from .words import basis, cells_of, header_of, headline, ranks_of


def show(found: Ranking) -> None:
    """Print the headline, the models, and their ranks in each slice."""
    console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 160)
    console.print(f"{headline(found)}.", style="bold", markup=False)
    for note in found.notes:
        console.print(f"note: {note}", markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in header_of(found):
        table.add_column(name, justify="left" if name == "model" else "right", no_wrap=True)
    for model in found.models:
        table.add_row(*map(escape, cells_of(model, found.n)), style="bold" if model.tier == 1 else None)
    console.print(table)
    for each in found.slices:
        best = ", ".join(f"{model.model} ({ranks_of(model)})" for model in each.models if model.tier == 1)
        console.print(f"{each.slice}, {each.n:,} rows: {each.note or 'may be the best: ' + best}", markup=False)
    console.print(f"{basis(found)}.", markup=False, style="dim")
