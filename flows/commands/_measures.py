"""The forms of ``--measure``: a name, a function, costs of wrong predictions, or two columns whose sums are divided."""

import argparse
import re
from typing import Any

from sigstats._common.messages import rephrased

from ..errors import BadInput
from . import repeatable
from ._options import as_options

#: Each form and its pattern; the first form whose pattern matches is meant.
_FORMS = {
    "costs": r"(f[np]=|\{).*|.+\.(csv|json)",
    "name": r"[^:/(]+(\([^/]*)?",
    "ratio": r"\s*[^/\s][^/]*/\s*[^/\s][^/]*",
    "function": r"[^/(]+:[^/]+",
}
_IN_WORDS = (
    "measure, MODULE:FUNCTION of your own, ratio A/B of the sums of two columns, or costs: fn=10,fp=1, or a file (.csv "
    "with label, prediction, cost, or .json)"
)


def add_measures(parser: argparse.ArgumentParser, text: str) -> None:
    """Add ``--measure``."""
    repeatable(parser, "--measure", "NAME", f"{_IN_WORDS}{text}")


def measure_of_form(options: argparse.Namespace, form: str) -> str | None:
    """Return the value of ``--measure`` in this form, if any; BadInput for several, or for a value in no known form."""
    given = dict[str, None]()
    for text in options.measure:
        found = next((name for name, pattern in _FORMS.items() if re.fullmatch(pattern, text, re.DOTALL)), "")
        if not found:
            raise BadInput(f"--measure: {text!r} is not valid; expected a {_IN_WORDS}")
        given |= {text: None} if found == form else {}
    if len(given) > 1:
        raise BadInput(f"--measure: {' and '.join(map(repr, given))} are given; expected one of them")
    return next(iter(given), None)


def measures_of(options: argparse.Namespace) -> list[Any] | None:
    """Return the measures to compute, that of costs first; None by default, also for a ratio of sums."""
    costs, ratio = (measure_of_form(options, form) for form in ("costs", "ratio"))
    texts = ["ratio" if text == ratio else text for text in options.measure if text != costs]
    with as_options():
        from sigstats.measures.measure import as_own_measure
        from sigstats.measures.own import is_path

        names = (
            [] if options.measure == [ratio] else [as_own_measure(text) if is_path(text) else text for text in texts]
        )
    if costs is None:
        return names or None
    from sigstats.files.predictions import costs_of_file
    from sigstats.measures.costs import costs_in_words, with_costs

    with rephrased(lambda text: f"--measure: {text.removeprefix('costs: ')}", BadInput):
        return with_costs(names, costs_in_words(costs) or costs_of_file(costs))  # type: ignore[no-any-return]
