"""The bar of a run: on a terminal, or in a notebook."""

import html
import sys
from collections.abc import Callable
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from sigstats._common.printable import printable


class Bar(Protocol):
    """What shows how far a run is."""

    def start(self) -> None:
        """Show it."""

    def draw(self, done: int, text: str) -> None:
        """Show how many replicates there are, and a line of text."""

    def stop(self) -> None:
        """Leave it as it is."""


class TerminalBar:
    """A bar in the last line of a terminal."""

    def __init__(self, console: Console, total: int) -> None:
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            console=console,
        )
        self._task = self._bar.add_task("starting", total=total)

    def start(self) -> None:
        """Show it."""
        self._bar.start()

    def draw(self, done: int, text: str) -> None:
        """Show how many replicates there are, and a line of text."""
        self._bar.update(self._task, completed=done, description=printable(text))

    def stop(self) -> None:
        """Leave it as it is."""
        self._bar.stop()


class NotebookBar:
    """A bar in the output of a notebook's cell, which is drawn anew in its place.

    Parameters
    ----------
    total : int
        The replicates of the run.
    display : callable
        ``IPython.display.display``: shows an object, and returns a handle that shows another one in its place.

    Examples
    --------
    >>> from sigstats.flows.running.bars import NotebookBar
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
        """Show it."""
        self._handle = self._display(self, display_id=True)

    def draw(self, done: int, text: str) -> None:
        """Show how many replicates there are, and a line of text."""
        self._done, self._text = done, text
        if self._handle is not None:
            self._handle.update(self)

    def stop(self) -> None:
        """Leave it as it is."""

    def __repr__(self) -> str:
        return printable(self._text)

    def _repr_html_(self) -> str:
        text = html.escape(printable(self._text))
        return f'<progress value="{self._done}" max="{max(self._total, 1)}"></progress> {text}'


def in_notebook() -> bool:
    """Whether this process answers the cells of a notebook: IPython is there, with a kernel."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def notebook_bar(total: int) -> NotebookBar:
    """A bar in the output of the cell that is run now."""
    from IPython.display import display

    return NotebookBar(total, display)
