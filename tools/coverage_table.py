"""Write the table of coverages of benchmarks/unseen_row.md from a finished run of the ready study `unseen-row`.

    python -m tools.coverage_table OUTPUT

OUTPUT is the folder of `sigstats run unseen-row`. A cell has the coverage and the share of test sets whose interval
lies above the truth, in percent: first of the interval that a comparison states, then of the usual one.
"""

import sys
from pathlib import Path

import pandas as pd

PAGE = Path(__file__).parents[1] / "benchmarks" / "unseen_row.md"
BEGIN, END = "<!-- coverages of unseen-row -->\n", "<!-- end of coverages of unseen-row -->\n"


def table(summary: pd.DataFrame) -> str:
    """The table as Markdown, a row for each measure of each population, a column for each number of rows."""
    parts = summary["method"].str.extract(r"\((?P<compared>.+), (?P<interval>compare|usual)\)")
    figures = summary.assign(**parts).set_index(["dataset", "compared", "n", "interval", "measure"])["estimate"]
    known, sizes = figures.to_dict(), sorted(summary["n"].unique())

    def shown(*cell: object) -> str:
        """Both figures of an interval, or a dash where it does not exist."""
        found = [known.get((*cell, name)) for name in ("coverage", "interval above the truth")]
        return "–" if found[0] is None else ", ".join(f"{100 * float(each):.4g}" for each in found)

    lines = [f"| | {' | '.join(f'{n:,} rows' for n in sizes)} |", "|---" * (len(sizes) + 1) + "|"]
    for population, compared in dict.fromkeys(each[:2] for each in known):
        cells = [
            f"{shown(population, compared, n, 'compare')}; {shown(population, compared, n, 'usual')}" for n in sizes
        ]
        lines.append(f"| {population}: {compared} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Replace what stands between the marks."""
    summary = pd.read_parquet(Path(sys.argv[1]) / "summary.parquet")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{table(summary)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
