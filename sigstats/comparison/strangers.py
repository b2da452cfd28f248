"""Classes that one model alone predicts and that no row has: refusals, errors, misspelt names."""

from collections.abc import Sequence

from .._common.validation import IntArray, shown


def strangers(classes: tuple[str, ...], seen: Sequence[IntArray], *where: str) -> list[str]:
    """Classes that only one model predicts and that no row has; `seen` are the codes of labels and predictions."""
    label, a, b = (set(codes.tolist()) for codes in seen)
    found = []
    for place, own, other in ((where[0], a, b), (where[1], b, a)):
        alone = sorted(own - other - label)
        if alone:
            named = ", ".join(shown(classes[code]) for code in alone[:3])
            named += f" and {len(alone) - 3:,} more" if len(alone) > 3 else ""
            which = f"class {named} is" if len(alone) == 1 else f"classes {named} are"
            whose = "it" if len(alone) == 1 else "them"
            found.append(f"{place}: {which} predicted here alone, and no row has {whose}")
    return found
