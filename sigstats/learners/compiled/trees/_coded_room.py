"""Memory of trees of coded columns, and memory that each of their nodes overwrites, compiled by Numba."""

from typing import Any, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import borrowed, merged

from ._all_columns import Search, borrow_search, make_search
from ._coded_splits import Coded, Tried
from ._forest_folds import Settings


class Tree(NamedTuple):
    """The nodes, and the shares of classes in leaves of more than one class.

    Of a node that is split: its column, the highest code that goes left, and where it goes to the left and right: to a
    node, or to leaf -1 - k, whose rows are all of class k or have the shares k - n_classes. The first node is none: its
    left is where all begin.
    """

    nodes: Any
    shares: Any


class Room(NamedTuple):
    """Memory that each node overwrites."""

    tried: Tried
    levels: Any
    columns: Any
    constants: Any
    total: Any
    left: Any
    spare: Any
    waiting: Any
    search: Search


@merged
def make_room(sample: Coded, m: int, settings: Settings) -> tuple[Room, Tree]:
    """Room for trees of up to `m` rows."""
    d, n_classes = len(sample.values), settings.n_classes
    lanes = np.zeros((2, sample.codes.shape[1]), dtype=sample.codes.dtype)
    own = Room(
        Tried(lanes[0], lanes[1], np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)),
        np.zeros((1 if settings.drawn_thresholds else sample.values.shape[1], n_classes), dtype=np.int64),
        np.empty(d, dtype=np.int32),
        np.empty(d, dtype=np.int32),
        np.empty(n_classes, dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
        np.empty(m, dtype=np.uint32),
        np.empty((m + 1, 8), dtype=np.int64),
        make_search(sample, settings),
    )
    return own, Tree(np.empty((m + 1, 4), dtype=np.int32), np.empty((m, n_classes), dtype=np.float64))


@merged
def borrow(room: Room, tree: Tree) -> Any:
    """The same without owners."""
    tried = room.tried
    own = Room(
        Tried(
            borrowed(tried.lowest),
            borrowed(tried.highest),
            borrowed(tried.columns),
            borrowed(tried.draws),
        ),
        borrowed(room.levels),
        borrowed(room.columns),
        borrowed(room.constants),
        borrowed(room.total),
        borrowed(room.left),
        borrowed(room.spare),
        borrowed(room.waiting),
        borrow_search(room.search),
    )
    return own, Tree(borrowed(tree.nodes), borrowed(tree.shares))
