"""Where the time of a whole study goes, from its first file to its report, by the receipts of its blocks.

The output is that of one run that was not interrupted, with local workers:

    sigstats run sixty-sets --set folder=FOLDER --cluster local --workers 2 --output OUTPUT
    python benchmarks/whole.py OUTPUT [OUTPUT ...] [--workers 2]
"""

import argparse
import json
from pathlib import Path


def seconds(output: Path) -> tuple[int, float, float, float]:
    """Cells; seconds from the plan to the report; seconds of workers in blocks, and around them."""
    whole = (output / "report.html").stat().st_mtime - (output / "plan.parquet").stat().st_mtime
    receipts = [json.loads(path.read_text()) for path in (output / "receipts").glob("*.json")]
    blocks = [block for receipt in receipts for block in receipt["blocks"]]
    inside, around = (sum(block[name] for block in blocks) for name in ("seconds", "overhead"))
    return len(receipts), whole, inside, around


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("outputs", nargs="+", type=Path, metavar="OUTPUT")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    print("| study | cells | plan to report, s | in blocks, s of workers | around blocks, s | share in blocks |")
    print("|---|---:|---:|---:|---:|---:|")
    for output in options.outputs:
        cells, whole, inside, around = seconds(output)
        share = inside / (options.workers * whole)
        print(f"| {output.name} | {cells:,} | {whole:,.0f} | {inside:,.0f} | {around:,.1f} | {share:.0%} |")


if __name__ == "__main__":
    main()
