"""Bounds that remain valid with one more row of an unseen kind."""
