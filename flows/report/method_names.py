"""Short names of the methods of a study: what they have in common is left out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence


def short_names(labels: Iterable[str]) -> dict[str, str]:
    """A short name for each label of a method, such as ``bootstrap (micro-f1, percentile, resamples = 2000)``.

    Of labels with one name, the words in brackets that all of them have are left out, and the settings that no two
    labels need to be told apart. The design of the report has the labels in full.

    Examples
    --------
    >>> from sigstats.flows.report.method_names import short_names
    >>> labels = [f"bootstrap ({average}-f1, percentile, resamples = 2000)" for average in ("micro", "macro")]
    >>> list(short_names([*labels, "f1 interval (wilson, resamples = 9)", "McNemar (exact)"]).values())
    ['bootstrap (micro-f1)', 'bootstrap (macro-f1)', 'f1 interval (wilson)', 'McNemar (exact)']
    """
    parts = {label: _parts(label) for label in labels}
    words = _differing({label: (name, words) for label, (name, words, _) in parts.items()})
    names = {label: _joined(name, words[label]) for label, (name, _, _) in parts.items()}
    # Settings matter only to labels that the words do not tell apart.
    alike = Counter(names.values())
    settings = _differing({label: (names[label], parts[label][2]) for label in parts if alike[names[label]] > 1})
    return {label: _joined(parts[label][0], [*words[label], *settings.get(label, [])]) for label in parts}


def _differing(parts: Mapping[str, tuple[str, list[str]]]) -> dict[str, list[str]]:
    """The words of each label that not all labels with its name have; all words of the only one."""
    groups: dict[str, list[list[str]]] = {}
    for name, words in parts.values():
        groups.setdefault(name, []).append(words)
    shared = {name: set.intersection(*map(set, group)) if len(group) > 1 else set() for name, group in groups.items()}
    return {label: [word for word in words if word not in shared[name]] for label, (name, words) in parts.items()}


def _parts(label: str) -> tuple[str, list[str], list[str]]:
    """The name of a method, and the words and the settings in brackets after it."""
    name, bracket, inner = label.partition(" (")
    if not bracket or not inner.endswith(")"):
        return label, [], []
    words = inner[:-1].split(", ")
    return name, [word for word in words if " = " not in word], [word for word in words if " = " in word]


def _joined(name: str, words: Sequence[str]) -> str:
    return f"{name} ({', '.join(words)})" if words else name
