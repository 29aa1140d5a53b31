"""Settings of sections and of point functions that are wrong, and those at the corners of their ranges."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from corners import LATE, LIMIT, REFUSED, SUCCESS, corners, give_up

from assocmem.__main__ import main
from assocmem.book.section_points import section_point
from assocmem.book.sections import load_profile, load_section, resolve, section_names
from assocmem.checks import UsageError
from assocmem.experiments.points import REGISTERED
from assocmem.sweeps.parameters import Choice, Interval
from assocmem.sweeps.point_functions import point_function

SEED = 25
INVALID = 1200
"""Invalid settings that are tried."""
PAIRS = 4
"""Pairs of corners that are tried of each section and point function."""
ODD = [
    "",
    " ",
    "many",
    "nan",
    "--3",
    "1,5",
    "[",
    "{",
    "!!x",
    "null",
    "\0",
    "\ud800",
    "9" * 5000,
    "é" * 200,
]
"""Words that are no number, no list and no choice."""
FUNCTIONS = [function.__name__ for function in REGISTERED]
BROKEN = [
    ("section:correlation_memory", {"sizes": [3], "ratios": [0.1]}),
    ("section:dual_certificate", {"n": 6}),
    ("section:dual_certificate", {"above_d": 2}),
    ("section:dual_certificate", {"exact_n": 4}),
    ("section:dual_certificate", {"exact_d": 2}),
    ("section:dual_certificate", {"floor_d": 60}),
    ("section:dual_certificate", {"reach_sizes": [16]}),
    ("section:leave_one_out", {"dimensions": [10, 12]}),
    ("section:scalar_theory", {"dimensions": [6]}),
    ("section:scalar_theory", {"dimensions": [12, 16, 16]}),
    ("section:scalar_theory", {"strong": [0.001]}),
    ("section:scalar_theory", {"strong": [0.001, 0.5, 10.0, 100.0]}),
    ("section:scalar_theory", {"other_loads": [0.1, 0.2]}),
    ("section:sparse_repair", {"ratio": 100.0}),
    ("section:tail_average_margin", {"sizes": [300]}),
    ("section:top1_threshold", {"tails": [1, 12]}),
    ("pooled", {"n": 5, "k": 5}),
    ("outer_product_failure", {"n": 3, "ratio": 0.01}),
    ("outer_product_failure", {"n": 10**12, "ratio": 1000.0}),
    ("last_ruled_fact", {"d": 4, "strength": 3.0}),
    ("structure", {"structure": 50}),
    ("removal", {"setting": 50}),
    ("dimension", {"construction": 50}),
]
"""Values in their ranges that do not go together under the profile smoke, and indices of nothing."""
SMALL = {
    "n": 20,
    "d": 8,
    "seed": 1,
    "r": 0.2,
    "load": 0.3,
    "beta": 3.0,
    "ridge": 0.1,
    "tol": 0.01,
    "structure": 0,
    "setting": 0,
    "relation": 4,
    "order": 0,
    "m": 12,
    "strength": 1.0,
    "construction": 0,
    "digits": 30,
    "kind": 0,
    "loss": 4,
    "k": 3,
    "ratio": 8.0,
    "rule": "even_clip",
    "harm": "bits",
    "size": 1.0,
    "law": "two",
    "s": 1.5,
    "gamma": 1.0,
    "chunks": 6,
    "way": "keep",
    "training": "fit",
    "step": 1.0,
}
"""Values of the parameters of point functions from which the corners are taken one at a time."""
LARGEST = {"n": 60, "d": 24}
"""Up to which these are tried: larger ones take minutes, and are computed by the sweeps of the book."""


def everything():
    """The sections and the point functions by their names in a sweep file."""
    return {f"section:{name}": section_point(f"section:{name}") for name in section_names()} | {
        name: point_function(name) for name in FUNCTIONS
    }


def complete(function, settings):
    """Settings with what a section or a point function needs besides."""
    if function.name.startswith("section:"):
        return {"profile": "smoke"} | settings
    return {name: SMALL[name] for name in function.required} | settings


def wrong_item(parameter, rng):
    """A value that is none of a parameter, or none of the items of its list."""
    wrong = [None, [], {}, [[1]], {"a": 1}, b"1", object()]
    allowed = parameter.allowed
    if isinstance(allowed, Interval):
        wrong += [*ODD, True, float("nan"), "nan", "true"]
        for end, closed, way in zip((allowed.low, allowed.high), allowed.closed, (-1, 1), strict=True):
            if abs(end) < float("inf"):
                wrong += [end + way * rng.choice([1, 1e3, 1e12])] * 3 + ([] if closed else [end] * 2)
        wrong += [1.5, "2.0"] if parameter.item_type is int else []
    elif isinstance(allowed, Choice):
        wrong += [*ODD, 3, True, "gpu"]
    else:
        wrong += [3, 0.5]
    return rng.choice(wrong)


def wrong_value(parameter, rng):
    if not parameter.is_list:
        return wrong_item(parameter, rng)
    good = list(parameter.default)
    good.insert(rng.randrange(len(good) + 1), wrong_item(parameter, rng))
    return rng.choice([good, good, good, [], 3, "0.5", "[", None, {}, good[:1] and [good]])


def invalid_settings(count):
    """Seeded pairs of a section or point function and settings of which one is wrong, and its name."""
    rng, functions = random.Random(SEED), everything()
    names = list(functions)
    while count:
        function = functions[rng.choice(names)]
        name = rng.choice(list(function.parameters))
        if rng.random() < 0.1:
            name = rng.choice([name + "s", name.upper() + "_", "é", "0", ""])
            yield function, name, {name: 1}
        else:
            yield function, name, {name: wrong_value(function.parameters[name], rng)}
        count -= 1


def complaint(error, name):
    """What is wrong with a refusal, if anything."""
    line = str(error)
    if type(error) is not UsageError:
        return f"{type(error).__name__}: {line[:200]}"
    if "\n" in line or len(line) > 500 or name not in line:
        return f"no line that names {name!r}: {line[:200]!r}"
    return ""


def refusal(function, name, settings):
    """What is wrong with how settings are refused, if anything."""
    try:
        function.convert(complete(function, settings))
    except Exception as error:
        bad = complaint(error, name)
    else:
        bad = "accepted"
    return bad and f"{function.name} {str(settings)[:100]}: {bad}"


def test_values_that_do_not_go_together_are_refused_before_anything_runs():
    functions = everything()
    for name, settings in BROKEN:
        if name != "section:dual_certificate":  # decides instances: with the others, below
            with pytest.raises(UsageError, match=" must be "):
                functions[name].convert(complete(functions[name], settings))


@pytest.mark.faults
def test_invalid_settings_are_refused_in_one_line(report_trials):
    functions = everything()
    found = [refusal(*trial) for trial in invalid_settings(INVALID)]
    for name, settings in BROKEN:
        found.append(refusal(functions[name], "", settings))
    report_trials("invalid settings of sections and point functions", len(found), list(filter(None, found)))


@pytest.mark.faults
def test_the_command_refuses_invalid_settings_before_anything_runs(report_trials, tmp_path, capsys):
    rng, found = random.Random(SEED), []
    for name in section_names():
        for parameter in load_section(name).parameters.values():
            value = rng.choice(["", "many", "[", "{a: 1}"]) if parameter.item_type is not str else "gpu"
            code = main(["run", name, "-p", parameter.name, value, "--out", str(tmp_path / "out")])
            error = capsys.readouterr().err
            named = f"{parameter.name} = " in error
            if code != 2 or error.count("\n") != 1 or not named or (tmp_path / "out").exists():
                found.append(f"{name} {parameter.name} {value!r}: code {code}, {error[:200]!r}")
            else:
                found.append("")
    for name, settings in BROKEN:
        if name.startswith("section:"):
            given = [word for key, value in settings.items() for word in ("-p", key, json.dumps(value))]
            out = ["--profile", "smoke", "--out", str(tmp_path / "out")]
            code = main(["run", name.removeprefix("section:"), *given, *out])
            error = capsys.readouterr().err
            bad = (
                code != 2 or error.count("\n") != 1 or " must be " not in error or (tmp_path / "out").exists()
            )
            found.append(f"{name} {settings}: code {code}, {error[:200]!r}" if bad else "")
    report_trials("invalid settings on the command line", len(found), list(filter(None, found)))


@pytest.mark.faults
@pytest.mark.parametrize("name", section_names())
def test_corners_of_sections_end_in_success_or_a_refusal(name, report_trials):
    section = load_section(name)
    base = resolve(section, load_profile("smoke", section))
    asked = corners(section.parameters, base, PAIRS, SEED)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", Path(__file__).with_name("corners.py"), name],
        input="".join(json.dumps(settings) + "\n" for settings in asked),
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    late = [x["settings"] for x in found if x["what"] == LATE]
    print(f"{name}, {LATE}: {late}")
    failures = [
        f"{name} {x['settings']}: {x['what']}"
        for x in found
        if x["what"] not in (SUCCESS, LATE) and not x["what"].startswith(REFUSED)
    ]
    if len(found) < len(asked):
        failures.append(f"{name} {asked[len(found)]}: the process ended, {done.stderr[-300:]}")
    report_trials(f"corners of {name}", len(found) - len(late), failures)


@pytest.mark.faults
def test_corners_of_point_functions_end_in_a_row_or_a_refusal(report_trials):
    import torch  # noqa: F401 - not within the time of a point

    tried, late, failures = 0, [], []
    signal.signal(signal.SIGPROF, give_up)
    for name in FUNCTIONS:
        function = point_function(name)
        base = {key: SMALL.get(key, p.default) for key, p in function.parameters.items()}
        context = {key: {"device": "cpu", "checkpoint": None}[key] for key in function.context}
        for settings in corners(function.parameters, base, PAIRS, SEED):
            values = {key: min(value, LARGEST.get(key, value)) for key, value in (base | settings).items()}
            signal.setitimer(signal.ITIMER_PROF, LIMIT)
            try:
                function.call(**function.convert(values), **context)
                tried += 1
            except UsageError as error:
                tried += 1
                failures += [f"{name} {settings}: {error}"] if "\n" in str(error) else []
            except TimeoutError:
                late.append((name, settings))
            except (
                ArithmeticError
            ) as error:  # did not converge, or found nothing: a failed point, and it says so
                tried += 1
                failures += [f"{name} {settings}: {error}"] if type(error) is not ArithmeticError else []
            except Exception as error:
                failures.append(f"{name} {settings}: {type(error).__name__}: {str(error)[:200]}")
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
    print(f"{LATE}: {late}")
    report_trials("corners of point functions", tried + len(failures), failures)
