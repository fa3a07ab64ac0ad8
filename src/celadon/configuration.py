"""Settings under JAX's names: `celadon.config.update(name, value)`; each setting lives with what it governs."""

from __future__ import annotations

import sys
from typing import Any

from celadon import calling, errors, settings
from celadon.cpu import store
from celadon.settings import Setting

compilation_cache_dir = Setting("jax_compilation_cache_dir", None, changed=store.set_folder)
Setting("jax_persistent_cache_min_compile_time_secs", 0.0)
Setting("jax_persistent_cache_min_entry_size_bytes", 0)
Setting("jax_platforms", None)


class Config:
    """All settings by name, for reading as attributes and for `update`."""

    def update(self, name: str, value: Any) -> None:
        """Set a setting globally.

        Raises `SettingUnknown` for a name that is none.

        >>> config.update("jax_log_compiles", False)
        """
        self._setting(name).update(value)

    def read(self, name: str) -> Any:
        return self._setting(name).value

    def parse_flags_with_absl(self) -> None:
        """Take settings from the command line, where programs that use absl have them: --jax_enable_x64=true."""
        for argument in sys.argv[1:]:
            name, equals, value = argument.removeprefix("--").partition("=")
            if argument.startswith("--") and name in settings.registry:
                self.update(name, settings.parsed(value if equals else "true", settings.registry[name].default))

    def _setting(self, name: str) -> Setting:
        found = settings.registry.get(name)
        if found is None:
            raise errors.SettingUnknown(name=name, known=", ".join(sorted(settings.registry)))
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in settings.registry:
            raise AttributeError(name)
        return settings.registry[name].value


config = Config()

__all__ = ["Config", "calling", "compilation_cache_dir", "config"]  # calling: settings exist before the first jit
