"""Permutation tests that retrain a classifier."""
