"""A study as one flow run of Prefect, with its artifacts.

Import this module only after `sigstats.flows.orchestration.environment`.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import prefect
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.logging import get_run_logger
from prefect.states import Completed, Failed

from ..config.study import Study
from ..running.result import StudyResult

R = TypeVar("R", bound=StudyResult)


def run_as_flow(study: Study, *, output: str, work: Callable[[], R]) -> R:
    """What `work` returns, computed in a flow run of the configured server; raises what `work` raises."""
    results: list[R] = []
    raised: list[BaseException] = []

    @prefect.flow(
        name=f"sigstats-{study.kind}", flow_run_name=study.name, persist_result=False, validate_parameters=False
    )
    def study_flow(study: Study, output: str) -> Any:  # noqa: ARG001 (Prefect shows a run's parameters)
        try:
            results.append(work())
        except Exception as error:
            raised.append(error)
            raise
        return state_of(results[0], study=study.name)

    study_flow(study, output, return_state=True)
    if raised:
        raise raised[0]
    return results[0]


def state_of(result: StudyResult, *, study: str) -> Any:
    """The state in which the flow run of a study ends; leaves the result's artifacts.

    An exit code other than 0 fails the flow run, with its reasons.
    """
    logger = get_run_logger()
    logger.info("%s: %s", result.title, result.subject)
    for name, rows in result.artifacts.tables.items():
        create_table_artifact(list(rows), key=_key(study, name), description=result.title)
    for name, text in result.artifacts.markdown.items():
        create_markdown_artifact(text, key=_key(study, name), description=result.title)
    for name, place in result.artifacts.links.items():
        link = place if "://" in place else Path(place).absolute().as_uri()
        create_link_artifact(link, link_text=name, key=_key(study, name), description=f"{study}: {name}")
    reasons = "; ".join(result.reasons)
    message = f"{result.title}: {reasons}" if reasons else result.title
    if result.code:
        for reason in result.reasons:
            logger.error("%s", reason)
        return Failed(message=message)
    return Completed(message=message)


def _key(study: str, name: str) -> str:
    """An artifact's key: small letters, digits and dashes alone."""
    return re.sub(r"[^a-z0-9]+", "-", f"{study}-{name}".lower()).strip("-")
