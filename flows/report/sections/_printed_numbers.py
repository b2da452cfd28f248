"""The numbers that a publication prints, beside what its data give."""

from ..evidence import Evidence
from ..section import Verdict
from ._columns import short
from ._tables import in_words


def printed_numbers(evidence: Evidence) -> Verdict | None:
    """Whether the numbers that a publication prints are what its data give; None where the study names none."""
    total = sum(len(row.printed.split("; ")) for row in evidence.rows if row.printed)
    if not total:
        return None
    wrong = [(row, row.disagrees.split("; ")) for row in evidence.rows if row.disagrees]
    details = [f"{in_words(row)}, {row.method}: {short('; '.join(found))}." for row, found in wrong]
    count = sum(len(found) for _, found in wrong)
    if not count:
        return Verdict(f"All {total} printed numbers are what the data give.")
    return Verdict(
        f"{count} of {total} printed numbers {'is' if count == 1 else 'are'} not what the data give.", tuple(details)
    )
