"""Compute the summary of a study from stored replicates."""
