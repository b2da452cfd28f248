"""Tests of accumulating rows, valid at every look."""
