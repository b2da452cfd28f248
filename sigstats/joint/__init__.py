"""Counts of rows by what two classifiers did with them."""
