"""Builds the fault into the processes in which workers compute a block apart; these find this folder on their path."""

import os

if os.environ.get("SIGSTATS_FAULT"):
    import program  # noqa: F401
