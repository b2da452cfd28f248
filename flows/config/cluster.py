"""Where a study runs: ``--cluster serial``, ``local``, ``tcp://HOST:PORT`` or a cluster file."""

from pathlib import Path
from typing import Any

from sigstats._common.validation import nearest, shown

from .. import clusters
from ..errors import BadInput
from .study import Strict, read_toml, validated


def load_cluster(text: str | None, workers: int | None = None) -> Strict:
    """The cluster that the command line names; local processes by default.

    Raises
    ------
    BadInput
        One line that names what is wrong.
    """
    known = clusters.kinds()
    values: dict[str, Any]
    source = "--cluster"
    if text is None or text in known:
        values = {"kind": text or "local"}
    elif "://" in text:
        values = {"kind": "address", "address": text}
    elif text.endswith(".toml") or Path(text).exists():
        source, values = text, read_toml(Path(text))
    else:
        near = nearest(text, known)
        hint = f" (did you mean {near!r}?)" if near else ""
        raise BadInput(
            f"--cluster: {text!r} is not valid; expected {', '.join(known)}, tcp://HOST:PORT or a cluster file{hint}"
        )
    kind = values.get("kind", "local")
    if not isinstance(kind, str) or kind not in known:
        raise BadInput(f"{source}: kind: {shown(kind)} is not valid; expected one of {', '.join(known)}")
    if workers is not None:
        if "workers" not in known[kind].model_fields:
            raise BadInput(
                f"--workers: {workers} is not valid; a cluster of kind {kind!r} has no number of workers to set"
            )
        values = {**values, "workers": workers}
    return validated(known[kind], values, source=source)
