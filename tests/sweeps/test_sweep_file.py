"""A sweep file stands for a list of points, or is refused in one line."""

import itertools
import math
import os

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assocmem.checks import UsageError
from assocmem.sweeps.fingerprints import fingerprint_of_sweep
from assocmem.sweeps.parameters import Anything, Parameter, read_settings
from assocmem.sweeps.point_functions import point_function
from assocmem.sweeps.sweep_file import point_key, read_sweep


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "my sweep é.yml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def values(write, spec, name="a"):
    sweep = read_sweep(
        write(f"point: sweep_points:square\npoints: {{{'a: 1, ' if name != 'a' else ''}{name}: {spec}}}")
    )
    return [point.parameters[name] for point in sweep.points]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("3", [3]),
        ("[5, 3, 5]", [5, 3]),
        ("{from: 6, to: 9}", [6, 7, 8, 9]),
        ("{from: 6, to: 10, step: 2}", [6, 8, 10]),
        ("{from: 6, to: 9, step: 2}", [6, 8]),
        ("{from: 3, to: 3}", [3]),
        ("{from: 0, to: 9, count: 4}", [0, 3, 6, 9]),
        ("{from: 1, to: 100, count: 3, scale: log}", [1, 10, 100]),
        ("{count: 3}", [0, 1, 2]),
        ("{count: 2, first: 40}", [40, 41]),
        ("{from: 0, to: 10, count: 3}", [0, 5, 10]),
    ],
)
def test_whole_values(write, spec, expected):
    found = values(write, spec)
    assert found == expected
    assert all(type(x) is int for x in found)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("1", [1.0]),
        ("1e-3", [0.001]),
        ("{from: 0.05, to: 0.6, step: 0.05}", [i / 20 for i in range(1, 13)]),
        ("{from: 1e-8, to: 1, count: 9, scale: log}", [10.0**-i for i in range(8, -1, -1)]),
        ("{from: 2, to: 0.5, count: 3, scale: log}", [2.0, 1.0, 0.5]),
        ("{from: 0.1, to: 0.4, count: 1}", [0.1]),
    ],
)
def test_real_values(write, spec, expected):
    """They are the numbers that one would type, not their neighbours in floating point."""
    assert values(write, spec, name="b") == expected


def test_large_seeds_are_all_different(write):
    text = "point: top1_verdict\npoints: {n: 20, d: 6, seed: {first: 9007199254740000, count: 900}}"
    seeds = [point.parameters["seed"] for point in read_sweep(write(text)).points]
    assert seeds == list(range(9007199254740000, 9007199254740900))


@given(st.integers(1, 60), st.floats(1e-3, 1), st.floats(1e-3, 1))
def test_spacings_reach_both_ends(tmp_path_factory, count, x, y):
    assume(count == 1 or abs(x - y) > 1e-6)
    path = tmp_path_factory.mktemp("spread") / "x.yml"
    for scale in ("linear", "log"):
        spec = f"{{from: {x}, to: {y}, count: {count}, scale: {scale}}}"
        path.write_text(f"point: sweep_points:square\npoints: {{a: 1, b: {spec}}}")
        found = [point.parameters["b"] for point in read_sweep(path).points]
        ratios = found if scale == "linear" else [math.log(z) for z in found]
        assert found[0] == pytest.approx(x, rel=1e-11)
        if x != y:
            assert len(found) == count
            assert found[-1] == pytest.approx(y if count > 1 else x, rel=1e-11)
            steps = [b - a for a, b in itertools.pairwise(ratios)]
            assert all(step == pytest.approx(steps[0], rel=1e-6, abs=1e-11) for step in steps)


def test_blocks_are_products_and_zips_go_together(write):
    sweep = read_sweep(
        write("""
title: Some squares
point: sweep_points:square
points:
  - {a: [1, 2], b: [0.5, 1]}
  - {zip: {a: [3, 1], b: [1, 0.5]}}
""")
    )
    found = [tuple(point.parameters.values()) for point in sweep.points]
    assert found == [(1, 0.5), (1, 1.0), (2, 0.5), (2, 1.0), (3, 1.0)]
    assert (sweep.title, sweep.fixed) == ("Some squares", {})
    assert sweep.store.name == "my sweep é.sqlite"


def test_a_key_is_that_of_the_parameters_however_they_are_given(write):
    plain = read_sweep(write("point: sweep_points:square\npoints: {a: 1}"))
    fixed = read_sweep(write("point: sweep_points:square\nfixed: {b: '5e-1'}\npoints: {a: '1'}"))
    other = read_sweep(write("point: sweep_points:square\npoints: {a: 1, b: 0.25}"))
    cube = read_sweep(write("point: sweep_points:slow\npoints: {a: 1}"))
    assert plain.points[0].key == fixed.points[0].key
    assert len({plain.points[0].key, other.points[0].key, cube.points[0].key}) == 3
    assert fixed.fixed == {"b": 0.5}
    assert point_key("x", {"a": 1, "b": 2}) == point_key("x", {"b": 2, "a": 1})


@pytest.mark.parametrize("text", ["010", "1:30", "0x10", "1_000", "２", "!!int 0x10", "+-1", "1e1", "'010'"])
@pytest.mark.parametrize("where", ["{a: %s}", "{a: [%s]}", "{zip: {a: [%s]}}"])
def test_numbers_are_in_decimal_digits(write, text, where):
    """YAML 1.1 reads some of these as other numbers than they seem, and the command line reads others."""
    with pytest.raises(UsageError, match=r"a = .*: must be an integer in \[0, 1000\]") as caught:
        read_sweep(write("point: sweep_points:square\npoints: " + where % text))
    shown = text.split()[-1].strip("'")
    assert f"a = {shown}: must be" in str(caught.value)
    assert ("in decimal digits, like 10" in str(caught.value)) == (shown != "1e1")


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        *((text, int, int(text)) for text in ("0", "10", "-3", "+7", " 12 ")),
        *((text, float, float(text)) for text in ("0.5", ".5", "5.", "1e-3", "-1E+3", "1e05", "inf", "-inf")),
        (".inf", float, math.inf),
        ("12", float, 12.0),
        ("True", bool, True),
        ("false", bool, False),
        ("010", str, "010"),
        ("no", str, "no"),
    ],
)
def test_yaml_and_the_command_line_read_alike(tmp_path, text, kind, value):
    parameter = Parameter("x", kind(), "anything", Anything())
    (tmp_path / "x.yml").write_text(f"x: {text}\nxs: [{text}]")
    settings = read_settings(tmp_path / "x.yml")
    several = Parameter("xs", [kind()], "anything", Anything())
    assert parameter.convert(text) == parameter.convert(settings["x"]) == value
    assert several.convert(f"[{text}]") == several.convert(settings["xs"]) == [value]
    assert type(parameter.convert(settings["x"])) is kind


def test_merge_keys_are_yaml(write):
    sweep = read_sweep(
        write("""
point: sweep_points:square
points:
  - &base {a: 1, b: 0.5}
  - &more {<<: *base, a: 2}
  - {<<: [*more, *base], b: 1}
""")
    )
    assert [tuple(p.parameters.values()) for p in sweep.points] == [(1, 0.5), (2, 0.5), (2, 1.0)]
    with pytest.raises(UsageError, match="key 'a' is given twice"):
        read_sweep(write("point: sweep_points:square\npoints: [&base {a: 1}, {<<: *base, a: 2, a: 3}]"))


def test_a_file_may_begin_with_a_byte_order_mark(write):
    assert read_sweep(write("\ufeffpoint: sweep_points:square\npoints: {a: 1}")).points


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("nowhere.yml", path)])
def test_what_is_no_file_is_refused(tmp_path, make):
    make(tmp_path / "x.yml")
    with pytest.raises(UsageError, match=r"^cannot read .*x\.yml"):
        read_sweep(tmp_path / "x.yml")


def test_what_a_sweep_asks_for_has_a_fingerprint_and_its_looks_have_none(write):
    text = "point: sweep_points:square\npoints: {a: [1, 2]}\n"
    before = fingerprint_of_sweep(write(text))
    loose = "# a word\ntitle: T\n\npoint:  sweep_points:square\npoints:\n  a:\n  - 1\n  - 2\n"
    assert fingerprint_of_sweep(write(loose)) == before
    assert fingerprint_of_sweep(write(text.replace("2]", "3]"))) != before


def test_sections_are_point_functions(write, project):
    sweep = read_sweep(
        write("point: section:tiny\nfixed: {profile: smoke}\npoints: {n: [2, 5], xs: [0.1, 0.2]}")
    )
    assert [point.parameters for point in sweep.points] == [
        {"profile": "smoke", "n": 2, "xs": [0.1, 0.2]},
        {"profile": "smoke", "n": 5, "xs": [0.1, 0.2]},
    ]
    sweep = read_sweep(write("point: section:tiny\npoints: {xs: [[0.1], [0.2, 0.3]]}"))
    assert [point.parameters["xs"] for point in sweep.points] == [[0.1], [0.2, 0.3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("points: {a: 1}", "point must name a point function"),
        (
            "point: top1_verdit\npoints: {n: 2}",
            "unknown point function 'top1_verdit': did you mean 'top1_verdict'",
        ),
        ("point: section:nowhere\npoints: {n: 2}", "unknown section 'nowhere'"),
        ("point: no_such_module:f\npoints: {n: 2}", "cannot load the point function 'no_such_module:f'"),
        ("point: sweep_points:nothing\npoints: {n: 2}", "cannot load the point function"),
        ("point: sweep_points:unannotated\npoints: {a: 2}", "parameter 'a' must be annotated"),
        ("point: sweep_points:square\npionts: {a: 1}", "unknown key 'pionts': did you mean 'points'"),
        ("point: sweep_points:square", "points a block or a list of blocks"),
        ("point: sweep_points:square\npoints: []", "points a block or a list of blocks"),
        ("point: sweep_points:square\npoints: [3]", "points a block or a list of blocks"),
        ("point: sweep_points:square\npoints: {b: 1}", "no value for a"),
        ("point: sweep_points:square\npoints: {a: 1, c: 2}", "unknown parameter 'c'"),
        ("point: sweep_points:square\npoints: {a: 1.5}", "a = 1.5: must be an integer in [0, 1000]"),
        ("point: pooled\npoints: {n: [6, 5], k: 5}", "pooled: k = 5: must be at most n - 1 = 4"),
        ("point: removal\npoints: {setting: 0, d: 4, seed: 1}", "removal: d = 4: must be so large that"),
        ("point: dimension\npoints: {construction: 6, n: 20, seed: 1}", "dimension: n = 20: must be larger"),
        ("point: structure\npoints: {n: 5, structure: 50, d: 3, seed: 1}", "integer in [0, 8]"),
        ("point: sweep_points:square\npoints: {a: -1}", "a = -1: must be an integer"),
        ("point: sweep_points:square\npoints: {a: true}", "a = True: must be an integer"),
        ("point: sweep_points:square\npoints: {a: null}", "a = None: must be an integer"),
        ("point: sweep_points:square\npoints: {a: []}", "a = []: no value at all"),
        ("point: sweep_points:square\npoints: {a: {from: 1}}", "a = {'from': 1}: must be a value, a list"),
        ("point: sweep_points:square\npoints: {a: {}}", "a = {}: must be a value, a list"),
        ("point: sweep_points:square\npoints: {a: {from: x, to: 2}}", "must be a value, a list"),
        ("point: sweep_points:square\npoints: {a: {from: 3, to: 2}}", "must have from <= to"),
        ("point: sweep_points:square\npoints: {a: {from: 1, to: 2, step: 0}}", "step > 0"),
        ("point: sweep_points:square\npoints: {a: {from: 0, to: 1, step: 1e-9}}", "at most 1000000 steps"),
        ("point: sweep_points:square\npoints: {a: {count: 0}}", "count must be an integer in [1, 1000000]"),
        ("point: sweep_points:square\npoints: {a: {count: 2.5}}", "count must be an integer"),
        (
            "point: sweep_points:square\npoints: {a: {from: 0, to: 9, count: 3, scale: log}}",
            "log between numbers > 0",
        ),
        (
            "point: sweep_points:square\npoints: {a: {from: 0, to: 9, count: 3, scale: cubic}}",
            "scale must be linear",
        ),
        (
            "point: sweep_points:square\npoints: {a: 1, zip: {b: [1, 2], c: [1]}}",
            "zip: lists of different lengths",
        ),
        ("point: sweep_points:square\npoints: {a: 1, zip: [1]}", "zip must be a mapping"),
        ("point: sweep_points:square\nfixed: {a: 1}\npoints: {a: 2}", "a: in fixed, and in points as well"),
        ("point: sweep_points:square\npoints: {a: 1, minutes: soon}", "minutes = 'soon'"),
        ("point: sweep_points:square\npoints: {a: 1, minutes: true}", "minutes = True"),
        (
            "point: sweep_points:square\npoints: {a: 1, zip: {a: [1, 2], b: [1, 2]}}",
            "a: in zip, and beside it",
        ),
        ("point: sweep_points:square\npoints: {a: 1, a: 2}", "key 'a' is given twice"),
        ("point: sweep_points:square\npoints: {a: 1, 3: 2}", "3: must be a word"),
        ("point: sweep_points:square\n3: 1\npoints: {a: 1}", "3: must be a word"),
        ("point: sweep_points:square\npoints: {a: {from: 1, to: 1, count: 3}}", "the same to 12 digits"),
        ("point: sweep_points:positional\npoints: {a: 1}", "must be one that can be given by its name"),
        ("point: sweep_points:open_ended\npoints: {a: 1}", "must be one that can be given by its name"),
        ("point: sweep_points:badly_set\npoints: {a: 1}", "a = 3: must be an integer in [0, 2]"),
        ("point: ':f'\npoints: {a: 1}", "unknown point function ':f'"),
        ("point: '.sweep_points:square'\npoints: {a: 1}", "cannot load the point function"),
        ("point: sweep_points:note\npoints: {a: 1}", "must be one that can be given by its name"),
        (
            "point: sweep_leaves:f\npoints: {a: 1}",
            "cannot load the point function 'sweep_leaves:f': SystemExit",
        ),
        ("point: structure\npoints: {n: {count: 2000}, d: {count: 2000}}", "a block of 4000000 points"),
        ("- a", "must be a YAML mapping"),
        ("a: [", "not valid YAML"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_place(write, text, message):
    with pytest.raises(UsageError) as caught:
        read_sweep(write(text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "my sweep é.yml" in str(caught.value) or "YAML" in message


def test_types_are_those_of_the_annotations(write):
    sweep = read_sweep(write("point: sweep_points:share\npoints: {a: 1}"))
    assert sweep.points[0].parameters == {"a": 1, "b": 1.0}
    assert type(sweep.points[0].parameters["b"]) is float
    sweep = read_sweep(write("point: sweep_points:share\npoints: {a: 1, b: 0.5}"))
    assert sweep.points[0].parameters == {"a": 1, "b": 0.5}


@pytest.mark.parametrize("name", ["mine.yaml", "mine.json", "mine"])
def test_only_yml_files_are_sweep_files(tmp_path, name):
    (tmp_path / name).write_text("point: sweep_points:square\npoints: {a: 1}")
    with pytest.raises(UsageError, match=r"a sweep file must end in \.yml"):
        read_sweep(tmp_path / name)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot read .*nowhere.yml"):
        read_sweep(tmp_path / "nowhere.yml")


def test_indices_of_point_functions_are_those_that_exist():
    from assocmem.experiments.explicit.constructions import CONSTRUCTIONS
    from assocmem.experiments.first_place.surrogates import STRUCTURES
    from assocmem.experiments.removals.removal_sizes import SETTINGS

    places = (("structure", "structure", STRUCTURES), ("removal", "setting", SETTINGS))
    for name, parameter, known in (*places, ("dimension", "construction", CONSTRUCTIONS)):
        allowed = point_function(name).parameters[parameter].allowed
        assert (allowed.low, allowed.high) == (0, len(known) - 1)


def test_probabilities_too_small_for_a_number_are_not_asked_for():
    function = point_function("outer_product_failure")
    for n in (10**4, 10**9, 10**12):
        allowed = 4 + 2000 / math.log(n)
        assert function.call(**function.convert({"n": n, "ratio": allowed}))["log_failure"] < -300
        with pytest.raises(UsageError, match=rf"failure: ratio = .* must be at most .* n = {n}"):
            function.convert({"n": n, "ratio": 1.01 * allowed})
    with pytest.raises(UsageError, match="ratio = 0.01: must be above 0.303, where d = 1, for n = 3"):
        function.convert({"n": 3, "ratio": 0.01})
