"""Calibrations: the model of a study file, its tests and populations, and its plan."""
