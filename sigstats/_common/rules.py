"""Rules that data must meet, as values in a list: each is a generator of the errors of what breaks it."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

Subject = TypeVar("Subject")
Errors: TypeAlias = Iterator[ValueError]


def check_rules(subject: Subject, rules: Iterable[Callable[[Subject], Iterator[Exception]]]) -> None:
    """Raise the first error of the first rule that the subject breaks; later rules are not examined."""
    for rule in rules:
        for error in rule(subject):
            raise error
