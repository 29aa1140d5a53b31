"""Vectors, answers and names are read from files as people have them, and refused in one line."""

import io
import json
import pickle
import struct
import zipfile

import numpy as np
import pytest

from assocmem.capacity import vectors
from assocmem.capacity.vectors import read_answers, read_names, read_vectors
from assocmem.checks import UsageError

ROWS = np.arange(12.0).reshape(4, 3) - 5


def safetensors(path, arrays, *, header=None, data=None):
    """A file as the format's description says, or with another header or other numbers."""
    names, body, entries = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8"}, b"", {}
    for name, (kind, array) in arrays.items():
        if kind == "BF16":
            part = (array.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
        else:
            part = array.astype(names[kind]).tobytes()
        offsets = [len(body), len(body) + len(part)]
        entries[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": offsets}
        body += part
    text = json.dumps({"__metadata__": {"made": "here"}} | entries if header is None else header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + (body if data is None else data))
    return str(path)


def saved(path, array):
    np.save(path, array)
    return str(path)


def written(path, text):
    path.write_text(text, encoding="utf-8", newline="")
    return str(path)


def refusal(read, *arguments, **settings):
    with pytest.raises(UsageError) as caught:
        read(*arguments, **settings)
    text = str(caught.value)
    assert "\n" not in text and text.startswith(arguments[1])
    return text


# --- what is read -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", ">f8", ">f4", "int32", "uint8", "bool"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_npy_file_of_any_kind_of_number_and_order_of_memory(tmp_path, kind, order):
    array = np.abs(ROWS).astype(kind, order=order)
    found = read_vectors(saved(tmp_path / "k.npy", array), "keys")
    assert found.rows.dtype == np.float64 and found.names is None
    assert (found.rows == np.abs(ROWS).astype(kind)).all()
    found = read_vectors(saved(tmp_path / "k.npy", array), "keys", columns=True)
    assert (found.rows == np.abs(ROWS).astype(kind).T).all() and found.rows.flags.c_contiguous


def test_a_npz_file_with_one_array_or_a_named_one(tmp_path):
    np.savez(tmp_path / "one.npz", k=ROWS)
    np.savez_compressed(tmp_path / "two.npz", first=ROWS, second=2 * ROWS)
    assert (read_vectors(f"{tmp_path}/one.npz", "keys").rows == ROWS).all()
    assert (read_vectors(f"{tmp_path}/two.npz:second", "keys").rows == 2 * ROWS).all()
    assert "say which" in refusal(read_vectors, f"{tmp_path}/two.npz", "keys")
    text = refusal(read_vectors, f"{tmp_path}/two.npz:frist", "keys")
    assert "did you mean 'first'? There are first, second" in text


@pytest.mark.parametrize(
    ("kind", "exact"), [("F64", np.float64), ("F32", np.float32), ("F16", np.float16), ("BF16", np.float32)]
)
def test_a_safetensors_file(tmp_path, kind, exact):
    path = safetensors(tmp_path / "m.safetensors", {"a": ("F64", ROWS.T), "b": (kind, ROWS)})
    found = read_vectors(f"{path}:b", "targets")
    assert (found.rows == ROWS.astype(exact)).all()  # small whole numbers are exact in all types
    assert "say which" in refusal(read_vectors, path, "targets")


@pytest.mark.parametrize("header", ["", "4 3\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_text_of_words_and_numbers(tmp_path, header, end):
    words = ["the", "été", "2000", "\x85\xa0"]  # GloVe has such words
    lines = [f"{w} {' '.join(map(str, row))}" for w, row in zip(words, ROWS, strict=True)]
    text = (header + "\n".join(lines) + "\n").replace("\n", end)
    found = read_vectors(written(tmp_path / "v.txt", text), "keys")
    assert (found.rows == ROWS).all() and found.names == tuple(words)


def test_words_with_blanks_and_tabs_between_numbers(tmp_path):
    text = "new york 1 2 3\nparis\t4\t5\t6\n\n\n"
    text = "2 3\n" + text
    found = read_vectors(written(tmp_path / "v.vec", text), "keys")
    assert found.names == ("new york", "paris") and found.rows.tolist() == [[1, 2, 3], [4, 5, 6]]


# --- what is refused ----------------------------------------------------------------------------------------


def test_what_could_run_code_is_not_read(tmp_path):
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "o.npz", k=np.array([{}], dtype=object))
    (tmp_path / "p.txt").write_bytes(pickle.dumps(ROWS))
    with zipfile.ZipFile(tmp_path / "t.pt", "w") as archive:
        archive.writestr("archive/data.pkl", b"")
    for name in ("o.npy", "o.npz", "p.txt", "t.pt"):
        assert "pickle" in refusal(read_vectors, f"{tmp_path}/{name}", "keys")


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (ROWS[0], "two dimensions"),
        (ROWS.reshape(2, 2, 3), "two dimensions"),
        (ROWS.astype(complex), "complex128"),
        (np.array([["a"]]), "array of numbers"),
        (np.zeros((0, 3)), "no vector"),
        (np.zeros((3, 0)), "no vector"),
        (ROWS.astype(np.longdouble), "float64 or shorter"),
        (np.zeros(3, dtype="V2"), "bfloat16"),
        (np.array([[2**60, 1]]), "above 2^53"),
    ],
)
def test_arrays_that_are_no_vectors(tmp_path, array, said):
    assert said in refusal(read_vectors, saved(tmp_path / "k.npy", array), "keys")


def test_the_place_of_a_nan_is_told(tmp_path):
    array = ROWS.copy()
    array[2, 1], array[3, 0] = np.nan, -np.inf
    path = saved(tmp_path / "k.npy", array)
    assert "vector 2 has nan as coordinate 1, and 1 more" in refusal(read_vectors, path, "keys")
    text = refusal(read_vectors, path, "keys", columns=True)
    assert "vector 1 has nan as coordinate 2" in text
    path = written(tmp_path / "k.txt", "a 1 2\nb 3 nan\n")
    assert "vector 1 has nan as coordinate 1" in refusal(read_vectors, path, "keys")


def test_files_that_are_cut_short_anywhere(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    np.savez(tmp_path / "b.npz", k=ROWS)
    safetensors(tmp_path / "c.safetensors", {"k": ("F32", ROWS)})
    for name in ("a.npy", "b.npz", "c.safetensors"):
        whole = (tmp_path / name).read_bytes()
        for length in range(0, len(whole), 7):
            (tmp_path / name).write_bytes(whole[:length])
            refusal(read_vectors, f"{tmp_path}/{name}", "keys")


def test_headers_that_lie_about_sizes(tmp_path):
    whole = io.BytesIO()
    np.save(whole, ROWS)
    lie = whole.getvalue().replace(b"(4, 3)", b"(400000000000, 3)")
    (tmp_path / "a.npy").write_bytes(lie)
    refusal(read_vectors, f"{tmp_path}/a.npy", "keys")
    entry = {"dtype": "F64", "shape": [4, 3], "data_offsets": [0, 96]}
    lies = [
        entry | {"shape": [10**15, 10**15]},
        entry | {"shape": [4, -3]},
        entry | {"shape": "43"},
        entry | {"data_offsets": [0, 97]},
        entry | {"data_offsets": [96, 0]},
        entry | {"data_offsets": [0]},
        entry | {"dtype": "F8_E4M3"},
        entry | {"dtype": ["F64"]},
        [],
    ]
    for lie in lies:
        path = safetensors(tmp_path / "b.safetensors", {}, header={"k": lie}, data=ROWS.tobytes())
        refusal(read_vectors, path, "keys")
    for header in ([], 3, {}, {"__metadata__": {}}):
        path = safetensors(tmp_path / "b.safetensors", {}, header=header)
        refusal(read_vectors, path, "keys")
    (tmp_path / "b.safetensors").write_bytes(struct.pack("<Q", 2**63) + b"{}")
    assert "header of" in refusal(read_vectors, path, "keys")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("word\n", "no numbers on line 1"),
        ("a 1 2\nb 1\n", "line 2 has 2 fields"),
        ("a 1 2\nb 1 x\n", "line 2 has something else than 2 numbers"),
        ("a 1 2\n\nb 1 2\n", "line 2 has 0 fields"),
        ("3 2\na 1 2\nb 1 2\n", "promises 3 vectors on line 1 and has 2"),
        ("2 900000000\na 1 2\nb 1 2\n", "promises dimension 900000000"),
        ("1 2 3\n4 5 6\n", "a word before each vector"),
        ("a\0 1 2\n", "no text"),
    ],
)
def test_texts_that_are_no_vectors(tmp_path, text, said):
    assert said in refusal(read_vectors, written(tmp_path / "v.txt", text), "keys")


def test_files_that_are_none(tmp_path):
    (tmp_path / "latin.txt").write_bytes("é 1 2\n".encode("latin-1"))
    assert "UTF-8: byte 0" in refusal(read_vectors, f"{tmp_path}/latin.txt", "keys")
    (tmp_path / "v.gz").write_bytes(b"\x1f\x8b\x08\x00")
    assert "does not begin like" in refusal(read_vectors, f"{tmp_path}/v.gz", "keys")
    assert "is a folder" in refusal(read_vectors, str(tmp_path), "keys")
    assert "is not there" in refusal(read_vectors, f"{tmp_path}/no.npy", "keys")
    for name in ("", "a\0b", "x" * 5000):
        refusal(read_vectors, name, "keys")


def test_an_array_that_does_not_fit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "available_bytes", lambda: 100)
    path = saved(tmp_path / "k.npy", ROWS)
    assert "GiB" in refusal(read_vectors, path, "keys")


# --- answers and names --------------------------------------------------------------------------------------

NAMES = ("animal", "new york", "plant")


@pytest.mark.parametrize(
    ("text", "chosen", "answers"),
    [
        ("0\n2\n2\n1\n", [0, 1, 2, 3], [0, 2, 2, 1]),
        ("animal\nnew york\nplant\nplant\n", [0, 1, 2, 3], [0, 1, 2, 2]),
        ("d animal\na plant\n", [3, 0], [0, 2]),
        ("d\tnew york\na\tplant\n", [3, 0], [1, 2]),
        ("3 1\n3 0\n", [3, 3], [1, 0]),
    ],
)
def test_answers_in_a_text(tmp_path, text, chosen, answers):
    path = written(tmp_path / "a.txt", text)
    names = {"key_names": ("a", "b", "c", "d"), "target_names": NAMES}
    if text.startswith("3"):
        names = {}
    found = read_answers(path, "answers", keys=4, targets=3, **names)
    assert [x.tolist() for x in found] == [chosen, answers]


def test_answers_in_an_array(tmp_path):
    path = saved(tmp_path / "a.npy", np.array([2, 0, 1, 1], dtype=np.int16))
    found = read_answers(path, "answers", keys=4, targets=3)
    assert [x.tolist() for x in found] == [[0, 1, 2, 3], [2, 0, 1, 1]]
    path = saved(tmp_path / "a.npy", np.array([[3, 0], [0, 2]]))
    assert [x.tolist() for x in read_answers(path, "answers", keys=4, targets=3)] == [[3, 0], [0, 2]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("0\n1\n", "2 answers for 4 keys"),
        ("0\n1\n2\n3\n", "fact 3 has target 3; there are 3, counted from 0 to 2"),
        ("0\n-1\n2\n1\n", "fact 1 has target -1"),
        ("animal\nplant\nanimla\nplant\n", "'animla', which is the name of none"),
        ("0\n\n1\n2\n", "line 2 is empty"),
        ("a\tb\tc\n", "line 1 is"),
        ("a\tanimal\nb\n", "line 2 is"),
    ],
)
def test_answers_that_are_none(tmp_path, text, said):
    names = {"key_names": ("a", "b", "c", "d"), "target_names": NAMES}
    path = written(tmp_path / "a.txt", text)
    assert said in refusal(read_answers, path, "answers", keys=4, targets=3, **names)


def test_names_that_mean_nothing_or_two_things(tmp_path):
    path = written(tmp_path / "a.txt", "plant\nanimal\n")
    text = refusal(read_answers, path, "answers", keys=2, targets=3)
    assert "the targets have no names" in text and "target_names" in text
    text = refusal(read_answers, path, "answers", keys=2, targets=2, target_names=("plant", "plant"))
    assert "name of several" in text
    path = saved(tmp_path / "a.npy", np.array([0.0, 1.0]))
    assert "whole numbers" in refusal(read_answers, path, "answers", keys=2, targets=3)


def test_lists_of_names(tmp_path):
    assert read_names(written(tmp_path / "n.txt", "a\nnew york\n"), "key_names", 2) == ("a", "new york")
    assert read_names(saved(tmp_path / "n.npy", np.array(["a", "é"])), "key_names", 2) == ("a", "é")
    assert "2 names for 3 vectors" in refusal(read_names, f"{tmp_path}/n.txt", "key_names", 3)
    assert "no list of words" in refusal(read_names, saved(tmp_path / "n.npy", ROWS), "key_names", 4)
