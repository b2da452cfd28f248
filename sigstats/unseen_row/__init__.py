"""Bounds that one more row, of a kind not seen, does not undo."""
