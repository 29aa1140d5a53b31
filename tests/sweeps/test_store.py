"""A store holds whole results or none, whatever happens to the processes that write it."""

import json
import os
import sqlite3
import subprocess
import sys
import textwrap
import time

import pytest

from assocmem.checks import UsageError
from assocmem.sweeps.store import FORMAT, Result, Store, StoreError

ORIGIN = {"commit": "abc", "code": "v1"}


def result(key, row=None, failure=None, code="v1"):
    row = {"x": 1.5} if row is None and failure is None else row
    return Result(key, code, {"a": 1}, row, failure, 0.25, ORIGIN)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "été [1].sqlite"


def test_results_come_back_whole(path):
    row = {"x": 0.1, "big": 10**15, "low": float("-inf"), "word": "é", "none": None}
    with Store(path, "f") as store:
        store.finish(result("k", row))
        store.finish(result("l", failure="Traceback\n  é\n"))
    with Store(path, "f", create=False) as store:
        first, second = store.results()
        assert first == result("k", row)
        assert second == result("l", failure="Traceback\n  é\n")
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_point_is_claimed_once_until_its_owner_lets_go(path):
    with Store(path, "f") as one, Store(path, "f") as two:
        assert one.claim(["k", "l"], "v1") == ({"k", "l"}, set())
        assert one.claim(["k"], "v1") == ({"k"}, set()), "our own claim is no obstacle"
        assert two.claim(["k", "m"], "v1") == ({"m"}, {"k"})
        assert two.claim(["k"], "v2") == ({"k"}, set()), "another version of the code is another point"
        assert two.being_computed() == 4
        one.release()
        assert two.claim(["k", "l"], "v1") == ({"k", "l"}, set())
        two.finish(result("k"))
        assert one.claim(["k", "l"], "v1") == (set(), {"l"}), "one has a result, the other is claimed"
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_the_claims_of_the_dead_are_free(path):
    code = f"""
        import os, signal
        from assocmem.sweeps.store import Store
        store = Store({str(path)!r}, "f")
        assert store.claim(["k"], "v1")[0]
        os.kill(os.getpid(), signal.SIGKILL)
    """
    dead = subprocess.run([sys.executable, "-c", textwrap.dedent(code)])
    assert dead.returncode == -9
    with Store(path, "f") as store:
        assert store.being_computed() == 0
        assert store.claim(["k"], "v1")[0]
        assert len(list(path.parent.glob("*.owner-*"))) == 1, "the lock of the dead is tidied away"


def test_failures_are_tried_again_only_on_request(path):
    with Store(path, "f") as store:
        store.finish(result("k", failure="x"))
        assert store.claim(["k"], "v1") == (set(), set())
        assert store.claim(["k"], "v1", again=True) == ({"k"}, set())
        assert [r.failure for r in store.results()] == ["x"], "kept until there is another result"
        store.finish(result("k"))
        assert store.claim(["k"], "v1", again=True) == (set(), set())


def test_a_child_does_not_hold_the_claims_of_its_parent(path):
    code = f"""
        import os, signal, time
        from assocmem.sweeps.store import Store
        store = Store({str(path)!r}, "f")
        store.claim(["k"], "v1")
        if os.fork():
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(5)
    """
    dead = subprocess.run([sys.executable, "-c", textwrap.dedent(code)])
    assert dead.returncode == -9
    with Store(path, "f") as store:
        assert store.claim(["k"], "v1") == ({"k"}, set())


def test_a_child_that_ends_does_not_give_up_the_claims_of_its_parent(path):
    code = f"""
        import gc, os, sys
        from assocmem.sweeps.store import Store
        store = Store({str(path)!r}, "f")
        store.claim(["k"], "v1")
        child = os.fork()
        if child == 0:
            del store
            gc.collect()
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print("ready", flush=True)
        sys.stdin.read()
    """
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], **pipes) as parent:
        assert parent.stdout.readline() == b"ready\n"
        with Store(path, "f") as store:
            assert store.being_computed() == 1
            assert store.claim(["k"], "v1") == (set(), {"k"})
        parent.communicate()
    assert parent.returncode == 0


def test_looking_for_an_owner_does_not_wait(path):
    with Store(path, "f") as one, Store(path, "f") as two:
        one.claim(["k"], "v1")
        started = time.monotonic()
        assert [two.being_computed() for _ in range(100)] == [1] * 100
        assert time.monotonic() - started < 5


def test_a_file_system_without_hard_links_will_do(path, monkeypatch):
    def refuse(source, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    with Store(path, "f") as store:
        store.finish(result("k"))
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_absorbing_adds_what_is_new_and_keeps_what_is_there(path):
    with Store(path, "f") as store:
        store.finish(result("k", {"x": 1}))
        store.finish(result("l", failure="x"))
        others = [result("k", {"x": 2}), result("l", {"x": 3}), result("m"), result("n", failure="y")]
        added, both = store.absorb(others)
        assert (added, [(a.row, b.row) for a, b in both]) == (3, [({"x": 1}, {"x": 2})])
        rows = {r.key: r.row for r in store.results()}
        assert rows == {"k": {"x": 1}, "l": {"x": 3}, "m": {"x": 1.5}, "n": None}
        assert store.absorb(others[3:]) == (0, [])
        twice = [result("o", failure="z"), result("o", {"x": 4}), result("o", {"x": 5})]
        added, both = store.absorb(twice)
        assert (added, [(a.row, b.row) for a, b in both]) == (2, [({"x": 4}, {"x": 5})])


def test_confirmed_versions_are_remembered(path):
    with Store(path, "f") as store:
        store.confirm("v0", "v1", {"rows": 3})
        assert store.confirmed("v1") == {"v0": {"rows": 3}}
        assert store.confirmed("v0") == {}


def contents(path):
    return {p.name: p.read_bytes() for p in path.parent.iterdir()}


def whole_store(path):
    with Store(path, "f") as store:
        store.absorb(result(f"key {i}") for i in range(300))
    return path.read_bytes()


def truncated(share):
    def spoil(path):
        data = whole_store(path)
        path.write_bytes(data[: int(share * len(data))])

    return spoil


def torn(path):
    """A page in the middle overwritten."""
    data = bytearray(whole_store(path))
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = b"\xff" * 4096
    path.write_bytes(data)


def foreign(path):
    connection = sqlite3.connect(path)
    connection.execute("create table results (key, code)")
    connection.commit()
    connection.close()


def newer(path):
    whole_store(path)
    connection = sqlite3.connect(path)
    connection.execute(f"pragma user_version = {FORMAT + 1}")
    connection.close()


SPOILT = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("not a store, " * 100),
    "foreign": foreign,
    "newer": newer,
    "torn": torn,
    **{f"truncated to {x}": truncated(x) for x in (0.001, 0.3, 0.5, 0.9, 0.999)},
}


@pytest.mark.parametrize("how", SPOILT)
def test_what_is_no_whole_store_is_refused_and_left_as_it_is(path, how):
    SPOILT[how](path)
    before = contents(path)
    for create in (True, False):
        with pytest.raises(UsageError, match=r"(not a store|truncated|damaged|of format)") as caught:
            Store(path, "f", create=create)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    assert contents(path) == before


@pytest.mark.parametrize("mode", ["exclusive", "immediate"])
def test_a_locked_store_is_in_use_and_not_damaged(path, mode, monkeypatch):
    """One that another process keeps for longer than anybody waits."""
    whole_store(path)
    monkeypatch.setattr("assocmem.sweeps.store.BUSY_SECONDS", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    try:
        other.execute(f"begin {mode}")
        locked = pytest.raises(StoreError, match="another process has kept it locked")
        with locked as caught, Store(path, "f") as store:
            store.finish(result("new"))
        assert str(path) in str(caught.value)
        assert "damaged" not in str(caught.value)
    finally:
        other.close()
    with Store(path, "f") as store:
        store.finish(result("new"))


@pytest.mark.parametrize("damage", ["row = '{'", "parameters = 'x'", "origin = 99"])
def test_what_cannot_be_read_in_a_store_is_damage(path, damage):
    whole_store(path)
    with sqlite3.connect(path) as other:
        other.execute(f"update results set {damage}")
    other.close()
    with Store(path, "f") as store, pytest.raises(UsageError, match="a damaged store"):
        list(store.results())


def test_every_truncation_is_noticed(path):
    data = whole_store(path)
    for size in range(0, len(data), 1009):
        path.write_bytes(data[:size])
        with pytest.raises(UsageError):
            Store(path, "f")
        assert path.stat().st_size == size


def test_a_store_of_another_point_function_is_refused(path):
    Store(path, "f").__exit__()
    before = contents(path)
    with pytest.raises(UsageError, match="a store of the point function f, not g"):
        Store(path, "g")
    assert contents(path) == before
    with pytest.raises(UsageError, match="cannot be read"):
        Store(path.with_name("none.sqlite"), "f", create=False)


def test_a_place_that_cannot_be_written_is_said(path):
    with pytest.raises(StoreError, match="cannot be made"):
        Store("/dev/null/x.sqlite", "f")


FILL = """
    import resource, sys
    from assocmem.sweeps.store import Result, Store, StoreError
    {limit}
    done = 0
    try:
        with Store({path!r}, "f") as store:
            for i in range(100_000):
                key = "%d" % i
                assert store.claim([key], "v1")[0]
                store.finish(Result(key, "v1", {{}}, {{"x": "y" * 300}}, None, 0.1, {{"code": "v1"}}))
                done += 1
    except StoreError as error:
        print(done, error)
"""
LIMIT = "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))"


def fill(path, limit):
    code = textwrap.dedent(FILL).format(path=str(path), limit=limit)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    stored, message = done.stdout.split(" ", 1)
    return int(stored), message


def test_a_full_disk_stops_with_a_message_and_keeps_all_before(path):
    """The operating system refuses to let the file grow, as a full disk does."""
    stored, message = fill(path, LIMIT)
    assert stored > 20
    assert "cannot be written" in message
    assert "what was there is kept" in message
    with Store(path, "f", create=False) as store:
        assert len(list(store.results())) == stored
        store.finish(result("more"))


def test_a_disk_that_is_really_full(tmp_path):
    """A file system of 120 kB of its own; where none can be mounted, the test before has to do."""
    folder = tmp_path / "disk"
    folder.mkdir()
    code = textwrap.dedent(FILL).format(path=str(folder / "s.sqlite"), limit="")
    script = f'mount -t tmpfs -o size=120k none {folder} && exec "$PYTHON" -c "$CODE"'
    isolated = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    try:
        able = subprocess.run([*isolated, f"mount -t tmpfs none {folder}"], capture_output=True)
    except FileNotFoundError:
        pytest.skip("no unshare command")
    if able.returncode:
        pytest.skip("no user namespaces here")
    # what is on the disk is gone with the namespace, so it is looked at from inside
    look = "\nwith Store({p!r}, 'f', create=False) as store: print(len(list(store.results())))\n"
    code += look.format(p=str(folder / "s.sqlite"))
    done = subprocess.run(
        [*isolated, script],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"CODE": code, "PYTHON": sys.executable},
    )
    assert not done.stderr, done.stderr
    stored, message, after = done.stdout.split(" ", 1)[0], *done.stdout.split(" ", 1)[1].strip().split("\n")
    assert "cannot be written" in message
    assert int(stored) == int(after) > 10


def test_a_write_that_was_cut_off_is_undone(path):
    """The journal of a writer that was killed in the middle of a transaction restores what was before."""
    data = whole_store(path)
    code = f"""
        import os, signal, sqlite3
        connection = sqlite3.connect({str(path)!r}, isolation_level=None)
        connection.execute("pragma cache_spill = 1")
        connection.execute("pragma cache_size = 1")
        connection.execute("begin immediate")
        connection.execute("update results set row = '{{\\"x\\": 9}}'")
        os.kill(os.getpid(), signal.SIGKILL)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)])
    assert path.with_name(path.name + "-journal").exists()
    assert path.read_bytes() != data
    with Store(path, "f") as store:
        rows = [r.row for r in store.results()]
    assert rows == [{"x": 1.5}] * 300


def test_two_writers_at_once_lose_nothing(path):
    code = f"""
        import sys
        from assocmem.sweeps.store import Result, Store
        with Store({str(path)!r}, "f") as store:
            for i in range(150):
                if store.claim([str(i)], "v1")[0]:
                    store.finish(Result(str(i), "v1", {{}}, {{"by": sys.argv[1]}}, None, 0.1, {{}}))
    """
    run = [sys.executable, "-c", textwrap.dedent(code)]
    writers = [subprocess.Popen([*run, name]) for name in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    with Store(path, "f", create=False) as store:
        assert len(list(store.results())) == 150
        assert len(json.dumps([r.row for r in store.results()])) > 0
