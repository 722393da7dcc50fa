"""Runs the cells of examples/force_estimation.ipynb and writes their outputs into it."""

import ast
import base64
import io
import json
from pathlib import Path

import matplotlib

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "force_estimation.ipynb"
DPI = 80


def value_of(source: str, names: dict) -> object:
    """Run a cell; the value of its last line, None where that is no expression or ends with a semicolon."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";") else None
    exec(compile(tree, "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def outputs(source: str, names: dict, count: int) -> list[dict]:
    """Value and pictures of a cell as a notebook holds them."""
    from matplotlib import pyplot as plt

    value, found = value_of(source, names), []
    for number in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(number).savefig(picture, format="png", dpi=DPI, bbox_inches="tight")
        data = {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": ["<Figure>"]}
        found.append({"output_type": "display_data", "data": data, "metadata": {}})
    drawn = bool(found)
    plt.close("all")
    if value is not None and not drawn:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        found.append({"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": count})
    return found


def main() -> None:
    matplotlib.use("Agg")
    notebook, names = json.loads(NOTEBOOK.read_text(encoding="utf-8")), {}
    for count, cell in enumerate((c for c in notebook["cells"] if c["cell_type"] == "code"), 1):
        cell["outputs"], cell["execution_count"] = outputs("".join(cell["source"]), names, count), count
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
