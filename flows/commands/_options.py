"""Arguments that several commands share: studies, outputs, the rule of a comparison (from its fields), and measures."""

import argparse
import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sigstats._common.messages import rephrased

from ..errors import DONE, REGRESSION, BadInput
from . import option, repeatable

if TYPE_CHECKING:
    from sigstats.comparison.rule import ComparisonRule, Verdict

    from ..config.model import Study


def add_study(parser: argparse.ArgumentParser) -> None:
    """Add the study file and ``--set``."""
    parser.add_argument("study", metavar="STUDY", help="study file (TOML) or ready study (`sigstats studies`)")
    text = "replace a value, as in permutation.resamples=99 or tests.0.measure=f1 (repeatable)"
    repeatable(parser, "--set", "KEY=VALUE", text)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add ``--output``."""
    option(parser, "--output", "DIR_OR_URL", "folder or fsspec URL of the results (default: results/NAME)")


def add_allow(parser: argparse.ArgumentParser) -> None:
    """Add ``--allow``."""
    text = "package whose classifiers and tests the study may use; its code is run (repeatable)"
    repeatable(parser, "--allow", "PACKAGE", text)


def study_of(options: argparse.Namespace) -> "tuple[Study, Path]":
    """Load the study that the arguments name; also return the folder to which its data paths are relative."""
    from ..running.kind import find_study  # not imported for the help

    return find_study(options.study, options.set)


def output_of(options: argparse.Namespace, study: "Study") -> str:
    """Return the folder or URL that results are written to."""
    return str(Path("results") / study.name) if options.output is None else str(options.output)


def usable(place: str, name: str = "OUTPUT") -> str:
    """Return a folder or URL that a command reads or writes; BadInput if this machine cannot reach it."""
    from ..running.options import as_place

    with as_options():
        return as_place(place, name)


def as_options(*others: tuple[str, str]) -> contextlib.AbstractContextManager[None]:
    """Rephrase the library's errors in terms of command-line options; `others`: further replacements."""

    def in_options(message: str) -> str:
        for words, option_words in ((" score_range", " --score-range"), *others):
            message = message.replace(words, option_words)
        return with_dashes(message, _OPTIONS)

    return rephrased(in_options, BadInput)


#: Names of options in the library.
_OPTIONS = (
    "positive", "measures?", "score_range", "margins?", "minimum_effect", "at_least", "at_most", "power", "weights",
    "output", "cluster", "workers", "part", "order", "run", "by_position", "probabilities",
    "lower_is_better", "changed", "score", "cost", "model", "duplicates", "unscored", "drop",
)  # fmt: skip


def with_dashes(words: str, names: Iterable[str]) -> str:
    """Rewrite names of Python arguments in a message as command-line options."""
    named = re.compile(rf"(^|: | with )({'|'.join(names)})(?=: |; expected| '[^']*'; expected)")
    singular = {"measures": "measure", "margins": "margin"}
    return named.sub(lambda name: f"{name[1]}--{singular.get(name[2], name[2]).replace('_', '-')}", words)


@contextlib.contextmanager
def output_read(output: str, missing: str, *, used: str = "read") -> Iterator[None]:
    """Report in one line why an output cannot be used; `missing`: as in "no study with a summary"."""
    from sigstats.tasks.plan import OtherRule
    from sigstats.tasks.storage.seal import Damaged

    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"OUTPUT: {output} contains {missing}") from None
    except Damaged as error:
        raise BadInput(f"OUTPUT: {error}; run the study again, which restores it") from None
    except OtherRule as error:
        raise BadInput(f"OUTPUT: {error}") from None
    except OSError as error:
        raise BadInput(f"OUTPUT: {output} cannot be {used} ({error.strerror or error})") from None


def fraction(text: str) -> float:
    """Return a number, which may be written as per cent: ``5%``."""
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


#: Type and metavar of an option, by the type of its default.
_VALUES: dict[type, dict[str, Any]] = {
    float: {"type": fraction, "metavar": "X"},
    str: {"type": str, "metavar": "NAME"},
}


#: Fields of the rule that only studies and Python can set.
_NO_OPTIONS = ("confidence", "simultaneous", "seed", "smallest_slice", "resamples", "unseen_group")
#: For each option with a drop in points, the field of the rule for a drop in per cent of the baseline.
_DROPS = {"minimum_effect": "relative_effect", "margin": "relative_margin"}


def add_rule_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add an option for each field of the rule except `_NO_OPTIONS`; only for those in `names`, if given."""
    from sigstats.comparison.rule import ComparisonRule, key_of  # needs NumPy, without which others show their help

    group = parser.add_argument_group("what counts as a regression")
    parser.set_defaults(margins_take_names=not names)
    for field in fields(ComparisonRule):
        if key_of(field) in (*_NO_OPTIONS, *_DROPS.values(), "margins") or (names and key_of(field) not in names):
            continue
        description = field.metadata["description"]
        meaning, flag = f"{description[0].lower()}{description[1:]}", f"--{key_of(field).replace('_', '-')}"
        if field.name in _DROPS:
            drop, relative = (getattr(ComparisonRule, name) for name in (field.name, _DROPS[field.name]))
            text = f"{meaning}: points or a share of its range (default: {100 * drop:g}pt); for costs, amounts "
            text += f"in a unit, and measures without limits, a part of the baseline (default: {100 * relative:g}%%)"
            if field.name == "margin":
                text += "; compare also takes NAME=X of a slice, measure or score, as in 'label = dog=1pt'"
            repeatable(group, flag, "X", f"{text} (repeatable)")
            continue
        if isinstance(field.default, bool):
            group.add_argument(flag, action="store_true", help=meaning)
            continue
        group.add_argument(flag, help=f"{meaning} (default: {field.default})", **_VALUES[type(field.default)])


def _drops(options: argparse.Namespace) -> dict[str, Any]:
    """Return the drops and margins that the options give, by field of the rule."""
    from sigstats.comparison.margins import as_margin

    given: dict[str, Any] = {"margins": {}}
    for key, relative in _DROPS.items():
        takes_names = key == "margin" and options.margins_take_names
        for text in getattr(options, key, []):
            name, equals, value = (part.strip() for part in text.rpartition("="))
            target, field = given, key
            if equals:
                if not (takes_names and name and value):
                    raise ValueError(f"{key}: {text!r} is not valid; expected X{' or NAME=X' if takes_names else ''}")
                target, field = given["margins"], name
            elif value.endswith("%"):
                field, value = relative, as_margin(value, key)
            if target.setdefault(field, value) != value:
                raise ValueError(f"{key}: {target[field]} and {value} are given; expected one value")
    return given


def rule_of(options: argparse.Namespace) -> "ComparisonRule":
    """Return the rule that the options state; raises BadInput, which names an option that is not valid."""
    from sigstats.comparison.rule import ComparisonRule, key_of

    keys = {field.name: key_of(field) for field in fields(ComparisonRule) if field.name not in _DROPS}
    given = {name: value for name, key in keys.items() if (value := getattr(options, key, None)) is not None}
    keys |= {relative: key for key, relative in _DROPS.items()} | {"margins": "margin"}
    try:
        return ComparisonRule(**given, **_drops(options))
    except ValueError as error:
        name, _, complaint = str(error).partition(":")
        raise BadInput(f"--{keys.get(name, name).replace('_', '-')}:{complaint}") from None


def add_drops(parser: Any) -> None:
    """Add ``--drop``."""
    text = "drop to detect, a share or in the unit of a mark (default for accuracy and runs: 0.005 to 0.05)"
    repeatable(parser, "--drop", "X", f"{text} (repeatable)")


def check_power(power: float | None) -> None:
    """Raise BadInput for a value of ``--power`` that is not a probability."""
    from sigstats._common.validation import as_real

    if power is not None:
        with as_options():
            as_real(power, "power", low=0, high=1, open_ends=True)


def drops_of(options: argparse.Namespace) -> list[float]:
    """Return the drops that ``--drop`` names, in the order given."""
    from sigstats._common.class_spelling import is_finite_number
    from sigstats.comparison.margins import as_share

    return [float(text) if is_finite_number(text) else as_share(text, "--drop") for text in options.drop]


def add_fail_on(parser: argparse.ArgumentParser) -> None:
    """Add ``--fail-on``."""
    text = "mildest verdict with exit code 1 (default: fail)"
    parser.add_argument("--fail-on", choices=("fail", "inconclusive"), default="fail", help=text)


def code_of(options: argparse.Namespace, verdict: "Verdict") -> int:
    """Return the exit code of a verdict."""
    from sigstats.comparison.rule import failing_verdicts

    return REGRESSION if verdict in failing_verdicts(options.fail_on == "inconclusive") else DONE


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
