"""Parameters, ranges and profiles: what is accepted, and one clear line for everything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assocmem.book.sections import (
    PROFILES,
    Section,
    load_profile,
    load_section,
    read_entries,
    require_relations,
    resolve,
    section_names,
)
from assocmem.checks import UsageError
from assocmem.sweeps.parameters import parse_range, read_settings
from assocmem.sweeps.project import project_root


def section_with(*lines):
    text = '# %% tags=["parameters"]\n' + "\n".join(lines) + "\n\n# %%\npass\n"
    return Section("trial", None, text)


TRIAL = section_with(
    "n = 5  # how many; [2, 100)",
    "rate = 0.5  # how fast; (0, inf)",
    "flag = True  # whether; any",
    "device = 'cpu'  # where; {cpu, cuda}",
    "xs = [0.5, 1]  # places; [0, 1]",
    "label = 'a; b'  # a word; any",
)


def test_the_cell_is_read_without_being_executed():
    parameters = TRIAL.parameters
    assert [p.type_name for p in parameters.values()] == [
        "int",
        "float",
        "bool",
        "str",
        "list of float",
        "str",
    ]
    assert parameters["n"].meaning == "how many"
    assert parameters["xs"].range_text == "a list, each item a number in [0, 1]"
    assert resolve(TRIAL) == {
        "n": 5,
        "rate": 0.5,
        "flag": True,
        "device": "cpu",
        "xs": [0.5, 1],
        "label": "a; b",
    }


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("n", "99", 99),
        ("rate", "1e-3", 1e-3),
        ("rate", "3", 3.0),
        ("flag", "false", False),
        ("flag", "True", True),
        ("device", "cuda", "cuda"),
        ("xs", "[1e-1, 0.9]", [0.1, 0.9]),
        ("xs", "[1]", [1.0]),
        ("label", "3", "3"),
    ],
)
def test_strings_become_the_type_of_the_default(name, text, value):
    result = resolve(TRIAL, {name: text})[name]
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("n", "5.0", "an integer in [2, 100)"),
        ("n", "many", "an integer in [2, 100)"),
        ("n", 5.0, "an integer"),
        ("n", True, "an integer"),
        ("n", "1", "[2, 100)"),
        ("n", "100", "[2, 100)"),
        ("rate", "0", "a number in (0, inf)"),
        ("rate", "inf", "(0, inf)"),
        ("rate", "nan", "(0, inf)"),
        ("rate", None, "a number"),
        ("flag", "yes", "true or false"),
        ("flag", 1, "true or false"),
        ("device", "tpu", "one of cpu, cuda"),
        ("xs", "0.5", "a list"),
        ("xs", "[]", "a list"),
        ("xs", "[0.5, 2]", "each item a number in [0, 1]"),
        ("xs", "[0.5", "a list"),
        ("xs", {"a": 1}, "a list"),
        ("label", 3, "a word"),
    ],
)
def test_wrong_types_and_ranges_are_named(name, value, allowed):
    with pytest.raises(UsageError) as caught:
        resolve(TRIAL, {name: value})
    line = str(caught.value)
    assert line.startswith(f"{name} = ")
    assert allowed in line
    assert "\n" not in line


def test_an_unknown_parameter_gets_the_nearest_one_and_its_range():
    with pytest.raises(
        UsageError, match=r"'rat' of section trial: the nearest is 'rate', a number in \(0, inf\)"
    ):
        resolve(TRIAL, {"rat": 1})
    with pytest.raises(UsageError, match="unknown parameter 3"):
        resolve(TRIAL, {3: 1})


def test_later_layers_win():
    assert resolve(TRIAL, {"n": 6, "rate": 2}, {"n": "7"})["n"] == 7


@pytest.mark.parametrize(
    "line",
    [
        "n = 5",
        "n = 5  # no range",
        "n = 5  # wrong; between 1 and 2",
        "n = 5  # below; [6, 7]",
        "n = 2 + 3  # no literal; any",
        "n = m = 5  # two; any",
        "n += 5  # no; any",
        "import os  # no; any",
        "n = None  # no type; any",
        "n = []  # empty; any",
        "n = [1, 'a']  # mixed; any",
    ],
)
def test_a_malformed_parameters_cell_is_refused(line):
    with pytest.raises(UsageError, match="section trial, parameters cell"):
        section_with(line).parameters


@given(st.floats(-5, 5), st.integers(-5, 4), st.booleans(), st.booleans())
def test_intervals_include_the_ends_they_say(x, low, left, right):
    text = f"{'[' if left else '('}{low}, {low + 1}{']' if right else ')'}"
    inside = (low < x < low + 1) or (left and x == low) or (right and x == low + 1)
    assert (x in parse_range(text)) == inside


@pytest.mark.parametrize("text", ["", "[1]", "1, 2", "[a, b]", "{", "[1, 2, 3]"])
def test_other_ranges_are_refused(text):
    with pytest.raises((ValueError, IndexError)):
        parse_range(text)


# --- the sections of the book ---------------------------------------------------------------------


@pytest.mark.parametrize("name", section_names())
def test_sections_have_readable_parameters_and_profiles(name):
    section = load_section(name)
    assert section.parameters
    for profile in PROFILES:
        resolve(section, load_profile(profile, section))
    assert load_profile("default", section) == {}


def test_every_section_has_an_entry_and_every_entry_a_section():
    assert sorted(read_entries()) == section_names()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tiny: 3", "notebooks/sections.yml: section tiny must be a mapping"),
        ("tiny: {smoke: [1]}", "section tiny: smoke must be a mapping of parameters to values"),
        ("tiny: {smoke: {n: 1}", "sections.yml is not valid YAML"),
        ("tiny: {}\ntiny: {}", "key 'tiny' is given twice"),
    ],
)
def test_malformed_entries_are_refused_in_one_line(project, text, message):
    (project / "notebooks" / "sections.yml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message) as caught:
        load_profile("smoke", load_section("tiny"))
    assert "\n" not in str(caught.value)


def test_unknown_names_get_the_nearest():
    with pytest.raises(UsageError, match="unknown section 'corelation': did you mean 'correlation_memory'"):
        load_section("corelation")
    with pytest.raises(UsageError, match="unknown profile 'papr': did you mean 'paper'"):
        load_profile("papr", TRIAL)


@pytest.mark.parametrize("text", ["n: [1", "- 1\n- 2", "just words", "\x00"])
def test_unreadable_yaml_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "settings.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_settings(path)
    assert "settings.yml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_and_undecodable_files_are_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot read .*nowhere.yml: No such file"):
        read_settings(tmp_path / "nowhere.yml")
    (tmp_path / "latin.yml").write_bytes(b"n: \xff\xfe")
    with pytest.raises(UsageError, match="not valid YAML"):
        read_settings(tmp_path / "latin.yml")


def test_without_a_project_the_way_out_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSOCMEM_ROOT", str(tmp_path))
    with pytest.raises(UsageError, match="set ASSOCMEM_ROOT"):
        project_root()


# --- relations between parameters -----------------------------------------------------------------


def with_relations(text):
    cell = f'\n# %% tags=["requires", "remove-cell"]\n{text}\n'
    return Section("trial", None, TRIAL.text + cell)


RELATIONS = """
most = 10 * rate
requires = [
    ("n", n, n <= most, f"at most ten times the rate, {most:g}"),
    ("xs", xs, len(set(xs)) > 1, "two or more different ones"),
]
"""


def test_values_that_go_together_pass():
    section = with_relations(RELATIONS)
    require_relations(section, resolve(section))
    require_relations(TRIAL, resolve(TRIAL))


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"n": "6"}, "n = 6: must be at most ten times the rate, 5"),
        ({"xs": [0.5]}, "xs = [0.5]: must be two or more different ones"),
        ({"n": 99, "xs": [0.5] * 40, "rate": 0.1}, "n = 99: must be at most ten times the rate, 1"),
    ],
)
def test_the_first_value_that_does_not_go_with_the_others_is_named(settings, line):
    section = with_relations(RELATIONS)
    with pytest.raises(UsageError) as caught:
        require_relations(section, resolve(section, settings))
    assert str(caught.value) == line


def test_a_long_value_is_shortened():
    section = with_relations(RELATIONS)
    with pytest.raises(UsageError, match=r"^xs = \[0.5, 0.5.*\.\.\.: must be two or more different ones$"):
        require_relations(section, resolve(section, {"xs": [0.5] * 400}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("requires = [('n', n, m < 3, 'less')]", "requires cell: NameError: name 'm' is not defined"),
        ("requires = [('n', n, False)]", "requires cell: ValueError: not enough values to unpack"),
        ("requires = 3", "requires cell: TypeError"),
        ("relations = []", "requires cell: KeyError: 'requires'"),
    ],
)
def test_mistakes_in_the_cell_are_one_line(text, message):
    section = with_relations(text)
    with pytest.raises(UsageError) as caught:
        require_relations(section, resolve(section))
    assert str(caught.value).startswith(f"section trial, {message}")
    assert "\n" not in str(caught.value)
