"""The progress bar of a run: on a terminal, or in a notebook."""

import html
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from sigstats._common.messages import printable


class TerminalBar(Progress):
    """A bar in the last line of a terminal."""

    def __init__(self, console: Console, total: int) -> None:
        # Only the text is shortened if the terminal is narrow.
        text = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))
        super().__init__(
            SpinnerColumn(), TimeElapsedColumn(), BarColumn(bar_width=20), text, console=console, expand=True
        )
        self._replicates = self.add_task("starting", total=total)

    def draw(self, done: int, text: str) -> None:
        """Show the number of replicates that are done, and a line of text."""
        self.update(self._replicates, completed=done, description=printable(text))


class NotebookBar:
    """A bar in the output of a notebook's cell; each drawing replaces the one before.

    >>> bar = NotebookBar(200, display=lambda bar, display_id: None)
    >>> bar.draw(50, "1/4 cells")
    >>> bar
    1/4 cells
    >>> bar._repr_html_()
    '<progress value="50" max="200"></progress> 1/4 cells'
    """

    def __init__(self, total: int, display: Callable[..., Any]) -> None:
        self._total, self._display = total, display
        self._done, self._text = 0, "starting"
        self._handle: Any = None

    def start(self) -> None:
        """Show the bar."""
        self._handle = self._display(self, display_id=True)

    def draw(self, done: int, text: str) -> None:
        """Show the number of replicates that are done, and a line of text."""
        self._done, self._text = done, text
        if self._handle is not None:
            self._handle.update(self)

    def stop(self) -> None:
        """Stop drawing, and keep what was drawn last."""

    def __repr__(self) -> str:
        return printable(self._text)

    def _repr_html_(self) -> str:
        text = html.escape(printable(self._text))
        return f'<progress value="{self._done}" max="{max(self._total, 1)}"></progress> {text}'


def in_notebook() -> bool:
    """True if this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def notebook_bar(total: int) -> NotebookBar:
    """A bar in the output of the notebook's cell that is running."""
    from IPython.display import display

    return NotebookBar(total, display)
