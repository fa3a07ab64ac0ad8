"""The documentation runs: code blocks of the pages and the README, doctests of the package, and the list of errors."""

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import celadon
from celadon.ledger import pages

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODULES = [found.name for found in pkgutil.walk_packages(celadon.__path__, "celadon.")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_blocks_of_a_page_run_and_print_what_it_says(page: Path) -> None:
    scope: dict[str, object] = {"__name__": page.stem}
    printed = ""
    for language, text in BLOCK.findall(page.read_text()):
        if language == "python":
            printed = run(text, scope, page.name)
        elif language == "text" and page.stem != "errors":
            assert printed == text


def run(text: str, scope: dict[str, object], name: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(text, name, "exec"), scope)
    return out.getvalue()


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_true(name: str) -> None:
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in Finder(exclude_empty=True).find(module, name, extraglobs={"np": np}):
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


class Finder(doctest.DocTestFinder):
    """Leaves out properties that another module has installed in a class: their examples run there."""

    def _from_module(self, module, object):
        if isinstance(object, property):
            return object.fget.__module__ == module.__name__
        return super()._from_module(module, object)


def test_the_list_of_errors_is_the_catalogue() -> None:
    written = (ROOT / "docs" / "errors.md").read_text()
    assert written == pages.markdown(pages.every()), "run: celadon errors --markdown > docs/errors.md"


def test_pages_link_only_to_what_is_there() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_checks_run_the_command_that_the_readme_gives() -> None:
    commands = [line.strip() for line in (ROOT / "README.md").read_text().splitlines() if line.endswith("-m pytest -q -n 2")]
    assert len(commands) == 1 and commands[0] in (ROOT / ".ci" / "run").read_text().splitlines()


def test_a_wrong_page_is_noticed() -> None:
    with warnings.catch_warnings(), pytest.raises(ZeroDivisionError):
        run("1 / 0", {}, "wrong")
    assert BLOCK.findall("```python\nx\n```\n") == [("python", "x\n")]
