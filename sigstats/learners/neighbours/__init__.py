"""Nearest neighbours: the estimator, and its batched form, which lists distances before the permutations."""
