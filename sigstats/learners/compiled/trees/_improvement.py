"""By how much a split improves a node, and the draws of columns, as scikit-learn has them, compiled by Numba.

What is compared is made of the same floats in the same order as scikit-learn's, and columns are searched in the order
that it draws, as the first of equal splits wins.
"""

from typing import Any, Final

import numpy as np

from sigstats._common.compiled import compiled

#: scikit-learn holds values no farther apart than this to be equal.
SAME: Final = np.float32(1e-7)
EPSILON: Final = float(np.finfo(np.float64).eps)


@compiled
def improvement(left_squares: int, n_left: int, right_squares: int, n_right: int) -> Any:
    """The number by which scikit-learn compares splits, and the impurities of the parts."""
    left_impurity = 1.0 - left_squares / (float(n_left) * float(n_left))
    right_impurity = 1.0 - right_squares / (float(n_right) * float(n_right))
    return -float(n_right) * right_impurity - float(n_left) * left_impurity, left_impurity, right_impurity


@compiled
def helps(left_squares: int, n_left: int, right_squares: int, n: int, impurity: float, drawn_in_all: int) -> bool:
    """True if scikit-learn takes the split of a node of `n` draws."""
    rest = n - n_left
    _, left_impurity, right_impurity = improvement(left_squares, n_left, right_squares, rest)
    gain = impurity - float(rest) / float(n) * right_impurity - float(n_left) / float(n) * left_impurity
    return not float(n) / float(drawn_in_all) * gain + EPSILON < 0


@compiled
def floor_of(best: float, n: float) -> float:
    """The least sum of the squares of both parts, each over its number, in a split as good as `best`.

    Rounding of `improvement` is far below what is left here.
    """
    return best + n - 1e-9 * n


@compiled
def promising(left_squares: int, n_left: int, right_squares: int, n_right: int, floor: float) -> bool:
    """True if a split may be as good as the one that `floor_of` was taken of: without a division, as most are not."""
    lefts, rights = float(n_left), float(n_right)
    return float(left_squares) * rights + float(right_squares) * lefts >= floor * (lefts * rights)


@compiled
def next_draw(state: int) -> int:
    """The next number of scikit-learn's sequence: an xorshift of 32 bits."""
    state = (state ^ (state << 13)) & 0xFFFFFFFF
    state ^= state >> 17
    return (state ^ (state << 5)) & 0xFFFFFFFF


@compiled
def draw_place(columns: Any, known: int, constant: int, drawn: int, undrawn: int, state: int) -> tuple[int, int, int]:
    """The place of the next column to look at, how many known constants were drawn, and the state of the sequence.

    The place is -1 if a known constant was drawn. In `columns` stand known constants that were drawn, known constants,
    constants found in this node, those not drawn yet, and from `undrawn` on those that were searched.
    """
    state = next_draw(state)
    at = drawn + (state & 0x7FFFFFFF) % (undrawn - (constant - known) - drawn)
    if at < known:
        columns[drawn], columns[at] = columns[at], columns[drawn]
        return -1, drawn + 1, state
    return at + constant - known, drawn, state
