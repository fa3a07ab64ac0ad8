"""The catalogue: a trigger raises exactly its class, its cure runs, codes are unique, each is raised somewhere."""

import ast
import pickle
import re
import string
import warnings
from pathlib import Path

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors
from celadon.op import registry

SOURCE = Path(errors.__file__).parent.parent
ENTRIES = list(errors.entries.values())
EACH = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)


def run(snippet: str) -> None:
    known = dict(registry)
    try:
        exec(compile(snippet, "<snippet>", "exec"), {"celadon": celadon, "cnp": cnp, "np": np, "__name__": "snippet"})
    finally:
        for name in registry.keys() - known.keys():
            del registry[name]


@EACH
def test_the_trigger_raises_exactly_this(entry: type[errors.CeladonError]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Exception) as caught:
            run(entry.trigger)
    assert caught.type is entry, f"{caught.type.__name__}: {caught.value}"


@EACH
def test_the_message_states_facts_cure_and_code(entry: type[errors.CeladonError]) -> None:
    with warnings.catch_warnings(), pytest.raises(entry) as caught:
        warnings.simplefilter("error")
        run(entry.trigger)
    text = str(caught.value)
    assert entry.cure in text and f"[{entry.code}]" in text
    fields = {name for _, name, _, _ in string.Formatter().parse(entry.message) if name}
    assert {re.split(r"[.\[]", name)[0] for name in fields} <= caught.value.facts.keys()
    assert text.startswith(entry.message.format(**caught.value.facts))


@EACH
def test_the_cure_works(entry: type[errors.CeladonError]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(entry.cured)


@EACH
def test_the_page_is_whole(entry: type[errors.CeladonError]) -> None:
    assert re.fullmatch(r"CEL\d{3}", entry.code)
    for part in (entry.title, entry.message, entry.cause, entry.cure, entry.when):
        assert part.strip()
    assert entry.trigger != entry.cured
    for text in (entry.title, entry.cause, entry.cure, entry.when):  # only the message is filled in
        assert not re.search(r"[{]\w+[}]|[{]{2}|[}]{2}", text)
    assert set(entry.related) <= errors.entries.keys() - {entry.code}
    builtins = [c for c in entry.__mro__ if c.__module__ == "builtins" and c not in (BaseException, Exception, object)]
    assert builtins


@EACH
def test_it_is_raised_somewhere(entry: type[errors.CeladonError]) -> None:
    used = re.compile(rf"\berrors\.{entry.__name__}\b")
    below = [c for c in ENTRIES if c is not entry and issubclass(c, entry)]
    assert below or any(used.search(text) for text in TEXTS), f"{entry.__name__} is raised nowhere"


def _calls() -> list[tuple[str, ast.Call]]:
    """Where an entry is made in the package: file and line, and the call."""
    found = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in BY_NAME:
                found.append((f"{path.relative_to(SOURCE)}:{node.lineno}", node))
    return found


BY_NAME = {entry.__name__: entry for entry in ENTRIES}


def test_each_place_that_raises_gives_the_facts_that_the_message_names() -> None:
    missing = []
    for place, call in _calls():
        entry = BY_NAME[call.func.attr]
        fields = {name for _, name, _, _ in string.Formatter().parse(entry.message + entry.cure) if name}
        given = {keyword.arg for keyword in call.keywords}
        if None not in given and {re.split(r"[.\[]", name)[0] for name in fields} - given:
            missing.append(f"{place} {entry.__name__}")
    assert missing == []


TEXTS = [path.read_text() for path in SOURCE.rglob("*.py") if "errors" not in path.relative_to(SOURCE).parts]


def test_codes_and_names_are_unique_and_in_their_files() -> None:
    assert len({entry.__name__ for entry in ENTRIES}) == len(ENTRIES)
    hundreds = {}
    for entry in ENTRIES:
        hundreds.setdefault(entry.code[3], set()).add(entry.__module__)
    assert hundreds["1"] == {"celadon.errors.statics"} and hundreds["6"] == {"celadon.errors.commands"}


def test_a_code_is_not_used_twice() -> None:
    with pytest.raises(TypeError, match="reuses the code"):
        type("Again", (errors.CeladonError,), {"code": ENTRIES[0].code})


def test_an_error_travels_between_processes() -> None:
    with pytest.raises(errors.NotCallable) as caught:
        celadon.jit(3)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is errors.NotCallable and str(again) == str(caught.value)


def test_no_error_is_raised_with_a_bare_string() -> None:
    bare = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                name = ast.unparse(node.exc.func)
                if name in PUBLIC and not _is_protocol(path):
                    bare.append(f"{path.name}:{node.lineno} {name}")
    assert bare == []


PUBLIC = {"RuntimeError", "IndexError", "OverflowError", "MemoryError"}


def _is_protocol(path: Path) -> bool:
    return path.name in ("llvm.py", "link.py")
