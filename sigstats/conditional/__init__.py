"""Exact tests of 2 x K tables given their margins."""
