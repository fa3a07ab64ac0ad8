"""The stages of a jitted function, one object each: Traced, Lowered, Compiled; and Entry, what a cache keeps."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from celadon import cache, compiler, errors, events, explain, inside, signature as signatures, tree, voids
from celadon.array import Array, concrete
from celadon.facade import Lazy
from celadon.program import Literal, Module, Operand, Program, Var
from celadon.signature import Signature
from celadon.tracing import Tracer, Value
from celadon.tree_paths import keystr
from celadon.types import ArrayType, ShapeDtypeStruct
from celadon.vocabulary.bodies import without_dead_code

if TYPE_CHECKING:
    from celadon.compiler import price, stablehlo
else:
    price, stablehlo = Lazy("celadon.compiler.price"), Lazy("celadon.compiler.stablehlo")


class Options(NamedTuple):
    """What jit was asked for, besides the function."""

    static_argnums: Any = None
    static_argnames: Any = None
    donate_argnums: Any = None
    donate_argnames: Any = None
    keep_unused: bool = False
    inline: bool = False
    compiler_options: Any = None

    def key(self) -> object:
        return repr(self)


class ArgInfo:
    """One leaf of the arguments: its type, and whether it is donated."""

    __slots__ = ("donated", "dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any, donated: bool = False):
        self.shape, self.dtype, self.donated = shape, dtype, donated

    def __repr__(self) -> str:
        return f"ArgInfo(shape={self.shape}, dtype={self.dtype!r}, donated={self.donated})"

    def _parts(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.donated

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArgInfo) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return ShapeDtypeStruct(self.shape, self.dtype).size


@dataclass(eq=False, repr=False)
class Traced:
    """A function traced for one signature: its program, and the trees of its arguments and results."""

    fun_name: str
    program: Program
    signature: Signature
    in_tree: Any
    out_tree: Any
    donated: tuple[int, ...]
    options: Options
    results: tuple[str, ...]
    seconds: float = 0.0

    @property
    def jaxpr(self) -> Program:
        """The traced program (under the name that JAX gives its own)."""
        return self.program

    @property
    def in_avals(self) -> tuple[ArrayType, ...]:
        return self.signature.types

    @property
    def out_avals(self) -> tuple[ArrayType, ...]:
        return tuple(x.type for x in self.program.outputs)

    @property
    def out_info(self) -> Any:
        """A tree of ShapeDtypeStruct in the form of the results."""
        found = [ShapeDtypeStruct(t.shape, t.dtype, weak_type=t.weak_type) for t in self.out_avals]
        whole = self.out_tree.unflatten(found)
        return tree.map(lambda x: ShapeDtypeStruct(x.shape, x.dtype) if voids.is_void(x) else x, whole)

    @property
    def args_info(self) -> Any:
        """A tree of ArgInfo in the form of (args, kwargs)."""
        types = enumerate(self.signature.types)
        return self.in_tree.unflatten([ArgInfo(t.shape, t.dtype, i in self.donated) for i, t in types])

    @cached_property
    def closed(self) -> Program:
        """The program with its captured arrays as further inputs: what a call to it holds."""
        inputs = [*self.program.inputs, *(var for var, _ in self.program.captures)]
        return replace(self.program, inputs=inputs, captures=())

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The indices of leaves that the program needs (all of them with keep_unused)."""
        everything = tuple(range(len(self.program.inputs)))
        if self.options.keep_unused:
            return everything
        live = {x for e in without_dead_code(self.program).equations for x in e.inputs} | set(self.program.outputs)
        return tuple(i for i in everything if self.program.inputs[i] in live)

    @cached_property
    def needed(self) -> Program:
        """The program with only the inputs that it needs."""
        if len(self.kept) == len(self.program.inputs):
            return self.program
        return replace(self.program, inputs=[self.program.inputs[i] for i in self.kept])

    def warn_unusable(self, program: Program) -> dict[int, int]:
        """Which donated inputs of a program become which results; a warning names those that fit none."""
        donated = [i for i in self.donated if i in self.kept]
        aliases = _aliases(program, [self.kept.index(i) for i in donated])
        unusable = [i for i in donated if self.kept.index(i) not in aliases]
        if unusable:
            names = ", ".join(f"{self.signature.names[i]} of type {self.signature.types[i]}" for i in unusable)
            explain.warn(errors.DonationUnusableWarning(function=self.fun_name, arguments=names))
        return aliases

    def lower(self) -> Lowered:
        """The lowered program, whose text is StableHLO."""
        start = time.perf_counter()
        lowered = compiler.lower(self.needed, stablehlo.MACROS)
        aliases = self.warn_unusable(lowered)
        module = Module(replace(lowered, name=f"jit_{self.fun_name}"), self.results, aliases)
        events.record("lower", time.perf_counter() - start, name=self.fun_name)
        return Lowered(self, module)


def _aliases(program: Program, donated: Sequence[int]) -> dict[int, int]:
    free = dict(enumerate(program.outputs))
    aliases: dict[int, int] = {}
    for i in donated:
        fits = (j for j, x in free.items() if _fits(x, program.inputs[i]))
        j = next(fits, None)
        if j is not None:
            aliases[i] = j
            del free[j]
    return aliases


def _fits(output: Operand, donated: Var) -> bool:
    return output.type.shape == donated.type.shape and output.type.dtype == donated.type.dtype


class Lowered:
    """A lowered program, before it is compiled."""

    def __init__(self, traced: Traced, module: Module):
        self.traced, self.module = traced, module

    @property
    def in_tree(self) -> Any:
        return self.traced.in_tree

    @property
    def out_tree(self) -> Any:
        return self.traced.out_tree

    @property
    def args_info(self) -> Any:
        return self.traced.args_info

    @property
    def out_info(self) -> Any:
        return self.traced.out_info

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The program as StableHLO text; with debug_info, each op bears its name with the named scopes, and the user's line.

        Raises `DialectUnknown` for a dialect other than "stablehlo".
        """
        if dialect not in (None, "stablehlo"):
            raise errors.DialectUnknown(dialect=dialect)
        return stablehlo.print_module(self.module, located=debug_info)

    def cost_analysis(self) -> dict[str, float]:
        """Floating-point operations ("flops") and bytes moved ("bytes accessed"), estimated from the types."""
        return price.estimate(self.module.program)

    def compile(self, compiler_options: Mapping[str, Any] | None = None) -> Compiled:
        """Compile for the executor that the settings choose.

        Args:
            compiler_options: {"xla_backend_optimization_level": 0} for code that is made in less time and may run slower;
                they go before jit's own.

        Raises: `CompilerOptionInvalid`.

        >>> import celadon
        >>> lowered = celadon.jit(lambda x: x * 2.0).lower(celadon.numpy.ones(3))
        >>> lowered.compile({"xla_backend_optimization_level": 0})(celadon.numpy.ones(3)).tolist()
        [2.0, 2.0, 2.0]
        """
        entry = Entry(self.traced.fun_name, self.traced.signature, self.traced, self.traced.donated)
        entry.compile(compiler_options)
        return Compiled(self, entry)


class MemoryAnalysis(NamedTuple):
    """Bytes that a compiled program needs, by purpose."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    temp_size_in_bytes: int
    alias_size_in_bytes: int
    generated_code_size_in_bytes: int


class Compiled:
    """A program compiled for one signature; calling it never traces. Static arguments are left out of the call."""

    def __init__(self, lowered: Lowered, entry: Entry):
        self.lowered, self.entry = lowered, entry

    @property
    def in_tree(self) -> Any:
        return self.lowered.in_tree

    @property
    def out_tree(self) -> Any:
        return self.lowered.out_tree

    @property
    def args_info(self) -> Any:
        return self.lowered.args_info

    @property
    def out_info(self) -> Any:
        return self.lowered.out_info

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree.flatten((args, kwargs))
        signature = self.entry.signature
        if in_tree != signature.tree:
            raise self._mismatch(self._tree_difference(kwargs))
        for leaf, type, name in zip(leaves, signature.types, signature.names, strict=True):
            if isinstance(leaf, Tracer):
                raise leaf.asked(errors.CompiledTransformed, compiled=self.entry.name, name=name)
            given = concrete(leaf).type
            if given.shape != type.shape or given.dtype != type.dtype:
                raise self._mismatch(f"{name} is {given}, compiled for {type}")
        return self.entry.run(leaves)

    def _tree_difference(self, kwargs: dict[str, Any]) -> str:
        statics = [name for name, _ in self.entry.signature.statics if name in kwargs]
        if statics:
            return f"the static argument {', '.join(statics)} is baked in and can't be passed again"
        return f"the tree of arguments differs from {self.entry.signature.tree} (static arguments are baked in)"

    def _mismatch(self, difference: str) -> errors.CeladonError:
        return errors.CompiledSignatureMismatch(function=self.entry.name, difference=difference)

    def as_text(self, stage: str = "simplified") -> str:
        """What a stage of the compiler made of the program.

        Args:
            stage: "simplified", the program that the executor compiled, one equation a line, in braces the numbers that are
                handed to the machine code at each call; "kernels", how it runs; "llvm" and "asm", the code of the kernels;
                "stablehlo", the text of the lowered program.

        Raises:
            StageUnknown: for another stage.
            StageAbsent: if the program has no kernels of Celadon, because another executor runs it.

        >>> import celadon
        >>> compiled = celadon.jit(lambda x: x * 2.0 + 1.0).lower(celadon.numpy.ones(3)).compile()
        >>> print(compiled.as_text("kernels").splitlines()[0])
        <lambda>: 1 kernel, 1 step; ...
        """
        if stage == "stablehlo":
            return self.lowered.as_text()
        return inside.text(self.lowered.traced.needed, stage)

    def cost_analysis(self) -> dict[str, float]:
        return self.lowered.cost_analysis()

    def memory_analysis(self) -> MemoryAnalysis:
        """Bytes of arguments, results, temporaries and code."""
        made = self.lowered.module
        return MemoryAnalysis(
            sum(v.type.nbytes for v in made.program.inputs),
            sum(x.type.nbytes for x in made.program.outputs),
            getattr(self.entry.bound, "temporary_bytes", 0),
            sum(made.program.inputs[i].type.nbytes for i in made.aliases),
            self.entry.executable.nbytes,
        )


class Costs:
    """Seconds that an entry cost, by stage, its equations, and whether machine code was made (not found in a cache)."""

    __slots__ = ("compile", "compiled", "equations", "lower", "trace")

    def __init__(self) -> None:
        self.trace = self.lower = self.compile = 0.0
        self.equations, self.compiled = 0, False


class Entry:
    """What is kept of one signature: the trace, the machine code bound to its numbers, and what they cost."""

    def __init__(self, name: str, signature: Signature, traced: Traced, donated: tuple[int, ...]):
        self.name, self.signature, self.traced, self.donated = name, signature, traced, donated
        self.bound: Callable[[Sequence[Array]], list[Array]] | None = None
        self.costs = Costs()
        self.executable: Any = None

    def compile(self, compiler_options: Mapping[str, Any] | None = None) -> None:
        """Lower, simplify, lift, and compile what no cache has; time goes to `costs` and the event log."""
        asked = [compiler.level_asked(x, self.name) for x in (compiler_options, self.traced.options.compiler_options)]
        level = next((x for x in asked if x is not None), None)
        with contextlib.nullcontext() if level is None else compiler.optimization_level(level):
            binding = cache.bind(self.traced.needed)
        self.bound, self.executable = binding.bound, binding.executable
        self.costs.lower, self.costs.compile = binding.lower_seconds, binding.compile_seconds or 0.0
        self.costs.compiled = binding.compile_seconds is not None
        self.costs.equations = len(self.traced.program.equations)
        self.all_kept = len(self.traced.kept) == len(self.signature.types)
        self.bare = self.traced.out_tree == tree.LEAF_TREEDEF
        self.snapshots = _snapshots(self.signature)
        self.watched = any(snapshot is not None for snapshot in self.snapshots)
        events.record("bind", self.costs.lower, name=self.name, compiled=self.costs.compiled)

    def run(self, leaves: Sequence[Any]) -> Any:
        """Run on the leaves of a call, converted to arrays."""
        if not self.all_kept:
            leaves = [leaves[i] for i in self.traced.kept] if not self.donated else leaves
        if self.donated:
            return self._run_donating(leaves)
        assert self.bound is not None
        results = self.bound([x if type(x) is Array else concrete(x) for x in leaves])
        return results[0] if self.bare else self.traced.out_tree.unflatten(results)

    def _run_donating(self, leaves: Sequence[Any]) -> Any:
        arrays = [concrete(x) for x in leaves]
        self._check_donated(arrays)
        assert self.bound is not None
        results = self.bound([arrays[i] for i in self.traced.kept])
        for i in self.donated:
            if isinstance(leaves[i], Array):
                arrays[i].donate(self.name, self.signature.names[i])
        return results[0] if self.bare else self.traced.out_tree.unflatten(results)

    def _check_donated(self, arrays: Sequence[Array]) -> None:
        names = self.signature.names
        for i in self.donated:
            for j, other in enumerate(arrays):
                if i != j and other is arrays[i]:
                    raise errors.DonatedTwice(argument=names[i], other=names[j], function=self.name)

    def check_mutation(self, values: Sequence[tuple[str, Any]]) -> None:
        """Warn if a static object compared by identity was changed since it was traced."""
        for (name, value), before in zip(values, self.snapshots, strict=True):
            if before is None:
                continue
            now = signatures.fields_of(value)
            if not signatures.same_fields(before, now):
                explain.warn_mutated(self.name, name, value, before)


def _snapshots(signature: Signature) -> tuple[dict[str, Any] | None, ...]:
    return tuple(signatures.fields_of(v) if signatures.by_identity(v) else None for _, v in signature.statics)


def result_names(result: Any) -> tuple[str, ...]:
    """The path of each leaf of a result, as the text shows it."""
    if isinstance(result, Value):
        return ("",)
    return tuple(keystr(path) for path, _ in tree.flatten_with_path(result)[0])


__all__ = ["ArgInfo", "Compiled", "Entry", "Literal", "Lowered", "Options", "Traced", "result_names"]
