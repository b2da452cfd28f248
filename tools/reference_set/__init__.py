"""The programs that make the reference set: ``python -m tools.reference_set``. None of them imports `sigstats`."""
