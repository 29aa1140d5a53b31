"""Reads vectors, answers and names from files that people have.

Vectors are the rows of an array, as most programs save them, in ``.npy``, ``.npz`` or ``.safetensors``, or
the lines ``word x1 x2 ...`` of a text, as GloVe and word2vec write them. An array among several in one file
is named after a colon: ``FILE.npz:NAME``. Nothing is read that could run code, and nothing before its size is
known to fit. What is wrong is told in one line with the file and the row.
"""

import json
import math
import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn

import numpy as np

from assocmem.checks import UsageError, nearest, shown
from assocmem.machine import GIB, USABLE_SHARE, available_bytes
from assocmem.progress import progress

ENDINGS = ".npy, .npz, .safetensors, or text with a line 'word x1 x2 ...' for each vector"
"""What can be read, for messages."""

LONGEST_HEADER = 100_000_000
"""Bytes of the header of a .safetensors file that its reference implementation allows."""

TYPES = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"},
    **{"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1", "U8": "<u1"},
}
"""Types of .safetensors that are read, as NumPy calls what is stored: of BF16 the upper half of an F32."""

NAMED = re.compile(r"(?P<file>.+\.(?:npz|safetensors)):(?P<name>[^:]+)", re.IGNORECASE)
"""A file and an array in it."""

LONGEST_WHOLE = 2**53
"""Up to here double precision holds all whole numbers."""

FEW_NAMED = 8
"""Arrays of a file that a message lists."""


@dataclass(frozen=True)
class Vectors:
    """Vectors that were read.

    Attributes
    ----------
    rows : array, shape (count, d)
        Finite, in double precision, which holds every type that is read exactly.
    names : tuple of str, or None
        One for each vector, where the file has them.
    kind : str
        The type of number in the file, for instance ``"float32"``.
    """

    rows: np.ndarray
    names: tuple[str, ...] | None
    kind: str


def read_vectors(source: str, label: str, *, columns: bool = False) -> Vectors:
    """Read vectors from a file.

    Parameters
    ----------
    source : str
        Path of the file, perhaps with a colon and the name of an array in it.
    label : str
        What messages call it, for instance ``"keys"``.
    columns : bool
        Whether the vectors are the columns of the array; of a text they are its lines in any case.

    Returns
    -------
    Vectors

    Raises
    ------
    UsageError
        In one line, for what is no array of vectors, and for a vector with a nan or an infinite number.
    OSError
        For a file that cannot be read.
    """
    found = _read(source, label)
    if isinstance(found, Vectors):
        _require_finite(found.rows, source, label, columns=False)
        return found
    if found.ndim != 2 or found.dtype.kind not in "fiub":
        _refuse(
            label,
            source,
            f"holds an array of shape {found.shape} and type {found.dtype}; vectors are an array of numbers "
            "with two dimensions, a row for each vector",
        )
    kind = str(found.dtype)
    if found.dtype.kind in "iu" and found.size and max(int(found.max()), -int(found.min())) > LONGEST_WHOLE:
        _refuse(label, source, "holds whole numbers above 2^53, which are no coordinates of vectors")
    rows = found.astype(np.float64)
    if min(rows.shape) < 1:
        _refuse(label, source, f"holds an array of shape {rows.shape}: there is no vector in it")
    _require_finite(rows, source, label, columns)
    return Vectors(np.ascontiguousarray(rows.T if columns else rows), None, kind)


def read_answers(
    source: str,
    label: str,
    *,
    keys: int,
    targets: int,
    key_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Read which target is the answer to which key.

    Parameters
    ----------
    source : str
        Path of a text with one answer a line, or with a key and its answer, a tab or a blank between them; or
        of an array of whole numbers, of shape (facts,) or (facts, 2). Numbers are positions, counted from 0.
        If any line of a text has something else, all its lines are names.
    label : str
        What messages call it.
    keys, targets : int
        How many there are.
    key_names, target_names : sequence of str, optional
        Their names, where they have any.

    Returns
    -------
    chosen, answers : array of int, shape (facts,)
        Positions of the keys and of their answers.

    Raises
    ------
    UsageError
        In one line, for what is no such list, and for a number or a name that is none of a key or a target.
    OSError
        For a file that cannot be read.
    """
    if _is_array(source):
        found = _read(source, label)
        whole = isinstance(found, np.ndarray) and found.dtype.kind in "iu"
        if whole and found.ndim == 2 and found.shape[1] == 2:
            columns = [list(found[:, 0]), list(found[:, 1])]
        elif whole and found.ndim == 1:
            columns = [list(found)]
        else:
            what = "names" if isinstance(found, Vectors) else f"shape {found.shape} and type {found.dtype}"
            _refuse(label, source, f"has {what}; answers are whole numbers, an array of shape (n,) or (n, 2)")
    else:
        columns = _answer_columns(source, label, target_names)
    if not columns[0]:
        _refuse(label, source, "is empty: it has a line for each fact")
    if len(columns) == 1 and len(columns[0]) != keys:
        _refuse(
            label,
            source,
            f"has {len(columns[0])} answers for {keys} keys: one a key is wanted, in their order, or a key "
            "and its answer on each line",
        )
    answers = _positions(columns[-1], targets, target_names, source, label, "target")
    if len(columns) == 1:
        return np.arange(keys), answers
    return _positions(columns[0], keys, key_names, source, label, "key"), answers


def read_names(source: str, label: str, count: int) -> tuple[str, ...]:
    """Read a list of names.

    Parameters
    ----------
    source : str
        Path of a text with a name on each line, or of an array of words.
    label : str
        What messages call it.
    count : int
        How many names are wanted.

    Returns
    -------
    tuple of str

    Raises
    ------
    UsageError
        In one line, for what is no such list.
    OSError
        For a file that cannot be read.
    """
    if _is_array(source):
        found = _read(source, label)
        if isinstance(found, Vectors) or found.ndim != 1 or found.dtype.kind not in "US":
            _refuse(label, source, "holds no list of words")
        names = [x.decode("utf-8", "replace") if isinstance(x, bytes) else str(x) for x in found]
    else:
        names = _lines(_existing(source, label), label)
    if len(names) != count:
        _refuse(label, source, f"has {len(names)} names for {count} vectors")
    return tuple(names)


# --- files --------------------------------------------------------------------------------------------------


def _refuse(label: str, source: str, what: str) -> NoReturn:
    """Say what is wrong with a file, in one line."""
    raise UsageError(f"{label} {' '.join(source.split())}: {what}")


def _split(source: str) -> tuple[str, str | None]:
    """The file of a source and the name of an array in it."""
    match = None if os.path.exists(source) else NAMED.fullmatch(source)
    return (match["file"], match["name"]) if match else (source, None)


def _existing(source: str, label: str) -> Path:
    """The path of a file, checked."""
    file = _split(source)[0]
    try:
        path = Path(file)
        if path.is_file():
            return path
        what = "is a folder" if path.is_dir() else "is no file" if path.exists() else "is not there"
    except (OSError, ValueError) as error:  # the latter for characters that no path has
        what = f"cannot be read ({getattr(error, 'strerror', None) or error})"
    _refuse(label, file or "''", f"{what}; a file is wanted: {ENDINGS}")


def _is_array(source: str) -> bool:
    """Whether a file holds arrays, as far as its name tells."""
    return Path(_split(source)[0]).suffix.lower() in (".npy", ".npz", ".safetensors")


def _read(source: str, label: str) -> np.ndarray | Vectors:
    """What is in a file, whatever its kind; the kind is seen from how it begins."""
    path = _existing(source, label)
    name = _split(source)[1]
    with path.open("rb") as file:
        begin, size = file.read(8), path.stat().st_size
        file.seek(0)
        if begin.startswith(b"\x93NUMPY"):
            return _array(file, size, source, label)
        if begin.startswith(b"PK"):
            return _from_archive(file, name, source, label)
        if begin[:1] == b"\x80" and path.suffix.lower() != ".safetensors":
            _refuse(
                label, source, f"is a pickle, which could run any code and is not read; save it as {ENDINGS}"
            )
        if path.suffix.lower() == ".safetensors":
            return _from_safetensors(file, size, name, source, label)
    if not begin:
        _refuse(label, source, "is empty")
    if path.suffix.lower() in (".npy", ".npz") or begin.startswith(
        (b"\x1f\x8b", b"\x89HDF", b"BZh", b"\xfd7z")
    ):
        _refuse(label, source, f"does not begin like any kind that is read: {ENDINGS}")
    return _from_text(path, source, label)


def _require_room(size: int, source: str, label: str) -> None:
    """Refuse an array, of so many bytes in double precision, that does not fit into memory."""
    room = USABLE_SHARE * available_bytes()
    if 2 * size > room:
        wanted = f"{min(2 * size, 2**900) / GIB:.3g} GiB of memory"
        _refuse(label, source, f"needs {wanted} and {room / GIB:.3g} GiB can be used")


def _require_finite(rows: np.ndarray, source: str, label: str, columns: bool) -> None:
    """Refuse vectors with a nan or an infinite number, and say where the first is."""
    place = np.argwhere(~np.isfinite(rows))
    if len(place):
        row, column = place[0]
        vector, coordinate = (column, row) if columns else (row, column)
        more = f", and {len(place) - 1} more" if len(place) > 1 else ""
        _refuse(
            label,
            source,
            f"vector {vector} has {rows[row, column]} as coordinate {coordinate}{more} (from 0)",
        )


# --- arrays of NumPy ----------------------------------------------------------------------------------------


def _array(file: BinaryIO, size: int, source: str, label: str) -> np.ndarray:
    """The array of a .npy file, or of one within an archive, of so many bytes."""
    try:
        version = np.lib.format.read_magic(file)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if read is None:
            _refuse(label, source, f"is of version {version[0]} of its format, which is for tables")
        shape, columns_first, kind = read(file)
    except UsageError:
        raise
    except Exception as error:  # whatever a broken header can lead to
        _refuse(label, source, f"has a header that makes no sense ({type(error).__name__})")
    if kind.hasobject:
        _refuse(
            label,
            source,
            "holds Python objects, that is a pickle, which could run any code and is not read; save numbers",
        )
    if kind.kind == "V":
        _refuse(
            label,
            source,
            f"holds entries of type {kind}, not numbers; save bfloat16 as .safetensors, or as float32",
        )
    if (kind.kind == "f" and kind.itemsize > 8) or kind.kind not in "fiubUS":
        _refuse(label, source, f"holds entries of type {kind}; save numbers as float64 or shorter")
    count = math.prod(shape)
    wanted, there = count * kind.itemsize, size - file.tell()
    if any(x < 0 for x in shape) or wanted > there:
        _refuse(
            label,
            source,
            f"is cut short or wrong: its header promises {wanted} bytes for shape {shape}, and "
            f"{max(there, 0)} are there",
        )
    _require_room(8 * count, source, label)
    data = file.read(wanted)
    if len(data) < wanted:
        _refuse(label, source, f"is cut short: {len(data)} of {wanted} bytes are there")
    found = np.frombuffer(data, dtype=kind).reshape(shape, order="F" if columns_first else "C")
    return found.astype(kind.newbyteorder("="), copy=False)


def _from_archive(file: BinaryIO, name: str | None, source: str, label: str) -> np.ndarray:
    """An array of a .npz file."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = {member.filename: member for member in archive.infolist()}
            arrays = {x.removesuffix(".npy"): member for x, member in members.items() if x.endswith(".npy")}
            if not arrays:
                torch = any(x.endswith("data.pkl") for x in members)
                what = "is a file of torch.save, a pickle," if torch else "is an archive without arrays,"
                _refuse(label, source, f"{what} which is not read; save it as {ENDINGS}")
            chosen = _choose(name, list(arrays), source, label)
            member = arrays[chosen]
            with archive.open(member) as opened:
                return _array(opened, member.file_size, source, label)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, zipfile.zlib.error) as error:
        _refuse(label, source, f"is a damaged archive ({type(error).__name__})")


def _choose(name: str | None, names: list[str], source: str, label: str) -> str:
    """The name of the array that is asked for, or of the only one."""
    if name is None and len(names) == 1:
        return names[0]
    listed = ", ".join(names[:FEW_NAMED]) + (", ..." if len(names) > FEW_NAMED else "")
    if name is None:
        _refuse(label, source, f"has {len(names)} arrays; say which, as in {source}:{names[0]} (of {listed})")
    if name not in names:
        near = nearest(name, names).partition("?")[0]
        _refuse(label, source, f"has no array {name!r}{near}? There are {listed}")
    return name


# --- safetensors --------------------------------------------------------------------------------------------


def _from_safetensors(file: BinaryIO, size: int, name: str | None, source: str, label: str) -> np.ndarray:
    """An array of a .safetensors file: eight bytes of length, a header in JSON, and numbers."""
    begin = file.read(8)
    length = int.from_bytes(begin, "little")
    if len(begin) < 8 or not 2 <= length <= min(LONGEST_HEADER, size - 8):
        _refuse(label, source, f"is no .safetensors file: a header of {length} bytes does not fit its {size}")
    try:
        header = json.loads(file.read(length).decode("utf-8"))
        if not isinstance(header, dict):
            raise ValueError
        header.pop("__metadata__", None)
    except (ValueError, RecursionError):
        _refuse(label, source, "is no .safetensors file: its header is no JSON object")
    if not header:
        _refuse(label, source, "has no arrays")
    entry = header[_choose(name, list(header), source, label)]
    try:
        kind, shape, (first, last) = entry["dtype"], entry["shape"], entry["data_offsets"]
        whole = all(type(x) is int and x >= 0 for x in [*shape, first, last])
    except (TypeError, KeyError, ValueError):
        whole = False
    if not whole:
        _refuse(label, source, f"has a header that makes no sense: {shown(entry)}")
    if not isinstance(kind, str) or kind not in TYPES:
        _refuse(label, source, f"holds numbers of type {shown(kind)}; known are {', '.join(TYPES)}")
    stored, there = np.dtype(TYPES[kind]), size - 8 - length
    wanted = math.prod(shape) * stored.itemsize
    if not first <= last <= there or last - first != wanted:
        _refuse(
            label,
            source,
            f"is cut short or wrong: shape {tuple(shape)} of {kind} takes {wanted} bytes, and its header "
            f"gives bytes {first} to {last} of {there}",
        )
    _require_room(8 * math.prod(shape), source, label)
    file.seek(8 + length + first)
    found = np.frombuffer(file.read(wanted), dtype=stored).reshape(shape)
    if kind == "BF16":
        found = (found.astype(np.uint32) << 16).view(np.float32)
    return found.astype(found.dtype.newbyteorder("="), copy=False)


# --- text ---------------------------------------------------------------------------------------------------


def _lines(path: Path, label: str) -> list[str]:
    """The lines of a text, without their ends and without empty ones at the end of the file."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse(label, str(path), f"is no text in UTF-8: byte {error.start} cannot be decoded")
    if "\0" in text:
        _refuse(label, str(path), f"is no text; what is read is {ENDINGS}")
    lines = text.split("\n")  # alone: words have all other ends of lines in them
    while lines and not lines[-1].strip():
        lines.pop()
    return [line.rstrip("\r") for line in lines]


def _fields(line: str) -> list[str]:
    """The fields of a line, between blanks and tabs; other spaces are parts of words."""
    return [field for field in re.split("[ \t]+", line.strip(" \t")) if field]


def _from_text(path: Path, source: str, label: str) -> Vectors:
    """Vectors of a text, with a word before each."""
    _require_room(path.stat().st_size, source, label)
    lines = _lines(path, label)
    if not lines:
        _refuse(label, source, "is empty")
    promised, before = _fields(lines[0]), 0
    if len(promised) == 2 and all(re.fullmatch(r"\d{1,18}", x) for x in promised) and len(lines) > 1:
        before = 1
    d = int(promised[1]) if before else len(promised) - 1
    if d < 1:
        _refuse(label, source, f"has no numbers on line {before + 1}; each vector is a line 'word x1 x2 ...'")
    if before and int(promised[0]) != len(lines) - 1:
        _refuse(label, source, f"promises {promised[0]} vectors on line 1 and has {len(lines) - 1}")
    if before and len(_fields(lines[1])) <= d:  # before memory is asked for so many
        _refuse(
            label, source, f"promises dimension {d} on line 1, and line 2 has {len(_fields(lines[1])) - 1}"
        )
    rows, names = np.empty((len(lines) - before, d)), []
    for i, line in enumerate(progress(lines[before:], "lines")):
        fields = _fields(line)
        if len(fields) <= d:
            _refuse(
                label,
                source,
                f"line {i + before + 1} has {len(fields)} fields; a word and {d} numbers are wanted",
            )
        try:
            rows[i] = [float(x) for x in fields[-d:]]
        except ValueError:
            _refuse(label, source, f"line {i + before + 1} has something else than {d} numbers at its end")
        names.append(" ".join(fields[:-d]))
    if all(map(_is_number, names)):
        _refuse(
            label,
            source,
            "begins each line with a number, which may be a name or a coordinate; put a word before each "
            "vector, or save the array as .npy",
        )
    return Vectors(rows, tuple(names), "text")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# --- answers ------------------------------------------------------------------------------------------------


def _answer_columns(source: str, label: str, target_names: Sequence[str] | None) -> list[list[str]]:
    """The columns of a list of answers: one, or keys and answers."""
    lines = [line.strip(" ") for line in _lines(_existing(source, label), label)]
    empty = next((i for i, line in enumerate(lines) if not line.strip()), None)
    if empty is not None:
        _refuse(label, source, f"line {empty + 1} is empty")
    if any("\t" in line for line in lines):
        rows = [[field.strip() for field in line.split("\t")] for line in lines]
    else:
        known = set(target_names or ())
        rows = [[line] if line in known else _fields(line) for line in lines]
        if any(len(row) == 1 for row in rows) and target_names is not None:
            rows = [[line] for line in lines]  # answers alone; their names may have blanks
    width = len(rows[0]) if rows else 1
    odd = next((i for i, row in enumerate(rows) if len(row) != width or not 1 <= width <= 2), None)
    if odd is not None:
        _refuse(
            label,
            source,
            f"line {odd + 1} is {shown(lines[odd])}; each line has an answer, or a key and its answer",
        )
    return [list(column) for column in zip(*rows, strict=True)] or [[]]


def _positions(
    found: list, count: int, names: Sequence[str] | None, source: str, label: str, what: str
) -> np.ndarray:
    """Positions of keys or targets that are given as numbers or by name."""
    numbers = all(not isinstance(x, str) or re.fullmatch(r"[+-]?\d{1,18}", x) for x in found)
    if numbers:
        values = [int(x) for x in found]
        wrong = next((i for i, x in enumerate(values) if not 0 <= x < count), None)
        if wrong is not None:
            _refuse(
                label,
                source,
                f"fact {wrong} has {what} {values[wrong]}; there are {count}, counted from 0 to {count - 1}",
            )
        return np.array(values, dtype=np.int64)
    if names is None:
        wrong = next(i for i, x in enumerate(found) if not re.fullmatch(r"[+-]?\d{1,18}", x))
        _refuse(
            label,
            source,
            f"fact {wrong} has {what} {shown(found[wrong])}, and the {what}s have no names; give positions "
            f"from 0, or a list of names ({what}_names)",
        )
    places: dict[str, int] = {}
    several = set()
    for i, name in enumerate(names):
        if name in places:
            several.add(name)
        places.setdefault(name, i)
    for i, name in enumerate(found):
        if name not in places:
            _refuse(label, source, f"fact {i} has {what} {shown(name)}, which is the name of none")
        if name in several:
            _refuse(label, source, f"fact {i} has {what} {shown(name)}, which is the name of several")
    return np.array([places[name] for name in found], dtype=np.int64)
