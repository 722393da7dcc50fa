"""Every public module, class and function says what it does, and names the errors it raises itself."""

import ast
import re
from functools import cache
from pathlib import Path

from bench.faults.table import MODULES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "robot_dynamics_ros"
FILES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
FILES |= {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "bench").rglob("*.py"))}
# a function per case, listed with its title in CASES
TITLED = tuple(f"bench/faults/{name}.py" for name in MODULES)


@cache
def tree(name):
    return ast.parse(FILES[name].read_text(encoding="utf-8"))


@cache
def errors():
    ours = {node.name for node in tree("errors.py").body if isinstance(node, ast.ClassDef)}
    return ours | {"ValueError", "TypeError", "KeyError", "ExperimentFailed"}


def is_protocol(node):
    return any(isinstance(base, ast.Name) and base.id in ("Protocol", "ABC") for base in node.bases)


@cache
def explained():
    """Methods that a protocol or abstract class of the same folder explains: their classes need not say it again."""
    return {
        (Path(name).parent.as_posix(), method.name)
        for name in FILES
        for node in ast.walk(tree(name))
        if isinstance(node, ast.ClassDef) and is_protocol(node)
        for method in node.body
        if isinstance(method, ast.FunctionDef)
    }


def public(name):
    """Definitions a reader may use: (name, node, class it is in or None)."""
    for node in tree(name).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            yield node.name, node, None
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and (inner.name == "__init__" or not inner.name.startswith("_")):
                    yield f"{node.name}.{inner.name}", inner, node


def raised(node):
    for inner in ast.walk(node):
        if isinstance(inner, ast.Raise) and inner.exc is not None:
            error = inner.exc.func if isinstance(inner.exc, ast.Call) else inner.exc
            if isinstance(error, ast.Name) and error.id in errors():
                yield error.id


def is_command(node):
    """A command of the command line: its errors are one line for a person, its docstring is its help."""
    return any("click.command" in ast.unparse(decorator) for decorator in node.decorator_list)


def undocumented(name):
    """Public names of a file without a docstring, and the file itself."""
    if not (name.endswith("__init__.py") or ast.get_docstring(tree(name))):
        yield name
    for path, node, owner in public(name):
        by_protocol = (Path(name).parent.as_posix(), node.name) in explained()
        if not (node.name == "__init__" or by_protocol or (name.startswith(TITLED) and owner is None)):
            if not ast.get_docstring(node):
                yield f"{name}: {path}"


def text_of(node, owner):
    return (ast.get_docstring(node) or "") + " " + ((ast.get_docstring(owner) or "") if owner else "")


def unnamed_errors(name):
    """Functions of a file that raise an error which neither their docstring nor that of their class names."""
    for path, node, owner in public(name):
        if isinstance(node, ast.FunctionDef) and not is_command(node):
            if any(error not in text_of(node, owner) for error in raised(node)):
                yield f"{name}: {path}"


def test_public_names_say_what_they_do_and_which_errors_they_raise():
    for check in (undocumented, unnamed_errors):
        assert [text for name in FILES for text in check(name)] == []


ARRAY = re.compile(r"\b(ndarray|Array|ArrayLike)\b")
DIMENSION = r"(?:\d+|\.\.\.|(?:\d+ )?[A-Za-z](?: ?[-+] ?\d+)?(?: [A-Za-z])?)"
SHAPE = re.compile(rf"\({DIMENSION}(?:, {DIMENSION})*,?\)")  # (n,), (N, n), (10 n,), (n + 1, 4, 4), (..., 3)
STATED = ("bags", "control", "drivers", "effort", "estimators", "health", "identification", "models", "robot_file")


def array_arguments(node):
    """Annotated array arguments of a function; `_` is not used by it."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [a.arg for a in arguments if a.arg != "_" and a.annotation and ARRAY.search(ast.unparse(a.annotation))]


def without_shape(name):
    """Array arguments of public functions of a file whose docstring, or that of the class, states no shape."""
    for path, node, owner in public(name):
        if isinstance(node, ast.FunctionDef) and (Path(name).parent.as_posix(), node.name) not in explained():
            if not SHAPE.search(text_of(node, owner)):
                yield from (f"{name}: {path}({argument})" for argument in array_arguments(node))


def test_shapes_of_array_arguments_are_stated():
    assert [text for name in FILES if name.split("/")[0] in STATED for text in without_shape(name)] == []


def test_what_is_missing_is_noticed(monkeypatch, tmp_path):
    source = '"""M."""\ndef f(q: np.ndarray):\n    """Torque [Nm] of q."""\n    raise ValueError\n'
    whole = source.replace("of q", "of q (N, n). Raises ValueError")
    for name, text in (("without.py", source), ("with.py", whole), ("bare.py", "def f(): ...")):
        monkeypatch.setitem(FILES, name, tmp_path / name)
        FILES[name].write_text(text)
    assert list(without_shape("without.py")) == ["without.py: f(q)"]
    assert list(unnamed_errors("without.py")) == ["without.py: f"]
    assert list(undocumented("bare.py")) == ["bare.py", "bare.py: f"]
    assert not SHAPE.search("(may be repeated), (see above), (rad, Nm)")
    assert not [*without_shape("with.py"), *unnamed_errors("with.py"), *undocumented("with.py")]
