"""What trees of coded columns are written to, and what is overwritten in each of their nodes, compiled by Numba."""

from typing import Any, NamedTuple

import numpy as np

from sigstats._common.compiled import borrowed, compiled

from ._coded_levels import Levels, room
from ._coded_splits import Coded, Tried
from ._coded_thresholds import Lefts
from ._forest_splits import Settings


class Tree(NamedTuple):
    """By node: its column (-1 in a leaf), the highest code that goes left, the nodes to go to, shares of classes."""

    asked: Any
    code: Any
    children: Any
    shares: Any


class Room(NamedTuple):
    """What is overwritten in each node."""

    tried: Tried
    lefts: Lefts
    levels: Levels
    columns: Any
    constants: Any
    thresholds: Any
    total: Any
    left: Any
    goes_left: Any
    spare: Any
    waiting: Any


@compiled
def make_room(sample: Coded, m: int, settings: Settings) -> Room:
    """Room for trees of up to `m` rows."""
    d, (n, width), n_classes = len(sample.values), sample.codes.shape, settings.n_classes
    lanes = np.zeros((4, width), dtype=sample.codes.dtype)
    sums = np.zeros((4, width), dtype=np.int32)
    return Room(
        Tried(lanes[0], lanes[1], np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)),
        Lefts(lanes[2], lanes[3], sums[0], sums[1], sums[2], sums[3]),
        room(1 if settings.drawn_thresholds else sample.values.shape[1], n_classes),
        np.empty(d, dtype=np.int32),
        np.empty(d, dtype=np.int32),
        np.empty(d, dtype=np.float64),
        np.empty(n_classes, dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
        np.zeros(n, dtype=np.uint8),
        np.empty(m, dtype=np.uint32),
        np.empty((m + 1, 5), dtype=np.int64),
    )


@compiled
def borrow(room: Room, tree: Tree) -> Any:
    """The same without owners."""
    tried, lefts, levels = room.tried, room.lefts, room.levels
    own = Room(
        Tried(borrowed(tried.lowest), borrowed(tried.highest), borrowed(tried.columns), borrowed(tried.draws)),
        Lefts(
            borrowed(lefts.code),
            borrowed(lefts.small),
            borrowed(lefts.of_class),
            borrowed(lefts.cut),
            borrowed(lefts.left_squares),
            borrowed(lefts.right_squares),
        ),
        Levels(borrowed(levels.classes), borrowed(levels.packed)),
        borrowed(room.columns),
        borrowed(room.constants),
        borrowed(room.thresholds),
        borrowed(room.total),
        borrowed(room.left),
        borrowed(room.goes_left),
        borrowed(room.spare),
        borrowed(room.waiting),
    )
    return own, Tree(borrowed(tree.asked), borrowed(tree.code), borrowed(tree.children), borrowed(tree.shares))
