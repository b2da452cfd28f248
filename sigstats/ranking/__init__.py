"""Ranks of many models on the same rows."""
