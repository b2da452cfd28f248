"""The sets of models of which no two are shown to differ, by the algorithm of Bron and Kerbosch."""

from collections.abc import Sequence


def cliques(models: Sequence[str], differing: "set[frozenset[str]]") -> tuple[tuple[str, ...], ...]:
    """The largest sets of models of which no two differ, in the order of the models (Bron and Kerbosch 1973).

    A set need not be a run of neighbours in the order: two models far apart may be tied while one between differs.

    Examples
    --------
    >>> from sigstats.many_datasets.cliques import cliques
    >>> cliques(["a", "b", "c"], {frozenset("ac")})
    (('a', 'b'), ('b', 'c'))
    """
    position = {model: i for i, model in enumerate(models)}
    tied = {a: {b for b in models if b != a and frozenset((a, b)) not in differing} for a in models}
    found: list[tuple[str, ...]] = []

    def grow(clique: list[str], candidates: set[str], done: set[str]) -> None:
        if not candidates and not done:
            found.append(tuple(sorted(clique, key=position.__getitem__)))
            return
        pivot = max(candidates | done, key=lambda model: len(tied[model] & candidates))
        for model in sorted(candidates - tied[pivot], key=position.__getitem__):
            grow([*clique, model], candidates & tied[model], done & tied[model])
            candidates = candidates - {model}
            done = done | {model}

    grow([], set(models), set())
    return tuple(sorted(found, key=lambda clique: [position[model] for model in clique]))
