"""Measures of classifiers, computed from counts."""
