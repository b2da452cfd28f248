"""Benchmarks: the model of a study file, its plan, and what would make it cheaper."""
