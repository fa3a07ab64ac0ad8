"""The error catalogue: every error that Celadon raises, by name; `entries` maps codes to classes."""

from celadon.errors.arrays import *  # noqa: F403
from celadon.errors.catalogue import CeladonError, describe, entries, user_frame, user_line, warn
from celadon.errors.commands import *  # noqa: F403
from celadon.errors.control import *  # noqa: F403
from celadon.errors.effects import *  # noqa: F403
from celadon.errors.execution import *  # noqa: F403
from celadon.errors.functions import *  # noqa: F403
from celadon.errors.nn import *  # noqa: F403
from celadon.errors.random import *  # noqa: F403
from celadon.errors.statics import *  # noqa: F403
from celadon.errors.tracers import *  # noqa: F403
from celadon.errors.transforms import *  # noqa: F403
from celadon.errors.trees import *  # noqa: F403
from celadon.errors.windows import *  # noqa: F403

__all__ = ["CeladonError", "describe", "entries", "user_frame", "user_line", "warn"]
