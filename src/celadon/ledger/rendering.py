"""Prices and pages come in as data, text for the terminal goes out: tables, marked programs, verdicts, progress."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.syntax import Syntax
from rich.text import Text

from celadon.ledger import charts
from celadon.ledger.charts import Profile
from celadon.ledger.figures import Rows, duration, number
from celadon.ledger.measure import Advance, Interval
from celadon.ledger.pages import Page
from celadon.ledger.pricing import Comparison, FirstCall, Price, StaticPrice, Steps, Way


def console() -> Console:
    """The terminal; as wide as a program's lines when the output goes elsewhere."""
    return Console(soft_wrap=False, width=None if sys.stdout.isatty() else 120, highlight=False)


def show_price(price: Price, out: Console) -> None:
    """Print everything about a function's static arguments."""
    arguments = "  ".join(f"{name}: {type}" for name, type in price.arguments.items())
    out.print(Text.assemble((price.function, "bold"), f"   {arguments}"))
    for static in price.statics:
        _show_static(static, out)
    if price.steps:
        _show_steps(price.steps, out)


def _show_steps(steps: Sequence[Steps], out: Console) -> None:
    head = ["", "first call", "of it trace", "lower", "compile", "a steady call", "95 % interval", "calls", "traces", "compiles"]
    table = [head]
    for one in steps:
        parts = one.first.stages
        times = (one.first.total, parts.trace, parts.lower, parts.compile, one.steady.median)
        counts = (one.steady.calls, one.traces, one.compiles)
        table.append([one.library, *map(duration, times), _bounds(one.steady), *map(str, counts)])
    _show_table("no static argument: the same call, again and again", table, out)
    out.print()
    for one in steps:
        once = (one.traces, one.compiles) == (1, 1)
        words = "one trace and one compile" if once else f"{one.traces} traces and {one.compiles} compiles"
        debt = number(one.first.total / one.steady.median)
        out.print(f"  {one.library}: {words} in all calls; the first call cost {debt} steady ones", soft_wrap=True)


def _show_static(static: StaticPrice, out: Console) -> None:
    out.print()
    out.rule(Text(f"{static.argument} = {', '.join(static.values)}"), align="left", characters="-")
    _show_programs(static, out)
    _show_table(f"a steady call{_sameness(static)}", _steady_table(static), out)
    _show_table("the first call at each value", _first_table(static), out)
    out.print()
    for text in _facts(static):
        out.print(f"  {text}", soft_wrap=True)
    if static.against is not None:
        title = f"against {static.against.library} {static.against.version}, in the same run, in turn"
        _show_table(title, _against_table(static, static.against), out)
    _show_verdict(static, out)


def _show_programs(static: StaticPrice, out: Console) -> None:
    """Both lowered programs, one after the other, or side by side where the terminal is wide enough."""
    widest = max(len(text) for row in static.programs for text in (row.traced or "", row.static or ""))
    if static.traced is None:
        _show_program(f"{static.argument} static", [(row.static, False) for row in static.programs], out)
    elif out.width >= 2 * widest + 10:
        _show_side_by_side(static, widest, out)
    else:
        _show_program(f"{static.argument} traced", [(row.traced, row.differs) for row in static.programs], out)
        _show_program(f"{static.argument} static", [(row.static, row.differs) for row in static.programs], out)


def _show_program(title: str, lines: Sequence[tuple[str | None, bool]], out: Console) -> None:
    out.print(Text(f"\n  {title}" + (" (> differs)" if any(differs for _, differs in lines) else "")))
    for text, differs in lines:
        if text is not None:
            out.print(_marked(text, differs), soft_wrap=True)


def _marked(text: str, differs: bool) -> Text:
    return Text(f"  {'>' if differs else ' '} {text}", style="yellow" if differs else "dim")


def _show_side_by_side(static: StaticPrice, widest: int, out: Console) -> None:
    out.print(Text(f"\n  {static.argument} traced".ljust(widest + 8) + f"{static.argument} static (> differs)"))
    for row in static.programs:
        left = _marked((row.traced or "").ljust(widest), row.differs)
        out.print(left + _marked(row.static or "", row.differs), soft_wrap=True)


def _show_table(title: str, table: Rows, out: Console) -> None:
    out.print(Text(f"\n  {title}"))
    _show_rows(table, out)


def _show_rows(table: Rows, out: Console, left: Sequence[int] = (0,)) -> None:
    """Aligned columns under a heading, the `left` ones to the left; nothing is cut, however narrow `out` is."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for k, row in enumerate(table):
        cells = [x.ljust(n) if i in left else x.rjust(n) for i, (x, n) in enumerate(zip(row, widths, strict=True))]
        line = Text(f"  {'    '.join(cells)}".rstrip(), style="" if k else "dim")
        line.highlight_regex(r"(?<=% )[#|]+", "cyan")  # bars
        out.print(line, soft_wrap=True)


def _ways(static: StaticPrice) -> list[tuple[str, Way]]:
    pairs = [("traced", static.traced), ("static", static.static)]
    return [(name, way) for name, way in pairs if way is not None]


def _steady_table(static: StaticPrice) -> Rows:
    table = [["", "median", "95 % interval", "calls"]]
    for name, way in _ways(static):
        table.append([name, duration(way.steady.median), _bounds(way.steady), str(way.steady.calls)])
    return table


def _bounds(steady: Interval) -> str:
    return f"{duration(steady.low)} - {duration(steady.high)}"


def _sameness(static: StaticPrice) -> str:
    if static.traced is None:
        return ""
    if static.same:
        return ": the same, within noise"
    traced, one = static.traced.steady.median, static.static.steady.median
    return f": static is {number(max(traced, one) / min(traced, one))} times as {'fast' if one < traced else 'slow'}"


def _first_table(static: StaticPrice) -> Rows:
    table = [["", "value", "trace", "lower", "compile", "first run", "in all", "steady calls"]]
    for name, way in _ways(static):
        table += [[name, *_first_row(call, way)] for call in way.first]
    return table


def _first_row(call: FirstCall, way: Way) -> list[str]:
    stages = (call.stages.trace, call.stages.lower, call.stages.compile, call.stages.run)
    times = [duration(seconds) if seconds else "-" for seconds in stages]
    return [call.value, *times, duration(call.total), number(call.total / way.steady.median)]


def _facts(static: StaticPrice) -> Iterator[str]:
    yield f"debt: a new static value costs {number(static.static.debt)} steady calls; break-even: {_break_even(static)}"
    for name, way in _ways(static):
        entries, executables = _count(way.entries, "entry", "entries"), _count(way.executables, "executable")
        yield f"cache: {name} {entries}, {'sharing ' if way.entries > way.executables else ''}{executables}"
    if static.fallbacks:
        yield f"ran on the reference executor, for lack of a kernel for: {', '.join(static.fallbacks)}"


def _break_even(static: StaticPrice) -> str:
    if static.break_even is not None:
        return f"after {number(static.break_even)} calls at one value"
    return "none, it can't be traced" if static.traced is None else "never, steady calls are not faster for it"


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def _against_table(static: StaticPrice, other: Comparison) -> Rows:
    table = [["", "celadon", other.library, "ratio"]]
    for name, ours, theirs in (("traced", static.traced, other.traced), ("static", static.static, other.static)):
        if ours is not None and theirs is not None:
            table += _against_rows(name, ours, theirs, other.ratios)
    return table


def _against_rows(name: str, ours: Way, theirs: Way, ratios: dict[str, float]) -> Iterator[list[str]]:
    for figure, mine, other in zip(_FIGURES, _figures(ours), _figures(theirs), strict=True):
        ratio = ratios.get(f"{name} {figure}")
        if ratio is not None:
            yield [f"{name}: {figure}", mine, other, f"{number(ratio)} x"]


_FIGURES = ("steady call", "first call", "new value", "cache entries", "executables")


def _figures(way: Way) -> list[str]:
    times = (way.steady.median, way.first[0].total, way.debt * way.steady.median)
    return [*map(duration, times), str(way.entries), str(way.executables)]


def _show_verdict(static: StaticPrice, out: Console) -> None:
    found = static.verdict
    out.print()
    out.print(Text.assemble("  ", (f"{found.kind}: {static.argument}", "bold"), f" - {found.reason}"), soft_wrap=True)
    if found.line:
        out.print(Text(f"    {found.line}: {found.code}"), soft_wrap=True)


_COMMENT = r"(?m)(?:#|//) .*$"
_LEXERS = {"llvm": "llvm", "asm": "gas"}
_MARKED = {
    "bold": r"= \"?([\w.]+)\"?(?=[( ])",
    "cyan": r"\b(?:bool|bf16|[iufc]\d+)\[[\d,]*\]|tensor<[^>]*>",
    "yellow": r"\{[^{}\n]*\}|dense<[^>]*>",
    "bold green": r"(?m)^ *(?:kernel|step) [\d.]+|^ *(?:body|condition|branch \d+)\b",
    "dim": rf"{_COMMENT}|(?m:^ *from +.*$)",
}


def show_stage(text: str, stage: str) -> None:
    """Print the text of a stage: as it is, and on a terminal in colours."""
    if not sys.stdout.isatty():
        print(text, end="")
        return
    if stage in _LEXERS:
        marked = Syntax("", _LEXERS[stage], background_color="default", tab_size=8).highlight(text)
    else:
        marked = Text(text)
        for style, pattern in _MARKED.items():
            marked.highlight_regex(pattern, style)
    console().print(marked, soft_wrap=True, end="")


def show_profile(profile: Profile, out: Console) -> None:
    """Print where the time of a function's calls goes."""
    first, steady = profile.first, profile.steady
    out.print(Text(profile.function, style="bold"))
    out.print(Text(f"\n  the first call: {duration(first.seconds)}, by stage"))
    _show_rows(charts.first_rows(first), out, (0, 2))
    threads = f"at most {_count(steady.threads, 'thread')}"
    interval = f"{duration(steady.steady.median)} ({_bounds(steady.steady)}, {steady.steady.calls} calls, {threads})"
    out.print(Text(f"\n  a steady call: {interval}, by step"), soft_wrap=True)
    _show_rows(charts.steady_rows(steady), out, (0, 1, 2, 3, 5, 9, 10, 11))
    out.print()
    for text in charts.facts(steady):
        out.print(f"  {text}", soft_wrap=True)


def show_page(page: Page, out: Console) -> None:
    """Print one page of the catalogue."""
    out.print(Text.assemble((f"{page.code}  {page.name}", "bold"), f"  ({page.kind})"))
    out.print(Text(page.title))
    for title in ("message", "cause", "cure", "when"):
        out.print(Text.assemble("\n", (title, "dim"), f"\n  {getattr(page, title)}"), soft_wrap=True)
    for title in ("trigger", "cured"):
        out.print(Text.assemble("\n", (title, "dim")))
        out.print(Padding(Syntax(getattr(page, title), "python", background_color="default"), (0, 2)))
    if page.related:
        out.print(Text.assemble("\n", ("related", "dim"), f"\n  {', '.join(page.related)}"))


def show_pages(pages: Sequence[Page], out: Console) -> None:
    """Print the list of all errors."""
    _show_rows([["code", "name", "title"], *([page.code, page.name, page.title] for page in pages)], out, left=(0, 1, 2))


@contextmanager
def progress(what: str, total: float) -> Generator[Advance]:
    """A bar on the terminal's error stream while measuring; silent when that is no terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    err = Console(stderr=True)
    with Progress(*columns, console=err, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(what, total=total)
        yield lambda share: bar.advance(task, share)
