"""Blocks of replicates: cut, run on a pool of workers, stopped early."""
