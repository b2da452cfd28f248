"""Whatever goes wrong at the start of the program: one line and exit code 3, never the 1 of a regression."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PREDICTIONS = "id,label,prediction\n" + "".join(f"{row},{row % 2},{row % 2}\n" for row in range(40))

#: As NumPy itself raises it: the cause is in another error.
LONG = """
try:
    import nothing_of_this_name
except ImportError as error:
    raise ImportError("IMPORTANT\\n\\nPLEASE READ THIS\\n" * 99) from error
"""


def program(folder, *arguments, start=("-m", "sigstats"), path=None):
    environment = {**os.environ, **({} if path is None else {"PYTHONPATH": str(path)})}
    command = [sys.executable, *start, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def files(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(PREDICTIONS)
    return tmp_path


def one_line(done):
    assert done.returncode == 3, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("sigstats: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("broken", "reason", "command"),
    [
        ("raise ImportError('for another machine')", "for another machine", "compare a.csv b.csv"),
        ("raise SystemExit(1)", "SystemExit: 1", "compare --help"),
        ("raise SystemExit(1)", "SystemExit: 1", "schema"),
        ("raise OSError('libblas.so: cannot open shared object file')", "libblas.so", "compare a.csv b.csv"),
        ("def broken(:\n", "SyntaxError", "compare a.csv b.csv"),
        ("import nothing_of_this_name\n", "No module named 'nothing_of_this_name'", "compare a.csv b.csv"),
        (LONG, "No module named 'nothing_of_this_name'", "compare a.csv b.csv"),
    ],
)
def test_a_broken_numpy_is_no_regression(files, broken, reason, command):
    (files / "path").mkdir()
    (files / "path" / "numpy.py").write_text(broken)
    assert reason in one_line(program(files, *command.split(), path=files / "path"))


#: Ctrl-C, as a terminal sends it. Modules take whatever goes wrong at their import for a fault of what they import.
AT_CTRL_C = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        pass
except BaseException as error:
    {}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "then"),
    [
        ("numpy", "raise"),
        ("numpy", "pass"),
        *((name, "raise ImportError('it is broken') from error") for name in ("numpy", "pyarrow", "rich", "argparse")),
        ("argparse", "pass"),
    ],
)
def test_ctrl_c_at_an_import_is_one_line(files, name, then):
    (files / "path").mkdir()
    (files / "path" / f"{name}.py").write_text(AT_CTRL_C.format(then))
    done = program(files, "compare", "a.csv", "b.csv", path=files / "path")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "sigstats: interrupted\n")


def test_ctrl_c_between_imports_is_the_same_line(files):
    (files / "path").mkdir()
    (files / "path" / "numpy.py").write_text(
        "import os, signal\ndef __getattr__(name):\n    os.kill(os.getpid(), signal.SIGINT)\n    return int\n"
    )
    done = program(files, "compare", "--help", path=files / "path")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "sigstats: interrupted\n")


def test_the_help_needs_no_dependency(files):
    (files / "path").mkdir()
    (files / "path" / "numpy.py").write_text("raise ImportError('it is broken')")
    shown = program(files, "--help", path=files / "path")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "compare" in shown.stdout


@pytest.mark.long
@pytest.mark.parametrize("name", ["pyarrow", "scipy", "rich"])
def test_nor_is_any_other_dependency_that_breaks(files, name):
    (files / "path").mkdir()
    (files / "path" / f"{name}.py").write_text("raise ImportError('it is broken')")
    assert "it is broken" in one_line(program(files, "compare", "a.csv", "b.csv", path=files / "path"))


@pytest.mark.long
def test_the_program_needs_no_public_names(files):
    (files / "path").mkdir()
    (files / "path" / "lazy_loader.py").write_text("raise ImportError('it is broken')")
    assert program(files, "compare", "a.csv", "b.csv", path=files / "path").returncode == 0
    asked = program(files, start=("-c", "import sigstats; sigstats.mcnemar_test"), path=files / "path")
    assert "AttributeError: sigstats.mcnemar_test cannot be looked up: it is broken" in asked.stderr


@pytest.mark.long
def test_an_error_that_is_shown_with_its_traceback_is_no_regression(files):
    (files / "path").mkdir()
    (files / "path" / "rich.py").write_text("raise ImportError('it is broken')")
    shown = program(files, "--debug", "compare", "a.csv", "b.csv", path=files / "path")
    assert shown.returncode == 3
    assert "Traceback" in shown.stderr


@pytest.mark.long
@pytest.mark.parametrize("arguments", [("--help",), ("compare", "a.csv", "b.csv")])
def test_it_starts_without_docstrings_and_asserts(files, arguments):
    done = program(files, *arguments, start=("-OO", "-m", "sigstats"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_the_module_is_the_program(files):
    assert program(files, "compare", "a.csv", "b.csv").returncode == 0
    assert program(files, "compare", "a.csv", "c.csv").returncode == 2
    assert program(files, "--version").stdout.startswith("sigstats ")


@pytest.mark.long
@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["compare", "no.csv", "b.csv"], 2)])
def test_the_process_ends_with_the_code_whatever_a_library_does_at_its_end(files, arguments, code):
    # As C++ does where a thread that reads a file ahead is still at work: the end of the process is SIGABRT.
    start = (
        "import ctypes, sys; libc = ctypes.CDLL(None); libc.__cxa_atexit(libc.abort, None, None); "
        f"sys.argv = ['sigstats', *{arguments}]; from sigstats.__main__ import {{}}; sys.exit({{}}())"
    )
    assert program(files, start=("-c", start.format("program", "program"))).returncode == code
    assert program(files, start=("-c", start.format("main", "main"))).returncode == -signal.SIGABRT


def through_a_shell(folder, redirection, *arguments, **environment):
    """The program with its standard streams as a shell's redirection makes them."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "sigstats", *arguments]
    return subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True)


@pytest.fixture
def worse(files):
    (files / "worse.csv").write_text(PREDICTIONS.replace(",0,0\n", ",0,1\n"))
    return files


COMMANDS = [
    (["--help"], 0),
    (["compare", "a.csv", "worse.csv", "--json", "j.json", "--report", "m.md", "--report", "r.html"], 1),
    (["compare", "a.csv", "worse.csv", "--json", "-"], 1),
    (["compare", "a.csv", "none.csv"], 2),
]


def test_a_closed_stream_is_there_for_the_processes_that_are_started():
    """A server of Prefect's ended with a traceback where standard output was none."""
    child = "import sys; sys.exit(sys.stdout is None or sys.stdout.fileno() != 1)"
    code = (
        "import subprocess, sys; from sigstats.__main__ import _mend_streams; _mend_streams(); "
        f"sys.exit(subprocess.run([sys.executable, '-c', {child!r}]).returncode)"
    )
    done = subprocess.run(["sh", "-c", '"$0" -c "$1" >&-', sys.executable, code], check=False)
    assert done.returncode == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "code", "closed"), [*((*command, ">&-") for command in COMMANDS), (*COMMANDS[1], "<&- >&- 2>&-")]
)
def test_closed_streams_cost_no_exit_code(worse, arguments, code, closed):
    done = through_a_shell(worse, closed, *arguments)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    if "j.json" in arguments:  # and nothing that is printed went into a file that took a stream's number
        assert json.loads((worse / "j.json").read_text())["verdict"] == "fail"
        assert (worse / "m.md").read_text().startswith("### FAIL")
        assert (worse / "r.html").read_text().rstrip().endswith("</html>")


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["compare", "a.csv", "worse.csv"], ["schema"], ["run", "--help"], ["--version"]])
def test_a_standard_output_that_is_full_is_one_line(worse, arguments):
    done = through_a_shell(worse, ">/dev/full", *arguments)
    assert done.returncode == 3
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("sigstats: ")
    assert "No space left on device" in line
    assert "standard output" in line


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "code", "locale"),
    [
        *((*command, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}) for command in COMMANDS),
        (*COMMANDS[2], {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    ],
)
def test_an_ascii_locale_costs_no_exit_code(worse, arguments, code, locale):
    done = through_a_shell(worse, "", *arguments, **locale)
    assert done.returncode == code, done.stderr
    assert (done.stdout + done.stderr).isascii()
    if "j.json" in arguments:
        assert b" -50.00 " in done.stdout  # for the minus sign that the encoding lacks
