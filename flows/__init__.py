"""Programs that a person or a schedule starts. In a flow of Prefect: ``from sigstats.flows import study_flow``."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .orchestration.flow_run import StudyFailed as StudyFailed
    from .orchestration.study_flow import study_flow as study_flow

_PLACES = {"study_flow": "study_flow", "StudyFailed": "flow_run"}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # Prefect takes seconds to import

    return getattr(import_module(f".orchestration.{_PLACES[name]}", __name__), name)
