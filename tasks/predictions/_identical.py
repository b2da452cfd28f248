"""Whether two files are the same thing."""

import filecmp


def same_content(one: str, other: str) -> bool:
    """Whether two files of this machine hold the same bytes; False where that cannot be seen.

    Examples
    --------
    >>> from sigstats.tasks.predictions import same_content
    >>> same_content("/dev/null", "/no such file")
    False
    """
    try:
        return filecmp.cmp(one, other, shallow=False)
    except (OSError, ValueError):
        return False
