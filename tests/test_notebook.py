"""The notebooks of the documents: their cells run, in this process, and say what is stored in them."""

import ast
import json
import re

import pytest


def rounded(text):
    """A text with its long numbers to nine digits, which any installation has."""
    return re.sub(r"\d+\.\d{9,}(e-?\d+)?", lambda number: f"{float(number[0]):.9g}", text)


@pytest.mark.long
@pytest.mark.parametrize("name", ["compare", "week"])
def test_the_cells_of_a_notebook_say_what_is_stored(repository, capsys, name):
    notebook = json.loads((repository / "docs" / f"{name}.ipynb").read_text(encoding="utf-8"))
    space, told = {}, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{name}.ipynb", "exec"), space)
        value = eval(compile(ast.Expression(last.value), f"{name}.ipynb", "eval"), space) if last else None
        printed = capsys.readouterr().out
        for output in cell["outputs"]:
            told += 1
            if output["output_type"] == "stream":
                assert "".join(output["text"]) == printed
            else:
                assert rounded("".join(output["data"]["text/plain"])) == rounded(repr(value))
                if "text/html" in output["data"]:
                    assert "".join(output["data"]["text/html"]) == value._repr_html_()
    assert told >= 3
