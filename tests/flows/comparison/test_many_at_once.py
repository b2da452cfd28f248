"""Many comparisons at once on one machine, as a pipeline of many jobs starts them."""

import subprocess

import pytest

from ..conftest import PROGRAM, as_outputs, environment

pytestmark = [pytest.mark.processes, pytest.mark.faults]

ROWS = [f"{row},{row % 3},{{}},{row % 4}\n" for row in range(600)]
TOGETHER = 12


def test_comparisons_at_once_give_the_bytes_of_one_alone(tmp_path):
    for name, period in (("a", 9), ("b", 7)):
        rows = (line.format((row + (row % period == 0)) % 3) for row, line in enumerate(ROWS))
        (tmp_path / f"{name}.csv").write_text("id,label,prediction,region\n" + "".join(rows))

    def begin(number):
        outputs = as_outputs(*(f"{number}.{form}" for form in ("json", "md", "html", "xml")))
        command = [*PROGRAM, "compare", "a.csv", "b.csv", "--slice", "region", *outputs]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=tmp_path, env=environment(), **pipes)

    def ended(process, number):
        out, err = process.communicate(timeout=300)
        files = [(tmp_path / f"{number}.{form}").read_bytes() for form in ("json", "md", "html", "xml")]
        return process.returncode, out, err, files

    alone = ended(begin("alone"), "alone")
    assert alone[0] in (0, 1)
    assert alone[2] == b""
    processes = [begin(number) for number in range(TOGETHER)]
    assert [ended(process, number) for number, process in enumerate(processes)] == [alone] * TOGETHER
