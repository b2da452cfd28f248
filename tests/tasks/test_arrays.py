import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from sigstats.tasks.schema import from_numpy, to_numpy

FLAGS, NUMBERS = np.array([True, False, True] * 7), np.arange(10)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (FLAGS, pa.bool_()),
        (FLAGS[::3], pa.bool_()),
        (FLAGS[:0], pa.bool_()),
        (NUMBERS, pa.int64()),
        (NUMBERS[::2], pa.int64()),
        (NUMBERS, pa.int32()),
        (NUMBERS, pa.float64()),
        (NUMBERS[:0], pa.int64()),
    ],
)
def test_arrays_go_to_arrow_and_back_as_by_its_own_ways(values, kind):
    made = from_numpy(values, kind)
    assert made.equals(pa.array(values, kind))
    for column in (pa.chunked_array(each, kind) for each in ([made], [made, made], [made[1:]], [])):
        back, own = to_numpy(column), column.to_numpy()
        assert back.dtype == own.dtype
        assert back.tobytes() == own.tobytes()


def test_numbers_that_are_not_there_stay_apart_from_values_that_are_missing():
    made = from_numpy(np.array([0.5, np.nan]), pa.float64())
    assert made.null_count == 0
    assert np.isnan(made[1].as_py())


def test_numbers_too_large_for_their_column_are_refused():
    with pytest.raises(pa.ArrowInvalid, match="not in range"):
        from_numpy(np.array([2**40]), pa.int32())


def test_neither_way_imports_pandas():
    text = (
        "import sys; import numpy as np, pyarrow as pa; from sigstats.tasks.schema import from_numpy, to_numpy;"
        "to_numpy(pa.chunked_array([from_numpy(np.arange(3), pa.int64())])); sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0
