"""Tests of two or more models over many data sets."""
