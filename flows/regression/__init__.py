"""Regression studies: comparisons with a history."""
