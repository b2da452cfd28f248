"""Tests of class counts against required class probabilities."""
