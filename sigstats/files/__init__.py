"""Readers of a user's data: files, tables, logs of evaluations, data frames."""
