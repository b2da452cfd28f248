"""The computations that run on a worker, and the files that they store."""
