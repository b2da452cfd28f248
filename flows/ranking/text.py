"""A leaderboard in the terminal."""

import io
import shutil
import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sigstats._common.messages import printable
from sigstats.ranking.result import Ranking

from .words import basis, cells_of, header_of, headline, ranks_of


def show(found: Ranking) -> None:
    """Print the headline, the models, and which of them may be best in each slice."""
    terminal, target = sys.stdout.isatty(), io.StringIO()
    width = shutil.get_terminal_size((80, 24)).columns if terminal else 160
    console = Console(file=target, highlight=False, soft_wrap=True, width=width, force_terminal=terminal or None)

    def say(line: str, style: str = "") -> None:
        console.print(Text(printable(line), style=style))

    say(f"{headline(found)}.", "bold")
    for note in found.notes:
        say(f"note: {note}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in header_of(found):
        table.add_column(name, justify="left" if name == "model" else "right", no_wrap=True)
    for model in found.models:
        cells = (Text(printable(cell)) for cell in cells_of(model, found.n))
        table.add_row(*cells, style="bold" if model.tier == 1 else None)
    console.print(table)
    for each in found.slices:
        best = ", ".join(f"{model.model} ({ranks_of(model)})" for model in each.models if model.tier == 1)
        say(f"{each.slice}, {each.n:,} {found.unit}s: {each.note or 'may be the best: ' + best}")
    say(f"{basis(found)}.", "dim")
    sys.stdout.write(target.getvalue())
