"""Tests of two classifiers by their scores."""
