"""Sweep files that are broken in every way are refused in one line, before anything is written."""

import random
from itertools import pairwise

import pytest
import yaml

from assocmem.__main__ import main

SEED = 25

SIX = "title: T\npoint: top1_verdict\nfixed: {n: 20}\npoints:\n  - {d: [6, 7], seed: {count: 3}}\n"
VALID = [
    SIX,
    "point: top1_verdict\npoints: {n: 20, d: [6, 7], seed: {first: 3, count: 2}}\n",
    "title: 'A range'\npoint: tail_memory\npoints: {d: 10, r: {from: 0.1, to: 0.4, step: 0.1}, load: 0.3}\n",
    "point: tail_memory\nfixed: {d: 9, load: 1}\npoints: {r: {from: 0.01, to: 0.9, count: 3, scale: log}}\n",
    "point: top1_verdict\npoints:\n- &base {n: 20, d: 6, seed: 0}\n- {<<: *base, seed: [1, 2]}\n",
]
"""What is broken."""

NOT_VALUES = [
    *("010", "0x10", "1_000", "1:30", "1:30:15", "0b11", "0o17", "２０", "+-3", "--3", "1e", "1,5", "1 000"),
    *(
        "yes",
        "no",
        "on",
        "off",
        "true",
        "~",
        "''",
        "' '",
        ".nan",
        ".inf",
        "-.inf",
        "1e400",
        "-1",
        "1.5",
        "9" * 400,
    ),
    *(
        "9" * 5000,
        "2024-01-01",
        "12:30:45",
        "!!binary aGk=",
        "!!set {a}",
        "!!omap [a: 1]",
        "!!python/name:os.system",
    ),
    *(
        "!!int 0x10",
        "!!int x",
        "!!float x",
        "!!bool yes",
        "!!timestamp 2024-01-01",
        "!unknown 3",
        "=",
        "<<",
        "*nowhere",
    ),
    *(
        "[]",
        "{}",
        "[[]]",
        "[{}]",
        "[1, [2]]",
        "{1: 2}",
        "{? [1] : 2}",
        "[null]",
        "&a [*a]",
        "&a {b: *a}",
        "&a {<<: *a}",
    ),
    *(
        "{from: 1}",
        "{from: 1, to: x}",
        "{from: 9, to: 1}",
        "{from: 1, to: 2, step: 0}",
        "{from: 1, to: 2, step: -1}",
    ),
    *(
        "{count: 0}",
        "{count: -1}",
        "{count: 1.5}",
        "{count: 1e9}",
        "{count: 010}",
        "{first: 1}",
        "{count: 2, first: x}",
    ),
    *("{from: 1, to: 1e300}", "{from: -1e308, to: 1e308, step: 1e-308}", "{from: 1, to: 9, count: 0x3}"),
    *(
        "{from: 1, to: 9, count: 3, scale: cubic}",
        "{from: 0, to: 9, count: 3, scale: log}",
        "{from: 1, to: 9, scale: log}",
    ),
    *(f"{{from: 1, to: {'9' * 400}}}", f"{{count: {'9' * 400}}}", f"{{from: 0, to: {'9' * 330}, count: 3}}"),
    *(
        f"{{from: 1, to: 2, count: {'9' * 5000}}}",
        "{from: 1, to: 2, count: [3]}",
        "{from: 1, to: 2, count: 3, scale: [log]}",
    ),
    *(
        '"\\ud800"',
        '"\\0"',
        '"\\e[31m"',
        '"a\\nb"',
        "'x" + "y" * 10**5 + "'",
        "[" * 50,
        "{a: " * 50,
        "[" * 3000,
        "'",
        '"',
    ),
]
"""What no parameter of these functions takes."""


def another_value(draw, text):
    """One of the values in it becomes one that is none."""
    spots = [i for i, line in enumerate(text.splitlines()) if "{" in line]
    lines = text.splitlines()
    at = draw.choice(spots)
    name = draw.choice(["d", "n"])
    if f"{name}: " not in lines[at]:
        name = "d"
    before, found, after = lines[at].partition(f"{name}: ")
    if not found:
        before, found, after = lines[at].partition("{")
        lines[at] = f"{before}{found}d: {draw.choice(NOT_VALUES)}, {after}"
    else:
        rest = after[len(first_value(after)) :]
        lines[at] = f"{before}{found}{draw.choice(NOT_VALUES)}{rest}"
    return "\n".join(lines) + "\n"


def first_value(text):
    """The value that a text begins with, up to the comma or bracket after it."""
    depth = 0
    for i, letter in enumerate(text):
        if depth == 0 and letter in ",}]":
            return text[:i]
        depth += (letter in "[{") - (letter in "]}")
    return text


def another_key(draw, text):
    """A key that does not belong there, or that is none."""
    key = draw.choice(
        [
            "pionts",
            "3",
            "null",
            "true",
            "1.5",
            "? [1]",
            "? {a: 1}",
            "''",
            "x" * 10**5,
            '"\\ud800"',
            '"a\\nb"',
            "é",
            "=",
            "<<",
        ]
    )
    return draw.choice([f"{key}: 1\n{text}", text.replace("{", f"{{{key}: 1, ", 1)])


def missing_key(draw, text):
    key = draw.choice(["point", "points"])
    return text.replace(f"{key}:", draw.choice(["", "# ", f"{key}s:", f"{key.upper()}:", f"{key}"]), 1)


def twice(draw, text):
    line = draw.choice([line for line in text.splitlines() if line[0] != " "])
    return text + line + "\n" if line[0] != "-" else text + "points: 1\n"


def another_function(draw, text):
    name = draw.choice(
        [
            "nothing",
            "''",
            "3",
            "[a]",
            "{a: 1}",
            "null",
            "os:system",
            "no.such:f",
            ":",
            "a:",
            ":b",
            "section:",
            "section:nowhere",
            "json:loads",
            "'a:b:c'",
            "'../x:f'",
            "x" * 10**4,
            '"\\0:f"',
            '"\\ud800:f"',
            "'a b:c'",
            "os:path",
            "sys:exit",
        ]
    )
    return text.replace(text.split("point: ")[1].splitlines()[0], name, 1)


def another_shape(draw, text):
    part = draw.choice(
        [
            "3",
            "[]",
            "[3]",
            "x",
            "[[]]",
            "[{}, 3]",
            "null",
            "{}",
            "{zip: 3}",
            "{zip: {n: [1], d: [1, 2]}}",
            "{zip: []}",
        ]
    )
    return text.split("points:")[0] + f"points: {part}\n"


def another_syntax(draw, text):
    at = draw.randrange(1, len(text) - 1)
    wrong = draw.choice(
        [
            "\t",
            "{",
            "[",
            "}",
            "]",
            "&",
            "*",
            "!",
            "%",
            "@",
            "`",
            '"',
            "'",
            ": :",
            "- -",
            "\n---\n",
            "\n...\n{",
            "|",
            ">",
        ]
    )
    return text[:at] + wrong + text[at:]


def cut(draw, text):
    return text[: draw.randrange(1, len(text) - 2)]


def another_letter(draw, text):
    at = draw.randrange(len(text))
    return text[:at] + draw.choice("\x00\x01\x07\x1b\x7f\x80\x85\u2028\ufeff\ufffe\uffff\u202eé") + text[at:]


def bombs(draw, text):
    """Aliases that stand for more than any memory holds."""
    names = [f"a{i}" for i in range(30)]
    kind = draw.choice(["[{}]", "{{x: [{}]}}"])
    lines = ["- &a0 [1, 2]"] + [
        f"- &{new} " + kind.format(", ".join([f"*{old}"] * 9)) for old, new in pairwise(names)
    ]
    bomb = "\n".join(lines)
    return f"title:\n{bomb}\npoint: top1_verdict\nfixed: {{n: 20}}\npoints: {{d: *a29}}\n"


def a_million(draw, text):
    """More points than a block may have."""
    more = draw.choice(
        ["{count: 1000001}", "{from: 1, to: 1e9}", "{count: 1000000}", "{from: 0, to: 1, step: 1e-12}"]
    )
    return f"point: top1_verdict\npoints: {{n: {more}, d: {more}, seed: {more}}}\n"


def encoded(draw, text):
    way = draw.choice(["utf-16", "utf-32", "utf-16-le", "latin-1", "cp1252"])
    return ("# é — x\n" if way[0] == "u" else "# é\n").encode(way) + text.encode(way)


def spoilt_bytes(draw, text):
    data = bytearray(text.encode())
    for _ in range(draw.randrange(1, 6)):
        data[draw.randrange(len(data))] = draw.choice([0, 1, 0x80, 0xC3, 0xED, 0xFF])
    return bytes(data)


def noise(draw, text):
    return draw.randbytes(draw.choice([1, 10, 1000, 10**5]))


MUTATIONS = [
    *(
        another_value,
        another_value,
        another_value,
        another_key,
        missing_key,
        twice,
        another_function,
        another_shape,
    ),
    *(another_syntax, cut, another_letter, bombs, a_million, encoded, spoilt_bytes, noise),
]


def fault_of(file, verb, capsys):
    """What is wrong with how a broken file is refused, in words; an empty string where nothing is."""
    there = sorted(path.name for path in file.parent.iterdir())
    try:
        code = main(["sweep", verb, str(file)])
    except BaseException as error:
        capsys.readouterr()
        return f"{type(error).__name__}: {str(error)[:100]}"
    errors = capsys.readouterr().err
    wrong = [f"exit code {code}"] if code != 2 else []
    if errors.count("\n") != 1 or len(errors.splitlines()) != 1 or len(errors) > 1000:
        wrong.append("not one short line")
    if not errors.startswith("assocmem: ") or file.name not in errors or not errors.strip().isprintable():
        wrong.append("does not name the file, in characters for any terminal")
    if sorted(path.name for path in file.parent.iterdir()) != there:
        wrong.append("has written something")
    return f"{', '.join(wrong)}: {errors[:300]!r}" if wrong else ""


def still_valid(data):
    """Whether a mutation has left what another parser takes for one of the files that it came from."""
    try:
        text = data.decode() if isinstance(data, bytes) else data
        found = yaml.safe_load(text)
        return isinstance(found, dict) and any(_same(found, yaml.safe_load(valid)) for valid in VALID)
    except (ValueError, RecursionError, yaml.YAMLError):
        return False


def _same(found, valid):
    return {key: x for key, x in found.items() if key != "title"} == {
        k: x for k, x in valid.items() if k != "title"
    }


def trials(folder, count, seed, capsys):
    """Files drawn and refused; counts them and says what went wrong with which."""
    draw, failures, tried = random.Random(seed), [], 0
    while tried < count:
        mutation, text = draw.choice(MUTATIONS), draw.choice(VALID)
        data = mutation(draw, text)
        if still_valid(data):
            continue
        tried += 1
        file = folder / f"broken{tried}.yml"
        file.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        fault = fault_of(file, draw.choice(["run", "status", "export", "confirm"]), capsys)
        if fault:
            failures.append(f"{mutation.__name__}: {fault}: {data[:200]!r}")
        file.unlink()
    return tried, failures


@pytest.mark.parametrize("text", VALID)
def test_what_is_broken_was_valid(tmp_path, text, capsys):
    file = tmp_path / "valid.yml"
    file.write_text(text)
    assert main(["sweep", "status", str(file)]) == 1
    assert "missing" in capsys.readouterr().out


def test_broken_files_are_refused_in_one_line(tmp_path, capsys):
    _, failures = trials(tmp_path, 15, SEED, capsys)
    assert failures == []


@pytest.mark.faults
def test_broken_files_by_the_hundred(tmp_path, capsys, report_trials):
    report_trials("malformed sweep files", *trials(tmp_path, 600, SEED + 1, capsys))
