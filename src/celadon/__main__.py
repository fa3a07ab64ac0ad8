"""The command line: `celadon price`, `lower`, `explain`, `errors`; arguments come in, tables or JSON go out."""

from __future__ import annotations

import dataclasses
import json
import signal
import sys
import threading
from contextlib import redirect_stdout
from types import FrameType
from typing import Annotated, Any

import typer

from celadon import __version__, errors

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)

def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


Target = Annotated[str, typer.Argument(help="file.py:name or module:name", metavar="TARGET")]
ARG = "a traced argument: 'x=f32[2048,2048]', 's=2.0', 'x=data.npy'; may be given several times"
STATIC = "a static argument and the values it takes: 's=2.0,3.0,4.0'; may be given several times"
STAGE = "stablehlo, simplified, kernels (what runs, where and how it is split), llvm or asm (the code of the kernels)"
STAGES = "instead, where the time of a first call goes by stage, and that of a steady call by kernel, and what bounds each"
CALLS = "steady calls to measure; without it, as many as half a second holds"

Arg = Annotated[list[str] | None, typer.Option("--arg", help=ARG, metavar="NAME=SPEC")]
Static = Annotated[list[str] | None, typer.Option("--static", help=STATIC, metavar="NAME=VALUES")]
Stage = Annotated[str, typer.Option("--stage", help=STAGE)]
Code = Annotated[str, typer.Argument(metavar="CODE", help="CEL101, or the name of an error's class")]
Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)]
Markdown = Annotated[bool, typer.Option("--markdown", help="print all pages as one document")]
AsJSON = Annotated[bool, typer.Option("--json", help="print data only")]


@app.callback()
def celadon(version: Version = False) -> None:
    """Array programs in JAX's terms: compile structure, pass numbers."""


@app.command()
def price(
    target: Target,
    arg: Arg = None,
    static: Static = None,
    against: Annotated[str | None, typer.Option(help="measure another library in the same run: jax")] = None,
    calls: Annotated[int | None, typer.Option(min=3, help=CALLS)] = None,
    stages: Annotated[bool, typer.Option("--stages", help=STAGES)] = False,
    as_json: AsJSON = False,
) -> None:
    """What each static argument of a function costs: programs, steady and first calls, debt, cache entries, verdict."""
    from celadon.ledger import against as others, measure, pricing, rendering, sides

    if stages:
        _show_stages(target, arg, static, (against, calls), as_json)
        return
    other = others.library(against) if against is not None else None
    with redirect_stdout(sys.stderr):  # what the target prints is no part of the report
        job = _job(target, arg, static, sides.Celadon)
        their_job = _job(target, arg, static, other) if other is not None else None
        with rendering.progress(f"pricing {target}", len(job.statics)) as advance:
            found = pricing.price(job, their_job, measure.Plan(calls=calls), advance)
    if as_json:
        _print_json(found)
    else:
        rendering.show_price(found, rendering.console())


def _show_stages(
    target: str, arg: list[str] | None, static: list[str] | None, options: tuple[str | None, int | None], as_json: bool
) -> None:
    """Where the time of a first and of a steady call goes; static arguments have their first value."""
    from celadon.ledger import charts, first_call, measure, rendering, sides, steady_call

    against, calls = options
    if against is not None:
        raise errors.StagesOfAnother(library=against)
    plan = measure.Plan(calls=calls)
    with redirect_stdout(sys.stderr):
        job = _job(target, arg, static, sides.Celadon)
        with rendering.progress(f"measuring {target}", 2) as advance:
            first = first_call.first_call(job, plan)
            advance(1)
            steady = steady_call.steady_call(job, plan, advance)
    found = charts.Profile(getattr(job.side.function, "__name__", type(job.side.function).__name__), first, steady)
    if as_json:
        _print_json(found)
    else:
        rendering.show_profile(found, rendering.console())


def _job(target: str, arg: list[str] | None, static: list[str] | None, side: Any) -> Any:
    """The target loaded for a side's library, with the arguments read from the command line."""
    from celadon.ledger import pricing, specs, targets

    loaded = targets.load(target, side.name)
    traced = [specs.argument(text) for text in arg or ()]
    statics = [specs.static(text, loaded.module) for text in static or ()]
    given, values = specs.merged(traced, statics)
    known = targets.arguments(loaded, side.name)
    return pricing.Job(side(loaded.function), {k: v for k, v in known.items() if k not in values} | given, values)


@app.command()
def lower(target: Target, arg: Arg = None, static: Static = None, stage: Stage = "stablehlo", as_json: AsJSON = False) -> None:
    """What a stage of the compiler makes of a function for these arguments; a static argument has its first value."""
    from celadon.ledger import lowering, rendering, sides

    with redirect_stdout(sys.stderr):
        job = _job(target, arg, static, sides.Celadon)
        text = lowering.data(job, stage) + "\n" if as_json else lowering.text(job, stage)
    if as_json:
        print(text, end="")
    else:
        rendering.show_stage(text, stage)


@app.command()
def explain(code: Code, as_json: AsJSON = False) -> None:
    """One page of the error catalogue: message, cause, cure, and a snippet that raises it."""
    from celadon.ledger import pages, rendering

    page = pages.page(code)
    if as_json:
        _print_json(page)
    else:
        rendering.show_page(page, rendering.console())


@app.command(name="errors")
def list_errors(as_json: AsJSON = False, markdown: Markdown = False) -> None:
    """All errors of the catalogue."""
    from celadon.ledger import pages, rendering

    found = pages.every()
    if as_json:
        _print_json(found)
    elif markdown:
        print(pages.markdown(found), end="")
    else:
        rendering.show_pages(found, rendering.console())


def _print_json(data: Any) -> None:
    plain = [dataclasses.asdict(x) for x in data] if isinstance(data, tuple) else dataclasses.asdict(data)
    print(json.dumps(plain, indent=2))


def one_line(error: errors.CeladonError) -> str:
    """A catalogued error as one line: its message, the cure, the code.

    >>> one_line(errors.CodeUnknown(code="CEL999"))
    "the catalogue has no error 'CEL999'. List all codes: celadon errors. [CEL630]"
    """
    message = " ".join(error.message.format(**error.facts).split())
    return f"{message}. {error.cure} [{error.code}]"


def interrupted(number: int, frame: FrameType | None) -> None:
    """What an interrupt does: raises KeyboardInterrupt, but a moment later in a finalizer, where Python would lose it."""
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    if frame is None:
        raise KeyboardInterrupt
    threading.Timer(0.001, signal.raise_signal, [number]).start()


def main() -> None:
    """Run the command line; an error of the catalogue is one line on stderr and exit code 2."""
    before = signal.getsignal(signal.SIGINT)
    own = before is signal.default_int_handler and threading.current_thread() is threading.main_thread()
    if own:
        signal.signal(signal.SIGINT, interrupted)
    try:
        app()
    except errors.CeladonError as error:
        print(f"celadon: {one_line(error)}", file=sys.stderr)
        sys.exit(2)
    finally:
        if own:
            signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    main()
