"""Histogram boosting, compiled: bins, and the rounds of trees."""

from ._growth import room_for
from ._rounds import Levels, bin_rows, boost

__all__ = ["Levels", "bin_rows", "boost", "room_for"]
