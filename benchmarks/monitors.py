"""Compare monitors of nightly differences on the same simulated streams: delay at equal false alarms.

Usage: python benchmarks/monitors.py [STREAMS]

The stream has 200 paired rows a night, of which 10% are discordant. Each monitor gives a statistic after each night, of
which a large value is an alarm. The threshold of each is the value that 5% of the streams without a fault exceed within
400 nights; the e-process also has the threshold of its promise, 20, and its sum those of run lengths of 1,000 and
8,000 nights, which need no simulation.
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sigstats.anytime.bets import log_evalue_of_any_start, rows_of

Array = NDArray[np.float64]
ROWS, DISCORDANT, NIGHTS = 200, 0.1, 400
SPREAD = (DISCORDANT / ROWS) ** 0.5


def streams(rng: np.random.Generator, gain: Array, number: int) -> Array:
    """Counts of rows that favour the candidate and the baseline, of shape (2, streams, nights)."""
    both = np.maximum(DISCORDANT, np.abs(gain))
    shape = number, len(gain)
    ahead = rng.binomial(ROWS, (both + gain) / 2, shape)
    return np.stack([ahead, rng.binomial(ROWS - ahead, (both - gain) / 2 / (1 - (both + gain) / 2), shape)]).astype(
        float
    )


def e_process(counts: Array, *, added: bool = False) -> Array:
    """The logarithm of the e-value of `anytime_test(start="any", alternative="less")`, of a sum over 600 stakes.

    `added`: that of the sum of `anytime_test(run_length=...)`.
    """
    stakes = np.sin((np.arange(600) + 0.5) * np.pi / 1200)
    up, down = np.log1p(-stakes), np.log1p(stakes)  # of rows that favour the candidate and the baseline
    wealth = np.full((counts.shape[1], len(stakes)), -np.inf)
    logs = []
    for night in range(counts.shape[2]):
        ahead, behind = (side[:, night, None] for side in counts)
        wealth = np.logaddexp(wealth, 0.0 if added else -np.log((night + 1) * (night + 2))) + ahead * up + behind * down
        mean = np.logaddexp.reduce(wealth, axis=1) - np.log(len(stakes))
        logs.append(mean if added else np.logaddexp(mean, -np.log(night + 2)))
    return np.stack(logs, axis=1)


def cusum(counts: Array) -> Array:
    """The one-sided sum of standardized nightly differences, tuned to a drop of 3 points; it knows the spread."""
    values, total, sums = -(counts[0] - counts[1]) / ROWS / SPREAD, 0.0, []
    for night in range(counts.shape[2]):
        total = np.maximum(0, total + values[:, night] - 0.015 / SPREAD)
        sums.append(total)
    return np.stack(sums, axis=1)


def change_points(counts: Array, window: int = 60, least: int = 5) -> Array:
    """The largest Welch t of any split of the last 60 nights, as detectors of change points test their histories."""
    values = (counts[0] - counts[1]) / ROWS
    found = np.zeros_like(values)
    for night in range(2 * least - 1, values.shape[1]):
        part = values[:, max(0, night + 1 - window) : night + 1]
        n = part.shape[1]
        before_n = np.arange(least, n - least + 1)
        sums, squares = np.cumsum(part, axis=1), np.cumsum(part**2, axis=1)
        a, a2 = sums[:, before_n - 1], squares[:, before_n - 1]
        b, b2, after_n = sums[:, -1:] - a, squares[:, -1:] - a2, n - before_n
        spread = sum((x2 - x**2 / m) / (m - 1) / m for x, x2, m in ((a, a2, before_n), (b, b2, after_n)))
        found[:, night] = ((a / before_n - b / after_n) / np.sqrt(np.maximum(spread, 1e-12))).max(axis=1)
    return found


def last_against_history(counts: Array, window: int = 64, least: int = 10) -> Array:
    """Student's t of the last night against the 64 nights before, as thresholds of benchmark trackers are set."""
    values = (counts[0] - counts[1]) / ROWS
    found = np.zeros_like(values)
    for night in range(least, values.shape[1]):
        part = values[:, max(0, night - window) : night]
        spread = part.std(axis=1, ddof=1) * np.sqrt(1 + 1 / part.shape[1])
        found[:, night] = (part.mean(axis=1) - values[:, night]) / spread
    return found


MONITORS: Mapping[str, Callable[[Array], Array]] = {
    "e-process": e_process,
    "run length": partial(e_process, added=True),
    "CUSUM": cusum,
    "change points": change_points,
    "t of last night": last_against_history,
}


#: The thresholds that need no simulation.
PROMISED = {"e-process": [20.0], "run length": [1000.0, 8000.0]}


def step(onset: int, drop: float) -> Array:
    """The expected gain of each night of a drop that begins with night `onset` and stays."""
    gain = np.zeros(min(NIGHTS, onset + 99))
    gain[onset - 1 :] = -drop
    return gain


def delays(alarms: NDArray[np.bool_], onset: int) -> str:
    """The median number of nights to the alarm of streams without an earlier one, and how many have none by then."""
    alarms = alarms[~alarms[:, : onset - 1].any(axis=1)][:, onset - 1 :]
    found = alarms.any(axis=1)
    first = np.where(found, alarms.argmax(axis=1) + 1.0, np.inf)
    median = np.median(first)
    return f"{median:.0f}" if np.isfinite(median) else f"({100 * found.mean():.0f}%)"


def repair(rng: np.random.Generator, drop: float, number: int) -> float:
    """The median number of nights until a repair is shown, 20 nights of the fault after its alarm."""
    gain, nights, values = np.r_[np.full(20, -drop), np.zeros(60)], [], np.array([-1.0, 0.0, 1.0])
    for ahead, behind in np.moveaxis(streams(rng, gain, number), 0, 1):
        counts = np.stack([behind, ROWS - ahead - behind, ahead], axis=1)
        for night in range(1, len(gain) + 1):
            windows = [rows_of(values, counts[start:night].sum(axis=0)) for start in range(night)]
            if log_evalue_of_any_start(windows, -drop / 2, "greater") >= np.log(20):
                break
        nights.append(night - 20)
    return float(np.median(nights))


def main(number: int = 400) -> None:
    """Print the table."""
    rng = np.random.default_rng(1)
    silent = streams(rng, np.zeros(NIGHTS), 2 * number)
    largest = {name: monitor(silent).max(axis=1) for name, monitor in MONITORS.items()}
    thresholds = {name: float(np.quantile(values, 0.95)) for name, values in largest.items()}
    stated = [(name, level) for name, levels in PROMISED.items() for level in levels]
    for name, level in stated:
        promised = float(np.mean(largest[name] >= np.log(level)))
        print(f"{name} at {level:g}: {100 * promised:.1f}% of {2 * number} streams have a false alarm")
    for name, usual in (("CUSUM", 5.0), ("change points", 3.24), ("t of last night", 2.39)):
        print(f"{name} at {usual}: {100 * np.mean(largest[name] >= usual):.0f}% have one")
    drift = np.r_[np.zeros(100), -0.03 * np.minimum(1, np.arange(1, 101) / 60)]
    bad = np.zeros(200)
    bad[100] = -0.1
    cases = {
        f"{drop} points from night {onset}": (step(onset, drop / 100), onset)
        for drop in (1, 3, 5)
        for onset in (1, 18, 101, 301)
    }
    cases |= {"drift of 3 points over 60 nights from 101": (drift, 101)}
    print(
        "|",
        " | ".join(["", *(f"{name}, {level:g}" for name, level in stated), *(f"{name}, tuned" for name in MONITORS)]),
        "|",
    )
    for case, (gain, onset) in cases.items():
        counts = streams(rng, gain, number)
        values = {name: monitor(counts) for name, monitor in MONITORS.items()}
        cells = [delays(values[name] >= np.log(level), onset) for name, level in stated]
        cells += [delays(values[name] > thresholds[name], onset) for name in MONITORS]
        print("|", " | ".join([case, *cells]), "|", flush=True)
    counts = streams(rng, bad, number)
    values = {name: monitor(counts) for name, monitor in MONITORS.items()}
    shares = [100 * np.mean((values[name] >= np.log(level))[:, 100:].any(axis=1)) for name, level in stated]
    shares += [100 * np.mean((values[name] > thresholds[name])[:, 100:].any(axis=1)) for name in MONITORS]
    print("|", " | ".join(["one night of 10 points: alarms", *(f"{share:.0f}%" for share in shares)]), "|")
    for drop in (0.03, 0.05):
        print(f"a repaired fault of {100 * drop:g} points is shown after {repair(rng, drop, 60):g} nights")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
