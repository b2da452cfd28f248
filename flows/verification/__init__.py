"""This machine's answers held against the reference set: `sigstats verify`."""
