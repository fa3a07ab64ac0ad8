"""Object code on disk: bytes under a key go in and come out again, or None if they can't be trusted; link is next."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from hashlib import sha256

from celadon import events
from celadon.background import Wait, begin
from celadon.cpu import llvm

_MAGIC = b"celadon object 1"
_HEADER_SIZE = len(_MAGIC) + 32
_SUFFIX = ".code"
_FULL = 512 << 20
_STALE_SECONDS = 3600
_AT_ONCE = 16
_SOURCES = os.path.dirname(os.path.abspath(__file__))
_OPENING = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))

_chosen: str | None = None
_pruned: set[str] = set()
_saving: deque[Wait] = deque()


def set_folder(path: str | os.PathLike[str] | None) -> None:
    """Keep object code in this folder from now on; None goes back to CELADON_CACHE_DIR or the user's cache folder.

    >>> set_folder(None)
    """
    global _chosen
    _chosen = None if path is None else os.fspath(path)


def folder() -> str:
    """The folder in use: the one set, else CELADON_CACHE_DIR, else the platform's cache folder of this user."""
    return _chosen or os.environ.get("CELADON_CACHE_DIR") or _user_folder()


def load(key: str) -> bytes | None:
    """The code saved under `key` by this version of Celadon for this processor, or None.

    An entry that is damaged, unreadable, of another user or writable by others counts as absent and is an event.
    """
    path = _path(key)
    try:
        content, trouble = _read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _note("load", path, error.strerror or type(error).__name__)
    return _note("load", path, trouble) if trouble else content


def has(key: str) -> bool:
    """Whether something is saved under `key`; loading it may still find it damaged.

    >>> has("nobody saved this")
    False
    """
    return os.path.exists(_path(key))


def save(key: str, code: bytes) -> None:
    """Keep `code` under `key`, atomically and for this user only; where that fails, it is an event and nothing else."""
    _save(_path(key), code)


def save_soon(entries: Mapping[str, bytes]) -> None:
    """Save several entries while the caller goes on; the interpreter waits for it before it ends, and `settle` does."""
    paths = {_path(key): code for key, code in entries.items()}
    _saving.append(begin(_save_all, paths))
    if len(_saving) > _AT_ONCE:
        _saving.popleft()()


def settle() -> None:
    """Wait until what is to be saved soon is.

    >>> settle()
    """
    while _saving:
        _saving.popleft()()


def _save_all(entries: Mapping[str, bytes]) -> None:
    for path, code in entries.items():
        _save(path, code)


def _save(path: str, code: bytes) -> None:
    try:
        where = os.path.dirname(path)
        os.makedirs(where, 0o700, exist_ok=True)
        trouble = _distrust(os.stat(where))
        if not trouble:
            _write(path, _MAGIC + sha256(code).digest() + code)
            _prune(where)
    except OSError as error:
        trouble = error.strerror or type(error).__name__
    if trouble:
        _note("save", path, trouble)


def reject(key: str, reason: str) -> None:
    """Say that the entry under `key` turned out to be unusable; whoever saves the key again replaces it."""
    _note("load", _path(key), reason)


def _path(key: str) -> str:
    return os.path.join(folder(), sha256(f"{_identity()}\n{key}".encode()).hexdigest() + _SUFFIX)


@functools.cache
def _identity() -> str:
    """Processor, LLVM and our own version, the last by the compiler's source files, so that editing them counts too."""
    sources = [entry for entry in os.scandir(_SOURCES) if entry.name.endswith(".py")]
    facts = sorted((entry.name, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in sources)
    return f"{llvm.host()}\n{facts}"


@functools.cache
def _user_folder() -> str:
    if sys.platform == "linux":  # where platformdirs finds it, too, but for a hundredth of the time
        cache = os.environ.get("XDG_CACHE_HOME", "").strip() or os.path.expanduser("~/.cache")
        return os.path.join(cache, "celadon", "code")
    import platformdirs

    return os.path.join(platformdirs.user_cache_dir("celadon", appauthor=False), "code")


def _note(action: str, path: str, reason: str) -> None:
    events.record("store", action=action, path=path, reason=reason)


def _distrust(status: os.stat_result) -> str:
    """Why code from a file or folder with this status may not be run; empty if it may."""
    if not hasattr(os, "geteuid"):
        return ""
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    return "other users can write to it" if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else ""


def _read(path: str) -> tuple[bytes, str]:
    """The code and an empty reason, or anything and the reason why it is no good."""
    trouble = _distrust(os.stat(os.path.dirname(path)))
    if trouble:
        return b"", f"the folder: {trouble}"
    with os.fdopen(os.open(path, os.O_RDONLY | _OPENING), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return b"", "it is no file"
        trouble = _distrust(status)
        content = b"" if trouble else file.read()
    return content[_HEADER_SIZE:], trouble or _damage(content)


def _damage(content: bytes) -> str:
    if not content.startswith(_MAGIC):
        return "it is no object code of Celadon"
    whole = content[len(_MAGIC) : _HEADER_SIZE] == sha256(content[_HEADER_SIZE:]).digest()
    return "" if whole else "its checksum is wrong"


def _write(path: str, content: bytes) -> None:
    draft = f"{path.removesuffix(_SUFFIX)}.{os.getpid()}.{os.urandom(4).hex()}.draft"
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPENING, 0o600), "wb") as file:
            file.write(content)
        os.replace(draft, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def _prune(where: str) -> None:
    """Once a process: drop drafts that a crash left, and the oldest half of a full folder."""
    if where in _pruned:
        return
    _pruned.add(where)
    found = sorted(_entries(where))
    for written, _, path in found:
        if path.endswith(".draft") and written < time.time() - _STALE_SECONDS:
            _remove(path)
    excess = sum(size for _, size, _ in found) - _FULL // 2
    for _, size, path in found if excess > _FULL // 2 else ():
        if excess > 0 and path.endswith(_SUFFIX):
            _remove(path)
            excess -= size


def _entries(where: str) -> Iterator[tuple[float, int, str]]:
    """When written, how large, where; another process may rename or remove some meanwhile."""
    for entry in os.scandir(where):
        with contextlib.suppress(FileNotFoundError):
            status = entry.stat()
            yield status.st_mtime, status.st_size, entry.path


def _remove(path: str) -> None:
    """Another process may have removed it already."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
