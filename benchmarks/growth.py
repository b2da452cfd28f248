"""Processor time of the public tests over a range of sizes, with its exponent and its jumps.

    python benchmarks/growth.py > benchmarks/growth.md
    python benchmarks/growth.py friedman auc  # the cases whose names have one of these words
    python benchmarks/growth.py peers  # beside SciPy and statsmodels

Each size runs in the same process, smallest first; a case ends where one size takes over ten seconds or is refused.
An exponent is the slope of the logarithms of time over those of size; a jump is a step of over ten times the time for
at most four times the size, of times above a hundredth of a second. Public functions that no case calls are named last.
"""

import inspect
import math
import sys
import time
from itertools import pairwise

import growth_cases
from growth_cases import CASES, PEERS

import sigstats

_LONGEST, _JUMP, _LEAST = 10.0, 10.0, 1e-2


def row(name: str) -> str:
    """A row of the table: the seconds at each size, the exponent of the last decade, the jumps."""
    test, sizes = CASES[name]
    seconds: dict[int, float] = {}
    ended = ""
    test(sizes[0])  # imports, and what is kept of a first call
    for size in sizes:
        started = time.process_time()
        try:
            test(size)
        except ValueError as error:
            if not seconds:
                raise RuntimeError(name) from error
            ended = f"refused at {size:,} in {time.process_time() - started:.2f} s"
            break
        seconds[size] = time.process_time() - started
        if seconds[size] > _LONGEST:
            break
    slow = [(size, max(took, _LEAST)) for size, took in seconds.items()]
    jumps = [f"{a:,} to {b:,}: {y / x:.0f} times" for (a, x), (b, y) in pairwise(slow) if y / x > _JUMP and b <= 4 * a]
    (first, x), (last, y) = slow[len(slow) // 2 - 1], slow[-1]
    exponent = math.log(y / x) / math.log(last / first)
    times = ", ".join(f"{size:,}: {took:.2g}" for size, took in seconds.items())
    return f"| {name} | {times} | {exponent:.1f} | {'; '.join(jumps) or 'none'} | {ended} |"


def beside(name: str) -> str:
    """A row of the table of peers: the least of five times of both, and their ratio."""
    size, *tests = PEERS[name]
    least = []
    for test in tests:
        test(size)
        times = []
        for _ in range(5):
            started = time.process_time()
            test(size)
            times.append(time.process_time() - started)
        least.append(min(times))
    ours, theirs = least
    return f"| {name} | {size:,} | {ours:.2g} | {theirs:.2g} | {ours / max(theirs, 1e-9):.2g} |"


def without_a_row() -> list[str]:
    """The public functions of which no case tells anything; those that start studies or open results have others."""
    said, others = inspect.getsource(growth_cases), ("run_study", "open_results")
    public = [each for each in vars(sigstats)["__all__"] if inspect.isfunction(getattr(sigstats, each))]
    return [each for each in public if each not in others and f"sigstats.{each}(" not in said]


if __name__ == "__main__":
    if sys.argv[1:] == ["peers"]:
        print("| test, and its peer | size | seconds | of the peer | ratio |")
        print("|---|---:|---:|---:|---:|", flush=True)
        for each in PEERS:
            print(beside(each), flush=True)
        sys.exit()
    print("# Growth of cost with size\n")
    print("`python benchmarks/growth.py`: seconds at each size, the exponent over the upper half, jumps.\n")
    print("| test | seconds | exponent | jumps | ends |")
    print("|---|---|---:|---|---|", flush=True)
    for each in CASES:
        if not sys.argv[1:] or any(each.startswith(word) or f", {word}" in each for word in sys.argv[1:]):
            print(row(each), flush=True)
    print(f"\nWithout a row: {', '.join(without_a_row()) or 'no public function'}.")
