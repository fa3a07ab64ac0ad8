"""The house rules: sizes of functions and modules, numbers of parameters, names, and what a module opens with."""

import ast
import re
import statistics
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "celadon"
FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text()) for path in FILES}

FORBIDDEN = {"util", "utils", "helpers", "common", "base", "misc", "core", "internal", "manager", "handler"}
MIRRORS_JAX = ("numpy/", "lax/", "nn/", "ops.py", "random/", "scipy/", "tree_util.py", "vocabulary/")
MIRRORING_FUNCTIONS = {("calling.py", "jit"), ("hardware.py", "device_put"), ("replicas.py", "pmap")} | {
    (f"transforms/{module}.py", name)
    for module, names in {
        "gradients": ("grad", "value_and_grad"), "loops": ("scan",), "mapping": ("vmap",), "recompute": ("checkpoint",),
        "solving": ("custom_linear_solve",),
    }.items() for name in names
}  # fmt: skip


def functions(tree: ast.AST):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


LENGTHS = sorted(length(function) for tree in TREES.values() for function in functions(tree))


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


MODULE = pytest.mark.parametrize("path", FILES, ids=relative)


def test_functions_are_short() -> None:
    assert statistics.median(LENGTHS) <= 7
    assert LENGTHS[int(0.9 * len(LENGTHS))] <= 25


@MODULE
def test_no_function_is_over_sixty_lines(path: Path) -> None:
    assert [f.name for f in functions(TREES[path]) if length(f) > 60] == []


@MODULE
def test_no_module_is_over_five_hundred_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 500


@pytest.mark.parametrize("path", [path for path in FILES if not relative(path).startswith(MIRRORS_JAX)], ids=relative)
def test_parameters_are_few(path: Path) -> None:
    many = [f"{f.name} ({n})" for f in functions(TREES[path]) if (n := _parameters(f)) > 5 and not _mirrors(path, f)]
    assert many == []


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def _mirrors(path: Path, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A JAX signature, a command, whose parameters are its options, or a rule of an op, which has the op's parameters too."""
    rule = function.name.startswith("_") or function.name.endswith("_rule")
    if relative(path).startswith("transforms/") and rule and function.args.kwonlyargs:
        return len(function.args.args) <= 3
    commands = relative(path) == "__main__.py" and any("command" in ast.unparse(d) for d in function.decorator_list)
    return commands or (relative(path), function.name) in MIRRORING_FUNCTIONS


@MODULE
def test_no_module_has_a_name_without_meaning(path: Path) -> None:
    words = {word for part in path.relative_to(PACKAGE).with_suffix("").parts for word in part.strip("_").split("_")}
    assert not words & FORBIDDEN or relative(path) in ("tree_util.py", "flatten_util.py")  # JAX's names


@MODULE
def test_classes_are_the_noun_itself(path: Path) -> None:
    classes = [node.name for node in ast.walk(TREES[path]) if isinstance(node, ast.ClassDef)]
    assert not [name for name in classes if re.search(r"^Abstract|Base$|Impl$|Manager$|Handler$", name)]


@MODULE
def test_a_module_opens_with_one_line(path: Path) -> None:
    text = ast.get_docstring(TREES[path])
    assert text, "no docstring"
    assert len(text.splitlines()[0]) <= 160


@MODULE
def test_nothing_is_left_to_do_and_nothing_is_swallowed(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\b(TO[D]O|FIXME|XXX|HACK)\b", text)
    handlers = [node for node in ast.walk(TREES[path]) if isinstance(node, ast.ExceptHandler)]
    assert not [h.lineno for h in handlers if all(isinstance(s, ast.Pass) for s in h.body)]
