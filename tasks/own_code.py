"""Code of other packages in a cell: a classifier that is not scikit-learn's, as the run was planned with it."""

import platform
from collections.abc import Mapping, Sequence
from typing import Any

from sigstats.learners import build, own


class OtherCode(Exception):
    """A worker has other code than the run was planned with; the message names both."""


def code_of(learner: str, allowed: Sequence[str]) -> dict[str, str] | None:
    """What identifies the code of a learner of another package; None for those of this package and scikit-learn's."""
    from sigstats.learners import READY

    if learner in READY or not (own.is_path(learner) or learner in own.named()):
        return None
    return own.code_of(learner, allowed)


def build_as_planned(classifier: Mapping[str, Any], **data: Any) -> Any:
    """The estimator of a cell's ``classifier``, which has ``learner``, ``params`` and, if it is not ours, its ``code``.

    Raises
    ------
    OtherCode
        If this process has another version of it than the run was planned with.
    """
    learner, code = classifier["learner"], classifier.get("code")
    if code is None:
        return build(learner, params=classifier["params"], **data)
    allowed = ("sklearn", code["package"])
    try:
        here = own.code_of(learner, allowed)
    except ValueError as error:
        raise OtherCode(f"{_where()} cannot use {learner} ({error}); expected {_said(code)}") from None
    if here != code:
        raise OtherCode(f"{_where()} has {_said(here)}, and the run was planned with {_said(code)}")
    return build(learner, params=classifier["params"], allowed=allowed, **data)


def _where() -> str:
    return f"the worker on host {platform.node()}"


def _said(code: Mapping[str, str]) -> str:
    """The code in words."""
    version = f" {code['version']}" if code["version"] else ""
    return f"{code['package']}{version} (source {code['source'][:10]})"


def difference(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """How the code of a learner has changed, in words."""
    if before["version"] != now["version"]:
        return f"{now['package']} was {before['version'] or 'without a version'}, is {now['version'] or 'without one'}"
    return f"the source of {now['package']} has changed"
