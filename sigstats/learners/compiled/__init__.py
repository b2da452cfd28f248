"""Learners' code that Numba compiles; `sigstats.learners.door` is the way in, and nothing outside imports it."""
