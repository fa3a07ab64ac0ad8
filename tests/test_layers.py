"""The layer table: no import of a higher layer, none in circles, third parties only where they may stand."""

import ast
import re
import sys
from pathlib import Path
from typing import TypeGuard

import pytest

SOURCE = Path(__file__).parent.parent / "src"
PACKAGE = SOURCE / "celadon"

LAYERS = (
    {"errors", "settings", "types", "events", "keys", "memory", "ahead", "background", "locks", "garbage", "facade"}
    | {"tree", "tree_bytes", "tree_fields", "tree_nodes", "tree_outlines", "tree_partings", "tree_paths", "tree_util", "voids"},
    {"program", "tracing", "op", "array", "leaks", "nans", "evaluate", "signature", "statics"},
    {"vocabulary"},
    {"transforms", "ad_checkpoint", "custom_derivatives", "custom_batching"},
    {"hardware", "flatten_util", "debug", "dtypes", "experimental", "numpy", "lax", "nn", "ops", "random", "scipy"},
    {"compiler"},
    {"reference", "cpu", "xla"},
    {"cache", "origins", "tables", "inside", "stages", "explain", "request", "hot", "calling"},
    {"ledger", "lint", "configuration", "monitoring", "replicas", "__main__", "__init__"},
)
COMPILER_MAY_IMPORT = 2

# Third parties other than numpy, with the modules that may know them; None is everywhere.
THIRD_PARTIES = {
    "numpy": None,
    "ml_dtypes": None,
    "optree": {"tree", "tree_nodes"},
    "llvmlite": {"cpu.llvm"},
    "scipy_openblas32": {"cpu.blas"},
    "platformdirs": {"cpu.store"},
    "opt_einsum": {"numpy"},
    "jax": {"xla"},
    "rich": {"ledger.rendering"},
    "typer": {"__main__"},
}
BY_NAME = {"jax": {"xla"}}  # importlib.import_module, when it is asked for
LATE_IMPORTS = {"__main__"}  # a command loads what it needs, so that --help is quick


def modules() -> dict[str, ast.Module]:
    return {_name(path): ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def layer(name: str) -> int:
    found = [i for i, names in enumerate(LAYERS) if name.split(".")[0] in names]
    assert found, f"{name} stands in no layer"
    return found[0]


def executed(tree: ast.AST, late: bool = False):
    """Import statements that run (TYPE_CHECKING blocks do not), each with whether it stands in a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, late
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        else:
            yield from executed(node, late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))


def imported(node: ast.Import | ast.ImportFrom, known: set[str]) -> list[str]:
    """What a statement imports: modules of the package without its name, third parties as `!name`."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        assert node.level == 0, f"a relative import: {ast.unparse(node)}"
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    return [found for name in names if (found := _resolved(name, known))]


def _resolved(name: str, known: set[str]) -> str:
    top, _, rest = name.partition(".")
    if top != "celadon":
        return "" if top in sys.stdlib_module_names else f"!{top}"
    while rest and rest not in known:
        rest = rest.rpartition(".")[0]
    return rest or "__init__"


MODULES = modules()
KNOWN = set(MODULES)
IMPORTS = {
    name: [(found, late) for node, late in executed(tree) for found in imported(node, KNOWN)]
    for name, tree in MODULES.items()
}


@pytest.mark.parametrize("name", MODULES)
def test_a_layer_never_imports_a_higher_one(name: str) -> None:
    ceiling = COMPILER_MAY_IMPORT if name.split(".")[0] == "compiler" else layer(name)
    higher = [other for other, _ in IMPORTS[name] if other[0] != "!" and not _may(name, other, ceiling)]
    assert not higher, f"{name} (layer {layer(name)}) imports {', '.join(higher)}"


def _may(name: str, other: str, ceiling: int) -> bool:
    return layer(other) <= ceiling or other.split(".")[0] == name.split(".")[0]


@pytest.mark.parametrize("name", MODULES)
def test_third_parties_stand_where_they_may(name: str) -> None:
    for other, _ in IMPORTS[name]:
        if other[0] == "!":
            allowed = THIRD_PARTIES.get(other[1:], set())
            assert allowed is None or any(_inside(name, place) for place in allowed), f"{name} imports {other[1:]}"


def _inside(name: str, place: str) -> bool:
    return name == place or name.startswith(place + ".")


@pytest.mark.parametrize("name", MODULES)
def test_no_late_imports_but_of_optional_third_parties(name: str) -> None:
    late = [other for other, late in IMPORTS[name] if late and other[0] != "!"]
    assert not late or name in LATE_IMPORTS, f"{name} imports {', '.join(late)} inside a function"


@pytest.mark.parametrize("name", MODULES)
def test_optional_libraries_are_named_only_where_they_may(name: str) -> None:
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            for argument in node.args:
                text = argument.value if isinstance(argument, ast.Constant) else ""
                assert text not in BY_NAME or name in BY_NAME[text], f"{name} imports {text} by name"


def test_no_import_goes_in_circles() -> None:
    edges = {name: {other for other, late in found if other[0] != "!" and not late} for name, found in IMPORTS.items()}
    edges["__init__"] = edges["__init__"] | set()
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"a circle: {' -> '.join((*path[path.index(name):], name))}"
        if name not in done:
            for other in edges[name] - {name, "__init__"}:
                visit(other, (*path, name))
            done.add(name)

    for name in edges:
        visit(name, ())


def test_only_the_top_imports_the_package_itself() -> None:
    users = {name for name, found in IMPORTS.items() if "__init__" in {other for other, _ in found}}
    assert users <= {"__main__", "ledger.sides"}


FACADES = [path for path in sorted(PACKAGE.rglob("__init__.py")) if "facade(" in path.read_text()]


@pytest.mark.parametrize("path", FACADES, ids=lambda path: path.parent.name)
def test_a_facade_and_its_stub_name_the_same_things(path: Path) -> None:
    tree, stub = ast.parse(path.read_text()), ast.parse(path.with_suffix(".pyi").read_text())
    homes = next(ast.literal_eval(n.value) for n in tree.body if _is_homes(n))
    package = ".".join(path.parent.relative_to(SOURCE).parts)
    table = {(f"{package}.{home}", name) for home, names in homes.items() for name in names.split()}
    assert len(table) == sum(len(names.split()) for names in homes.values()), "a name stands twice in its table"
    assert _stubbed(stub) - {(package, name) for name in _added(tree)} == table


@pytest.mark.parametrize("path", FACADES, ids=lambda path: path.parent.name)
def test_no_name_of_a_facade_is_hidden_by_a_module_of_that_name(path: Path) -> None:
    """Importing a module sets the package's attribute of its name, whatever stood there."""
    homes = next(ast.literal_eval(n.value) for n in ast.parse(path.read_text()).body if _is_homes(n))
    inside = {found.stem for found in path.parent.iterdir() if found.suffix == ".py" or (found / "__init__.py").exists()}
    assert {name for names in homes.values() for name in names.split()} & inside == set()


def _is_homes(node: ast.stmt) -> TypeGuard[ast.Assign | ast.AnnAssign]:
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    return ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0]) == "_HOMES"


def _added(tree: ast.Module) -> list[str]:
    """Modules that a facade names beside its table: `__all__ += [...]`."""
    return [name for n in tree.body if isinstance(n, ast.AugAssign) for name in ast.literal_eval(n.value)]


def _stubbed(stub: ast.Module) -> set[tuple[str, str]]:
    """The (module, name) pairs that a stub exports: `from module import name as name`."""
    nodes = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    assert all(alias.asname == alias.name for node in nodes for alias in node.names)
    return {(str(node.module), alias.name) for node in nodes for alias in node.names}


def test_the_design_page_has_every_module_in_its_layer() -> None:
    page = (SOURCE.parent / "docs" / "design.md").read_text()
    rows = dict(re.findall(r"^\| (\d) \| (.*) \|$", page, re.MULTILINE))
    shown = {(name, int(number)) for number, row in rows.items() for name in re.findall(r"`(\w+)`", row)}
    there = {name.split(".")[0] for name in MODULES} - {"__init__"}
    assert {name: layer(name) for name in there if (name, layer(name)) not in shown} == {}


def test_the_reader_sees_a_violation() -> None:
    tree = ast.parse("from celadon import calling\ndef f():\n    import celadon.cache")
    found = [(other, late) for node, late in executed(tree) for other in imported(node, KNOWN)]
    assert found == [("calling", False), ("cache", True)]
    assert layer("calling") > layer("types") and layer("ledger.pricing") > layer("calling")
