"""The exit codes of the program, and the error for bad input."""

DONE, REGRESSION, BAD_INPUT, FAILED = 0, 1, 2, 3


class BadInput(Exception):
    """One line that names the field, the value and what would be right. Nothing was written."""
