"""Counts of rows by the joint outcome of two classifiers."""
