# SPDX-License-Identifier: Apache-2.0
"""Runs notebooks without Jupyter, and compares the outputs of their cells with the stored ones.

    python3 tests/python/notebook.py FILE...            exits with 1 and prints a diff if a cell prints something else
    python3 tests/python/notebook.py --write FILE...    stores the outputs, figures as PNG

The code cells of a notebook run in order, in one namespace and in a temporary folder. The outputs of a cell are what it
prints to standard output, its last expression as text and HTML (unless a semicolon ends the cell), and its figures.
Figures are not compared. These tags of a cell (metadata.tags) change how it runs:

| tag            | meaning                                                                                       |
| `time`         | what it prints depends on time or on the machine, and is not compared                         |
| `float`        | a printed decimal may differ by one in its last digit, because processors round differently   |
| `needs:MODULE` | it is skipped if the module is missing, like a cell that draws without matplotlib             |
| `data:FILE`    | it is skipped if the folder of the environment variable HEDDLE_DATA does not have the file    |
"""

import ast
import base64
import contextlib
import decimal
import difflib
import importlib.util
import io
import json
import linecache
import os
import pathlib
import re
import sys
import tempfile

TEXT = ("text/plain", "text/html")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Different(AssertionError):
    """A cell's output is not the stored one."""


def read(path):
    """A notebook as a dict of the format nbformat 4."""
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def store(path, notebook):
    """Writes a notebook as Jupyter does: one blank of indentation, a line per line of text."""
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    pathlib.Path(path).write_text(text + "\n", encoding="utf-8")


def tags(cell):
    return cell["metadata"].get("tags", [])


def missing(cell):
    """What a cell needs and this machine does not have, or None."""
    for tag in tags(cell):
        kind, _, name = tag.partition(":")
        if kind == "needs" and importlib.util.find_spec(name) is None:
            return f"the module {name}"
        if kind == "data" and not (pathlib.Path(os.environ.get("HEDDLE_DATA", "/nowhere")) / name).exists():
            return f"{name} in HEDDLE_DATA"
    return None


def run_code(code, space, name):
    """Runs code; returns the value of its last line if this is an expression that no semicolon ends."""
    linecache.cache[name] = (len(code), None, lines(code), name)  # for tracebacks
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), space)
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), name, "eval"), space)
    return None if code.rstrip().endswith(";") else value


def lines(text):
    return text.splitlines(keepends=True)


def figures():
    """The open figures as PNG of 64 colours, which are closed."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else []:
        import PIL.Image  # matplotlib needs it

        full, png = io.BytesIO(), io.BytesIO()
        pyplot.figure(number).savefig(full, format="png", dpi=80)
        pyplot.close(number)
        PIL.Image.open(full).convert("RGB").quantize(64).save(png, format="png", optimize=True)
        yield base64.b64encode(png.getvalue()).decode() + "\n"


def run_cell(cell, space, count, name):
    """Runs a code cell; returns its outputs in the form of nbformat."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = run_code("".join(cell["source"]), space, name)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = lines(value._repr_html_())
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    for png in figures():
        data = {"image/png": png, "text/plain": ["<Figure>"]}
        outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})
    return outputs


def texts(outputs):
    """The lines of outputs that are compared: all but figures."""
    found = []
    for output in outputs:
        if output["output_type"] == "stream":
            found += lines("".join(output["text"]))
        elif "image/png" not in output["data"]:
            for kind in TEXT:
                found += lines("".join(output["data"].get(kind, [])))
    return [line.rstrip("\n") for line in found]


def close(line, stored):
    """Whether two lines are equal, except that decimals may differ by one in the last digit."""
    if NUMBER.sub("0", line) != NUMBER.sub("0", stored):
        return False
    for one, other in zip(NUMBER.findall(line), NUMBER.findall(stored)):
        a, b = decimal.Decimal(one), decimal.Decimal(other)
        step = decimal.Decimal((0, (1,), b.as_tuple().exponent))
        if a.as_tuple().exponent != b.as_tuple().exponent or abs(a - b) > (step if "." in other else 0):
            return False
    return True


def compare(cell, outputs, name):
    """Raises Different with a diff if outputs are not those stored in the cell."""
    new, old = texts(outputs), texts(cell["outputs"])
    same = close if "float" in tags(cell) else str.__eq__
    if len(new) != len(old) or not all(map(same, new, old)):
        diff = difflib.unified_diff(old, new, "stored", "now", lineterm="")
        code = "".join(cell["source"])
        raise Different(f"{name}: the cell prints something else; its code is\n{code}\n" + "\n".join(diff))


@contextlib.contextmanager
def place():
    """A temporary working folder, and a backend of matplotlib that needs no screen."""
    before, backend = os.getcwd(), os.environ.get("MPLBACKEND")
    os.environ["MPLBACKEND"] = "Agg"
    if "matplotlib" in sys.modules:
        sys.modules["matplotlib"].use("Agg")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            os.environ.pop("MPLBACKEND")
            if backend is not None:
                os.environ["MPLBACKEND"] = backend


def run(notebook, name, write=False):
    """Runs a notebook, given as a dict, and compares each cell's outputs, or stores them in the dict.

    Returns pairs (cell, what was missing) of the cells that were skipped. With write, a cell that cannot run is an
    error. name: of the notebook, for messages.
    """
    space, skipped, count = {"__name__": "__main__"}, [], 0
    with place():
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            count += 1
            lacks = missing(cell)
            if lacks and write:
                raise Different(f"{name}: cell {cell['id']} needs {lacks}")
            if lacks:
                skipped.append((cell, lacks))
                continue
            outputs = run_cell(cell, space, count, f"<{name}:{cell['id']}>")
            if write:
                cell["outputs"], cell["execution_count"] = outputs, count
            elif "time" not in tags(cell):
                compare(cell, outputs, f"{name}:{cell['id']}")
    return skipped


def main(words):
    write = words[:1] == ["--write"]
    files = words[1:] if write else words
    if not files:
        print(__doc__)
        return 2
    for file in files:
        notebook = read(file)
        try:
            skipped = run(notebook, pathlib.Path(file).name, write)
        except Different as error:
            print(error)
            return 1
        if write:
            store(file, notebook)
        for cell, lacks in skipped:
            print(f"{file}:{cell['id']}: skipped, {lacks} is missing")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
