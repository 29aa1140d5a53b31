"""Where the results of a sweep land, one point at a time: an SQLite file that survives its writer.

Each result is one transaction with a rollback journal and full synchronisation, so whatever ends the process,
the file holds a result whole or not at all. Several processes may work on one store: a point is
claimed before it is computed, and a claim lasts as long as the operating system holds its owner's lock, which
it drops when the owner ends, however it ends.
"""

import contextlib
import glob
import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from filelock import FileLock, Timeout

from assocmem.checks import UsageError
from assocmem.files import temporary_folder, tidy

MARK = 0x61736D6D
"""The application's id in the header of the file: the letters ``asmm``."""

FORMAT = 1
"""The version of the tables, in the header of the file."""

HEADER = 100
"""Bytes of the header of an SQLite file (its file format, section 1.3)."""

BUSY_SECONDS = 60
"""How long a transaction waits for those of other processes, each of which takes milliseconds, or on a slow
disk seconds. Chosen by trial."""

TABLES = """
create table results (
  key text, code text, parameters text not null, row text, failure text, seconds real, origin integer,
  finished text not null, primary key (key, code)
) without rowid;
create table claims (key text, code text, owner text not null, primary key (key, code)) without rowid;
create table origins (id integer primary key, record text not null unique);
create table confirmed (old text, new text, evidence text not null, primary key (old, new)) without rowid;
create table about (point text not null);
"""


class StoreError(RuntimeError):
    """A store that could not be written; its text is one line for the user."""


@dataclass(frozen=True)
class Result:
    """What came of one point.

    Attributes
    ----------
    key, code : str
        Of the point, and of the version of the code that computed it.
    parameters : dict
        By name, as the point function takes them.
    row : dict or None
        The columns that the point function returned.
    failure : str or None
        The traceback, where it failed.
    seconds : float or None
        Time it took.
    origin : dict
        Version, commit, machine, device and day.
    """

    key: str
    code: str
    parameters: dict
    row: dict | None
    failure: str | None
    seconds: float | None
    origin: dict


class Store:
    """An open store; use it as a context manager.

    Parameters
    ----------
    path : path
    point : str
        Name of the point function.
    create : bool
        Make the file where it does not exist.

    Raises
    ------
    UsageError
        If the file is missing, truncated, of another program or of another point function. It is left as it
        is.
    StoreError
        From any method, if the file cannot be written.
    """

    def __init__(self, path: str | PathLike[str], point: str, *, create: bool = True):
        self.path = Path(path).absolute()
        if create and not self.path.exists():
            _make(self.path, point)
        _inspect(self.path)
        try:
            self.connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: cannot be opened ({error})") from None
        try:
            self._check(point)
        except sqlite3.Error as error:
            self.connection.close()
            raise StoreError(f"{self.path}: {_trouble(error)}") from None
        except BaseException:
            self.connection.close()
            raise
        self.owner, self._lock = None, None

    def _check(self, point):
        try:
            state = self.connection.execute("pragma quick_check(1)").fetchone()[0]
            named = self.connection.execute("select point from about").fetchone()[0]
        except (sqlite3.DatabaseError, TypeError) as error:
            if isinstance(error, sqlite3.OperationalError) and not _of_its_content(error):
                raise
            raise UsageError(f"{self.path}: a damaged store ({error}); left as it is") from None
        if state != "ok":
            raise UsageError(f"{self.path}: a damaged store ({' '.join(state.split())}); left as it is")
        if named != point:
            raise UsageError(f"{self.path}: a store of the point function {named}, not {point}")
        self.connection.execute("pragma synchronous = full")
        # Twice as fast as a new journal for each transaction.
        self.connection.execute("pragma journal_mode = truncate")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        with contextlib.suppress(StoreError):
            self.release()
        with contextlib.suppress(sqlite3.Error):  # somebody else is writing
            self.connection.execute("pragma journal_mode = delete")
        self.connection.close()

    # --- reading ----------------------------------------------------------------------------------

    def results(self) -> Iterator[Result]:
        """All results, failures and other versions of the code included."""
        try:
            origins = {i: json.loads(text) for i, text in self._ask("select id, record from origins")}
            fields = "key, code, parameters, row, failure, seconds, origin"
            for key, code, parameters, row, failure, seconds, origin in self._ask(
                f"select {fields} from results"
            ):
                values = None if row is None else json.loads(row)
                yield Result(key, code, json.loads(parameters), values, failure, seconds, origins[origin])
        except (ValueError, KeyError, TypeError) as error:
            some = f"a damaged store ({type(error).__name__}: {error}); left as it is"
            raise UsageError(f"{self.path}: {some}") from None

    def confirmed(self, code: str) -> dict[str, dict]:
        """Versions of the code that were seen to give the same rows as this one, with the evidence."""
        found = self._ask("select old, evidence from confirmed where new = ?", code)
        return {old: json.loads(evidence) for old, evidence in found}

    def being_computed(self) -> int:
        """Number of points that running processes have claimed."""
        claims = self._ask("select owner, count(*) from claims group by owner")
        return sum(count for owner, count in claims if _alive(self._lock_path(owner)))

    def _ask(self, statement, *values):
        try:
            return self.connection.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path}: {_trouble(error, 'read')}") from None

    # --- writing ----------------------------------------------------------------------------------

    def claim(self, keys: Iterable[str], code: str, *, again: bool = False) -> tuple[set[str], set[str]]:
        """Take points, unless they have a result or another running process has claimed them.

        Parameters
        ----------
        keys : iterable of str
            Of the points.
        code : str
            The version of the code that is going to compute them.
        again : bool
            Take points as well whose result is a failure.

        Returns
        -------
        mine, theirs : set of str
            Those that are ours now, and those that other processes have claimed; the rest have results.
        """
        self._own()
        mine, theirs, alive = set(), set(), {self.owner: False}
        look = "select 1 from results where key = ? and code = ?" + " and row is not null" * again
        with self._write() as write:
            for key in keys:
                if write(look, (key, code)).fetchone():
                    continue
                held = write("select owner from claims where key = ? and code = ?", (key, code)).fetchone()
                if held and held[0] not in alive:
                    alive[held[0]] = _alive(self._lock_path(held[0]))
                if held and alive[held[0]]:
                    theirs.add(key)
                    continue
                write("insert or replace into claims values (?, ?, ?)", (key, code, self.owner))
                mine.add(key)
        return mine, theirs

    def finish(self, result: Result) -> None:
        """Store a result and give up the claim on it."""
        with self._write() as write:
            _insert(write, result)
            write("delete from claims where key = ? and code = ?", (result.key, result.code))

    def absorb(self, results: Iterable[Result]) -> tuple[int, list[tuple[Result, Result]]]:
        """Add results from elsewhere, all in one transaction.

        Returns
        -------
        added : int
        known : list of (Result, Result)
            Ours and theirs, of points that both have; ours stays. A failure gives way to a row.
        """
        added, known = 0, []
        with self._write() as write:
            mine = {(r.key, r.code): r for r in self.results()}
            for result in results:
                ours = mine.get((result.key, result.code))
                if ours is None or (ours.row is None and result.row is not None):
                    _insert(write, result)
                    mine[result.key, result.code] = result
                    added += 1
                elif result.row is not None:
                    known.append((ours, result))
        return added, known

    def confirm(self, old: str, new: str, evidence: dict) -> None:
        """Record that rows of one version of the code hold for another as well.

        Parameters
        ----------
        old, new : str
            The version that made the rows, and the one for which they hold.
        evidence : dict
            What was compared, as numbers and words.
        """
        with self._write() as write:
            write("insert or replace into confirmed values (?, ?, ?)", (old, new, json.dumps(evidence)))

    def release(self) -> None:
        """Give up all claims of this process."""
        if self.owner is None:
            return
        try:
            with self._write() as write:
                write("delete from claims where owner = ?", (self.owner,))
        finally:
            self._lock.release()
            self._lock_path(self.owner).unlink(missing_ok=True)
            self.owner = self._lock = None

    def tidy(self) -> None:
        """Remove what processes that were killed have left beside the store, but for the states of points."""
        tidy(self.path.parent, f".{self.path.name}-")
        if self._locks():
            with self._write():
                self._tidy_locks()

    def _locks(self):
        return list(self.path.parent.glob(f"{glob.escape(self.path.name)}.owner-*"))

    def _tidy_locks(self):
        for path in self._locks():
            _alive(path)

    @contextlib.contextmanager
    def _write(self):
        """One transaction; nothing of it is kept unless all of it is."""
        try:
            self.connection.execute("begin immediate")
            yield self.connection.execute
            self.connection.execute("commit")
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("rollback")
            raise StoreError(f"{self.path}: {_trouble(error)}; what was there is kept") from None
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("rollback")
            raise

    def _own(self):
        """Become an owner: hold a lock that ends with the process."""
        if self.owner is not None:
            return
        owner = f"{os.getpid()}-{secrets.token_hex(4)}"
        with self._write():  # so that nobody tidies away a lock between its making and its taking
            self._tidy_locks()
            try:
                self._lock = _lock(self._lock_path(owner))
                self._lock.acquire()
            except OSError as error:
                raise StoreError(f"{self.path}: cannot be locked ({error.strerror})") from None
        self.owner = owner

    def _lock_path(self, owner):
        return self.path.with_name(f"{self.path.name}.owner-{owner}")


def _of_its_content(error):
    """Whether an error says something of what is in the file, and not of who uses it or of the disk below."""
    return error.sqlite_errorcode & 0xFF in (
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    )


def _trouble(error, done="written"):
    """What an error of SQLite means, in words."""
    if (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"another process has kept it locked for {BUSY_SECONDS:g} s; try again when that has ended"
    return f"cannot be {done} ({error})"


def _insert(write, result):
    record = json.dumps(result.origin, sort_keys=True)
    write("insert or ignore into origins (record) values (?)", (record,))
    (origin,) = write("select id from origins where record = ?", (record,)).fetchone()
    row = None if result.row is None else json.dumps(result.row)
    values = result.key, result.code, json.dumps(result.parameters), row, result.failure, result.seconds
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    write("insert or replace into results values (?, ?, ?, ?, ?, ?, ?, ?)", (*values, origin, finished))


def _lock(path):
    """A lock that the operating system drops when its process ends, and that a forked child does not share.

    It is refused, rather than imitated by the mere presence of a file, where the file system has no locks.
    """
    return FileLock(path, timeout=0, thread_local=False, fallback_to_soft=False)


def _alive(path):
    """Whether the owner of a lock is running; the lock of one that is not is tidied away.

    For a moment this holds the lock of a dead owner, so that another who looks at that moment takes it for a
    live one, and will find out when it looks again.
    """
    if not path.exists():
        return False
    try:
        with _lock(path):
            pass
        path.unlink(missing_ok=True)  # Windows does not let go of a file that is in use
    except (Timeout, PermissionError):  # also a lock of another user, of which nothing can be known
        return True
    return False


def _make(path, point):
    """Make an empty store in one step; where another process was faster, its store stays."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(f".{path.name}-", path.parent) as folder:
            draft = Path(folder, path.name)
            connection = sqlite3.connect(draft, isolation_level=None)
            try:
                header = f"pragma application_id = {MARK}; pragma user_version = {FORMAT};"
                connection.executescript(header + TABLES)
                connection.execute("insert into about values (?)", (point,))
            finally:
                connection.close()
            try:
                os.link(draft, path)
            except FileExistsError:
                pass
            except OSError:  # a file system without hard links
                draft.rename(path)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{path}: cannot be made ({getattr(error, 'strerror', None) or error})") from None


def _inspect(path):
    """Refuse what is no store of ours, by its header, before SQLite touches it."""
    try:
        with open(path, "rb") as file:
            header = file.read(HEADER)
        size = path.stat().st_size
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None

    def number(at, length):
        return int.from_bytes(header[at : at + length], "big")

    if len(header) < HEADER or header[:16] != b"SQLite format 3\0" or number(68, 4) != MARK:
        raise UsageError(f"{path}: not a store of sweep results; left as it is")
    if number(60, 4) != FORMAT:
        raise UsageError(f"{path}: a store of format {number(60, 4)}, this program knows {FORMAT}")
    page = 65536 if number(16, 2) == 1 else number(16, 2)
    whole = size >= page * number(28, 4) and size % page == 0
    journal = path.with_name(path.name + "-journal")
    if not whole and not (journal.exists() and journal.stat().st_size):  # an unfinished write is undone
        raise UsageError(f"{path}: a truncated store; left as it is")
