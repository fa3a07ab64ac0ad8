"""Object code on disk: what comes back, what is refused with an event, and that nothing raises."""

import os
import stat
import subprocess
import sys
import threading
import time

import platformdirs
import pytest

from celadon import events
from celadon.cpu import store

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of this kind exist on POSIX only")
root = pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only root can make foreign files")


@pytest.fixture
def folder(tmp_path):
    chosen = tmp_path / "objects"
    store.set_folder(chosen)
    yield chosen
    store.set_folder(None)


@pytest.fixture
def entry(folder):
    store.save("key", b"code")
    (path,) = folder.iterdir()
    return path


def refusal(action="load"):
    """What is recorded while the entry is loaded (and comes back as nothing) or saved."""
    with events.watching() as seen:
        assert (store.load("key") if action == "load" else store.save("key", b"code")) is None
    (event,) = seen
    assert (event.kind, event.facts["action"]) == ("store", action)
    return event.facts["reason"]


@pytest.mark.parametrize("code", [b"", b"code", bytes(range(256)) * 4096], ids=["empty", "small", "large"])
def test_what_is_saved_comes_back(folder, code):
    with events.watching() as seen:
        store.save("key", code)
        assert store.load("key") == code
    assert seen == []


def test_absent_is_no_event(folder):
    with events.watching() as seen:
        assert store.load("key") is None
        store.save("other", b"code")
        assert store.load("key") is None
    assert seen == []


def test_saving_again_replaces(folder, entry):
    store.save("key", b"newer")
    assert store.load("key") == b"newer"
    assert list(folder.iterdir()) == [entry]


@posix
def test_only_this_user_may_look(folder, entry):
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: content[:20] + bytes([content[20] ^ 1]) + content[21:],
        lambda content: b"",
        lambda content: b"something else altogether, longer than any header could be" * 2,
        lambda content: content[:10],
    ],
    ids=["cut", "longer", "bit of code", "bit of checksum", "empty", "foreign format", "header only"],
)
def test_damage_is_a_miss_and_an_event(entry, damage):
    entry.write_bytes(damage(entry.read_bytes()))
    assert refusal() in ("its checksum is wrong", "it is no object code of Celadon")
    store.save("key", b"code")
    assert store.load("key") == b"code"


@posix
@pytest.mark.parametrize("mode", [0o602, 0o620, 0o666])
def test_an_entry_others_can_write_is_refused(entry, mode):
    entry.chmod(mode)
    assert refusal() == "other users can write to it"
    store.save("key", b"code")
    assert store.load("key") == b"code"


@posix
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770])
def test_a_folder_others_can_write_is_refused(folder, entry, mode):
    folder.chmod(mode)
    assert "other users can write to it" in refusal()
    assert refusal("save") == "other users can write to it"


@root
def test_a_foreign_entry_is_refused(entry):
    os.chown(entry, 12345, 12345)
    assert refusal() == "it belongs to another user"


@root
def test_a_foreign_folder_is_refused(folder, entry):
    os.chown(folder, 12345, 12345)
    assert "it belongs to another user" in refusal()
    assert refusal("save") == "it belongs to another user"


@posix
def test_a_link_is_not_followed(entry, tmp_path):
    target = tmp_path / "elsewhere"
    entry.rename(target)
    entry.symlink_to(target)
    assert refusal()


def test_a_folder_in_place_of_an_entry(entry):
    entry.unlink()
    entry.mkdir()
    assert refusal()


@posix
def test_a_pipe_in_place_of_an_entry_does_not_hang(entry):
    entry.unlink()
    os.mkfifo(entry, 0o600)
    assert refusal()


def test_a_file_in_place_of_the_folder(tmp_path, folder):
    folder.write_text("in the way")
    assert refusal("save")
    assert refusal()


@posix
def test_a_full_disk_leaves_nothing_behind(folder):
    script = (
        "import os, resource, sys\n"
        "from celadon import events\n"
        "from celadon.cpu import store\n"
        f"store.set_folder({str(folder)!r})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "with events.watching() as seen:\n"
        "    store.save('key', b'x' * 100000)\n"
        "print(len(seen), store.load('key'), os.listdir(store.folder()))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "None", "[]"]


@posix
@root
def test_an_unwritable_folder_is_an_event(folder, entry):
    script = (
        "import os\n"
        "from celadon import events\n"
        "from celadon.cpu import store\n"
        "os.setuid(12345)\n"
        "store.set_folder('/proc/1/celadon')\n"
        "with events.watching() as seen:\n"
        "    store.save('key', b'code')\n"
        "    assert store.load('key') is None\n"
        "print(*(event.facts['action'] for event in seen))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout.split()[:1], done.returncode) == (["save"], 0), done.stderr


def test_folder_by_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("CELADON_CACHE_DIR", str(tmp_path / "named"))
    assert store.folder() == str(tmp_path / "named")
    store.set_folder(tmp_path / "chosen")
    assert store.folder() == str(tmp_path / "chosen")
    store.set_folder(None)
    monkeypatch.delenv("CELADON_CACHE_DIR")
    assert "celadon" in store.folder()


@pytest.mark.parametrize("cache", [None, "", "/somewhere/else"], ids=["unset", "empty", "set"])
def test_the_folder_of_a_user_is_where_platformdirs_finds_it(monkeypatch, cache):
    monkeypatch.delenv("CELADON_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False) if cache is None else monkeypatch.setenv("XDG_CACHE_HOME", cache)
    store._user_folder.cache_clear()
    assert store.folder() == os.path.join(platformdirs.user_cache_dir("celadon", appauthor=False), "code")
    store._user_folder.cache_clear()


def test_another_processor_or_version_does_not_match(entry, monkeypatch):
    monkeypatch.setattr(store, "_identity", lambda: "another")
    assert store.load("key") is None
    monkeypatch.undo()
    assert store.load("key") == b"code"


def test_drafts_of_a_crash_are_removed(folder, entry, monkeypatch):
    old, new = folder / "old.draft", folder / "new.draft"
    old.write_bytes(b"")
    new.write_bytes(b"")
    os.utime(old, (time.time() - 10_000,) * 2)
    monkeypatch.setattr(store, "_pruned", set())
    store.save("key", b"code")
    assert sorted(path.name for path in folder.iterdir()) == sorted([entry.name, "new.draft"])


def test_a_full_folder_loses_its_oldest_half(folder, monkeypatch):
    for i in range(10):
        store.save(f"key {i}", bytes(1000))
        os.utime(store._path(f"key {i}"), (1000 + i,) * 2)
    monkeypatch.setattr(store, "_FULL", 8000)
    monkeypatch.setattr(store, "_pruned", set())
    store.save("one more", b"code")
    left = [i for i in range(10) if store.load(f"key {i}") is not None]
    assert left == list(range(10 - len(left), 10))
    assert 2 <= len(left) <= 4


def test_reject_is_an_event(folder, entry):
    with events.watching() as seen:
        store.reject("key", "it does not define k")
    assert [event.facts["reason"] for event in seen] == ["it does not define k"]


def test_writers_and_readers_at_once_see_whole_entries(folder):
    codes = [bytes([i]) * 50_000 for i in range(4)]
    seen = set()

    def write(code):
        for _ in range(40):
            store.save("key", code)

    def read():
        for _ in range(200):
            code = store.load("key")
            seen.add(code if code is None else (code[0], len(set(code)), len(code)))

    with events.watching() as troubles:
        workers = [threading.Thread(target=write, args=(code,)) for code in codes] + [threading.Thread(target=read)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert troubles == []
    assert seen - {None} <= {(i, 1, 50_000) for i in range(4)}
    assert store.load("key") in codes
