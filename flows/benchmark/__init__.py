"""Benchmarks: the model of a study file, and its plan."""
