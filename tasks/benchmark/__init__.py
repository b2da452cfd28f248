"""Benchmark studies: fan-outs that cross-validate and retrain classifiers, and the analyses of their runs."""
