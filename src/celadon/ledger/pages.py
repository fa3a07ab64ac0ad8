"""A code of the error catalogue comes in, its page as data goes out; the command line and the docs render it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from celadon import errors
from celadon.errors import CeladonError


@dataclass(frozen=True, slots=True)
class Page:
    """All that the catalogue knows of one error."""

    code: str
    name: str
    kind: str
    title: str
    message: str
    cause: str
    cure: str
    when: str
    trigger: str
    cured: str
    related: tuple[str, ...]


def page(code: str) -> Page:
    """The page of an error, by code or by class name.

    Raises: `CodeUnknown`.

    >>> page("cel101").name
    'StaticArgumentUnhashable'
    """
    by_name = {each.__name__: each for each in errors.entries.values()}
    found = errors.entries.get(code.upper()) or by_name.get(code)
    if found is None:
        raise errors.CodeUnknown(code=code)
    return _of(found)


def every() -> tuple[Page, ...]:
    """All pages, in the order of their codes."""
    return tuple(_of(errors.entries[code]) for code in sorted(errors.entries))


def _of(found: type[CeladonError]) -> Page:
    return Page(
        found.code, found.__name__, _kind(found), found.title, found.message, found.cause, found.cure, found.when,
        found.trigger, found.cured, found.related,
    )  # fmt: skip


def _kind(found: type[CeladonError]) -> str:
    """The built-in class under which users catch it."""
    builtin = [each for each in found.__mro__ if each.__module__ == "builtins"]
    return builtin[0].__name__


def markdown(pages: Sequence[Page]) -> str:
    """Pages as one Markdown document, for the documentation.

    >>> markdown([page("CEL111")]).splitlines()[0]
    '# Errors'
    """
    return "\n".join([_HEAD, *(_section(each) for each in pages)])


_HEAD = """# Errors

All errors of the catalogue, by code. Each trigger raises exactly its error and each cure works: the tests run both,
with `celadon`, `cnp` (celadon.numpy) and `np` in scope. `celadon explain CODE` prints one of these pages,
`celadon errors` lists them; both have `--json`. This page is written by `celadon errors --markdown`.
"""


def _section(page: Page) -> str:
    related = f"\nRelated: {', '.join(page.related)}.\n" if page.related else ""
    return f"""## {page.code}: {page.title}

`celadon.errors.{page.name}`, a `{page.kind}`: "{page.message}"

{page.cause} {page.when}

**Cure.** {page.cure}

Raises it:

```text
{page.trigger}
```

Works:

```text
{page.cured}
```
{related}"""
