"""A part of a study: one of N runs that share one output, need no scheduler, and may run at any time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sigstats._common.messages import shown
from sigstats.tasks.plan import Cell
from sigstats.tasks.work import Work as Work

from ..errors import BadInput

#: As many parts are enough: a study has few cells of more lanes.
_MOST = 100_000


@dataclass(frozen=True)
class Part:
    """Part `number`, from 1, of `total`.

    >>> cell = Cell(fanout="f", version=1, subject={}, work=Work(), stream={}, seed=0, replicates=95, lane_size=10)
    >>> [parse_part(f"{k}/3").lanes([cell])[cell.name] for k in (1, 2, 3)]
    [(0, 3), (3, 6), (6, 10)]
    """

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def lanes(self, cells: Sequence[Cell]) -> dict[str, tuple[int, int]]:
        """The lanes ``first <= lane < last`` of this part, by the names of the cells of which it has any.

        The lanes of a cell are divided among all parts, or as many as there are lanes. A cell that a rule may stop is
        the work of one part, since the rule looks at all replicates before the next. Cells with fewer lanes than there
        are parts go to the parts in turn.
        """
        found, turn = {}, 0
        for cell in cells:
            pieces = min(self.total, cell.lanes) if cell.stopping is None else 1
            piece = (self.number - 1 - turn) % self.total
            if piece < pieces:
                found[cell.name] = (cell.lanes * piece // pieces, cell.lanes * (piece + 1) // pieces)
            turn = (turn + pieces) % self.total
        return found


def parse_part(text: str) -> Part:
    """The part that ``--part`` names, as in ``3/40``.

    Raises BadInput, one line that names the value and what would be right.
    """
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    number, total = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= total <= _MOST:
        wanted = f"1/{total} to {total}/{total}" if match and 1 <= total <= _MOST else "K/N, as in 1/4"
        raise BadInput(f"--part: {shown(text)} is not valid; expected {wanted}")
    return Part(number, total)
