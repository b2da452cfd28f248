"""What goes wrong in a way that a person can mend, and the exit codes of the program."""

DONE, REGRESSION, BAD_INPUT, FAILED = 0, 1, 2, 3


class BadInput(Exception):
    """One line that names the field, the value and what would be right. Nothing was written."""


class RunFailed(Exception):
    """The run ended without all of its results; the message says what is missing."""
