"""Computations that run on workers, and the files that they store."""
