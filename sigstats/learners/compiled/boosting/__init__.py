"""Histogram boosting, compiled: bins, and the rounds of trees."""

from ._bins import Levels, bin_rows
from ._growth import room_for
from ._rounds import boost

__all__ = ["Levels", "bin_rows", "boost", "room_for"]
