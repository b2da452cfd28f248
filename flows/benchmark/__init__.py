"""Benchmarks: the model of a study file, its plan, and changes that make it cheaper."""
