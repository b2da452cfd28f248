"""What a person or a schedule starts. From a flow of Prefect: ``from sigstats.flows import study_flow``."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .orchestration.deployment import study_flow as study_flow


def __getattr__(name: str) -> Any:
    if name != "study_flow":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .orchestration.deployment import study_flow  # Prefect takes seconds to import

    return study_flow
