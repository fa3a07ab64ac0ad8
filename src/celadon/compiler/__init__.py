"""The compiler's table of contents: lower, (text), simplify, lift; each stage named, timed and reported."""

from celadon.compiler.check import check, enable_checks
from celadon.compiler.lift import EVERYTHING, NOTHING, Numbers, Structure, lift
from celadon.compiler.lower import lower
from celadon.compiler.options import level, level_asked, optimization_level
from celadon.compiler.renumber import Places, Skeleton, places, renumbered, skeleton
from celadon.compiler.simplify import simplify

__all__ = [
    "EVERYTHING", "NOTHING", "Numbers", "Places", "Skeleton", "Structure", "check", "enable_checks", "level", "level_asked",
    "lift", "lower", "optimization_level", "places", "renumbered", "simplify", "skeleton",
]  # fmt: skip
