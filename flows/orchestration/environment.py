"""The settings of Prefect that must be in the environment before Prefect is imported."""

import logging
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

#: No telemetry is sent, only errors reach the terminal, and a server on a busy machine has time to start.
QUIET: Mapping[str, str] = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_FLOW_RUNS_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_TASK_RUNS_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
}


def server_configured() -> bool:
    """Whether a Prefect server is configured, in the environment or in a profile."""
    if os.environ.get("PREFECT_API_URL"):
        return True
    home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect")
    try:
        return "PREFECT_API_URL" in (home / "profiles.toml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def set_up(output: str) -> None:
    """Silence Prefect and keep its files with those of the study, unless the environment sets it otherwise.

    A temporary server that this process starts answers only this run.
    """
    logging.raiseExceptions = False  # otherwise Prefect prints, within a line, that its server accepts no log
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    if server_configured():
        return
    if "://" not in output:
        home = Path(os.environ.setdefault("PREFECT_HOME", str(Path(output).absolute() / "prefect")))
        home.mkdir(parents=True, exist_ok=True)
    # The temporary server listens on 127.0.0.1, which other accounts of the machine reach too; but none of them sees
    # the environment of a process.
    token = os.environ.setdefault("PREFECT_SERVER_API_AUTH_STRING", f"sigstats:{secrets.token_urlsafe(32)}")
    os.environ["PREFECT_API_AUTH_STRING"] = token
