"""Bounds that one more row, of an unseen kind, does not undo."""
