"""Tests that two independent samples fall into classes with equal probabilities."""
