"""Errors of the command line: targets, argument specs, comparisons, catalogue codes (codes 6xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError


class TargetMalformed(CeladonError, ValueError):
    code = "CEL601"
    title = "The target is not file.py:name or module:name"
    message = "the target '{target}' does not say which function is meant"
    cause = "A target is a Python file or an importable module, a colon, and the name of a function in it."
    cure = "Write it as file.py:name or package.module:name."
    when = "When the colon or one of its sides is missing from a target on the command line."
    trigger = "from celadon.ledger import targets; targets.load('scale_add')"
    cured = "from celadon.ledger import targets; targets.load('celadon.numpy:exp')"
    related = ("CEL602", "CEL604")


class TargetNotFound(CeladonError, ImportError):
    code = "CEL602"
    title = "The target's file or module is not there"
    message = "there is no {kind} '{place}' to take '{name}' from"
    cause = "The path is relative to the current folder; a module must be importable from it or from the environment."
    cure = "Correct the path, or run the command from the folder that it is relative to."
    when = "When the file or module before the colon of a target does not exist."
    trigger = "from celadon.ledger import targets; targets.load('no_such_file.py:f')"
    cured = "from celadon.ledger import targets; targets.load('celadon.numpy:exp')"
    related = ("CEL601", "CEL603")


class TargetImportFailed(CeladonError, ImportError):
    code = "CEL603"
    title = "The target's file can't be imported"
    message = "importing '{place}' raised {error}"
    cause = "The target is found by running its file, and the file itself raised an error."
    cure = "Make the file importable on its own: python -c 'import ...' shows the whole traceback."
    when = "When the file has a syntax error, imports something missing, or needs input to run."
    trigger = (
        "import pathlib, tempfile\nfrom celadon.ledger import targets\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    path = pathlib.Path(folder, 'broken.py')\n"
        "    path.write_text('def f(x): return x\\n1 / 0\\n')\n"
        "    targets.load(f'{path}:f')"
    )
    cured = (
        "import pathlib, tempfile\nfrom celadon.ledger import targets\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    path = pathlib.Path(folder, 'whole.py')\n"
        "    path.write_text('def f(x): return x\\n')\n"
        "    targets.load(f'{path}:f')"
    )
    related = ("CEL602",)


class TargetNameMissing(CeladonError, AttributeError):
    code = "CEL604"
    title = "The target has no such function"
    message = "'{place}' has no function '{name}'; it has: {known}"
    cause = "The name after the colon is misspelt, or defined only under `if __name__ == '__main__'`."
    cure = "Use one of the names listed."
    when = "When the file or module of a target does not define the name after the colon."
    trigger = "from celadon.ledger import targets; targets.load('celadon.numpy:exq')"
    cured = "from celadon.ledger import targets; targets.load('celadon.numpy:exp')"
    related = ("CEL601", "CEL605")


class TargetNotCallable(CeladonError, TypeError):
    code = "CEL605"
    title = "The target is no function"
    message = "'{name}' in '{place}' is a value of type {type}, not a function"
    cause = "Only callables can be traced."
    cure = "Name a function, a method of a module-level object, or another callable."
    when = "When the name after the colon of a target stands for a value."
    trigger = "from celadon.ledger import targets; targets.load('math:pi')"
    cured = "from celadon.ledger import targets; targets.load('math:sqrt')"
    related = ("CEL604",)


class TargetFailed(CeladonError, RuntimeError):
    code = "CEL606"
    title = "The target raised an error"
    message = "{function} raised {error}"
    cause = "The function does not run with the arguments that were given, traced or static."
    cure = "Call it with these arguments in Python first; correct the specs or the function."
    when = "When a target that is priced, lowered or compared raises an error with every argument in its place."
    trigger = (
        "from celadon.ledger import pricing, sides\n"
        "def f(x, n):\n    raise ValueError('no')\n"
        "pricing.price(pricing.Job(sides.Celadon(f), {'x': 1.0}, {'n': [1]}))"
    )
    cured = (
        "from celadon.ledger import measure, pricing, sides\n"
        "def f(x, n):\n    return x * n\n"
        "pricing.price(pricing.Job(sides.Celadon(f), {'x': 1.0}, {'n': [1]}), plan=measure.Plan(calls=5))"
    )
    related = ("CEL613", "CEL614")


class SpecMalformed(CeladonError, ValueError):
    code = "CEL610"
    title = "An argument spec can't be read"
    message = "the spec '{spec}' of argument '{argument}' can't be read: {reason}"
    cause = "A spec says of what dtype and shape an argument is, or what its value is."
    cure = (
        "Write dtype[shape] (f32[2048,2048]), a number, a .npy file, or a list, tuple or dict of these, in quotes so that "
        "the shell leaves it alone."
    )
    when = "When the text after `=` of --arg or --static is none of the known forms."
    trigger = "from celadon.ledger import specs; specs.argument('x=f32[2,two]')"
    cured = "from celadon.ledger import specs; specs.argument('x=f32[2,2]')"
    related = ("CEL611", "CEL612")


class SpecDTypeUnknown(CeladonError, ValueError):
    code = "CEL611"
    title = "A spec names an unknown dtype"
    message = "the spec '{spec}' of argument '{argument}' has the unknown dtype '{dtype}'; there are: {known}"
    cause = "Dtypes are written short (f32, bf16, i32, bool) or as NumPy names them (float32)."
    cure = "Use one of the names listed."
    when = "When the part before the bracket of dtype[shape] is no dtype."
    trigger = "from celadon.ledger import specs; specs.argument('x=f23[2,2]')"
    cured = "from celadon.ledger import specs; specs.argument('x=f32[2,2]')"
    related = ("CEL610",)


class SpecFileUnreadable(CeladonError, OSError):
    code = "CEL612"
    title = "The .npy file of a spec can't be read"
    message = "the file '{path}' of argument '{argument}' can't be read: {reason}"
    cause = "The file does not exist, may not be read, or is not in NumPy's .npy format."
    cure = "Correct the path, or write the array again with numpy.save."
    when = "When --arg names a .npy file."
    trigger = "from celadon.ledger import specs; specs.argument('x=no_such_file.npy')"
    cured = (
        "import pathlib, tempfile\nfrom celadon.ledger import specs\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    path = pathlib.Path(folder, 'x.npy')\n"
        "    np.save(path, np.ones(3))\n"
        "    specs.argument(f'x={path}')"
    )
    related = ("CEL610",)


class ArgumentUnknown(CeladonError, ValueError):
    code = "CEL613"
    title = "The function has no such argument"
    message = "{function} has no argument '{argument}'; it has: {known}"
    cause = "--arg and --static name a parameter that is not in the function's signature."
    cure = "Use one of the names listed."
    when = "When an argument on the command line is misspelt."
    trigger = "from celadon.ledger import specs; specs.bind(lambda x, n: x, {'x': 1.0, 'm': 2})"
    cured = "from celadon.ledger import specs; specs.bind(lambda x, n: x, {'x': 1.0, 'n': 2})"
    related = ("CEL614",)


class ArgumentMissing(CeladonError, TypeError):
    code = "CEL614"
    title = "An argument of the function was not given"
    message = "{function} needs a value for: {missing}"
    cause = "Every parameter without a default needs --arg (traced) or --static."
    cure = "Give the missing arguments: --arg 'x=f32[1024]' or --static 'n=1,2,3'."
    when = "When a required parameter is absent from the command line."
    trigger = "from celadon.ledger import specs; specs.bind(lambda x, n: x, {'x': 1.0})"
    cured = "from celadon.ledger import specs; specs.bind(lambda x, n=1: x, {'x': 1.0})"
    related = ("CEL613",)


class ArgumentGivenTwice(CeladonError, ValueError):
    code = "CEL615"
    title = "An argument was given twice"
    message = "the argument '{argument}' was given more than once"
    cause = "Each argument is either traced (--arg) or static (--static), and has one list of values."
    cure = "Give it once; several static values are separated by commas: --static 's=2.0,3.0'."
    when = "When --arg and --static, or two of either, name the same argument."
    trigger = "from celadon.ledger import specs; specs.merged([('x', 1.0)], [('x', [2.0])])"
    cured = "from celadon.ledger import specs; specs.merged([('x', 1.0)], [('s', [2.0])])"


class ComparisonUnknown(CeladonError, ValueError):
    code = "CEL620"
    title = "There is no comparison with this library"
    message = "celadon price does not compare with '{library}'; it compares with: {known}"
    cause = "--against runs the same function on another library that has JAX's interface."
    cure = "Use one of the names listed."
    when = "When --against names another library."
    trigger = "from celadon.ledger import against; against.library('numba')"
    cured = "from celadon.ledger import against; against.library('jax')"


class StagesOfAnother(CeladonError, ValueError):
    code = "CEL621"
    title = "Stages are shown of Celadon only"
    message = "celadon price --stages can't look into '{library}'"
    cause = "What is shown are Celadon's own stages and kernels; another library has none of them."
    cure = "Leave out --stages to compare, or --against to look inside."
    when = "When celadon price is given --stages and --against together."
    trigger = (
        "from celadon import __main__ as command\n"
        "command.price('math:sqrt', against='jax', stages=True)"
    )
    cured = (
        "import contextlib, io\nfrom celadon import __main__ as command\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    command.price('celadon.numpy:exp', ['x=f32[8]'], calls=3, stages=True)"
    )
    related = ("CEL620",)


class CodeUnknown(CeladonError, LookupError):
    code = "CEL630"
    title = "There is no such code in the catalogue"
    message = "the catalogue has no error '{code}'"
    cause = "Codes are CEL and three digits; class names are accepted too."
    cure = "List all codes: celadon errors."
    when = "When celadon explain is called with a misspelt code."
    trigger = "from celadon.ledger import pages; pages.page('CEL999')"
    cured = "from celadon.ledger import pages; pages.page('CEL101')"
