"""Prefect: the flow of a run, and scheduled deployments. This module sets Prefect's environment before its import."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

#: Settings with which Prefect sends no telemetry and writes nothing to the terminal.
QUIET: Mapping[str, str] = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_FLOW_RUNS_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_TASK_RUNS_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
}


def server_configured() -> bool:
    """Return True if a Prefect server is configured in the environment or in a profile."""
    if os.environ.get("PREFECT_API_URL"):
        return True
    home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect")
    try:
        return "PREFECT_API_URL" in (home / "profiles.toml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def set_up() -> None:
    """Silence Prefect, unless the environment contains other settings."""
    logging.raiseExceptions = False  # otherwise Prefect prints, in the middle of a line, that its server takes no log
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
