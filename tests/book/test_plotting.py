"""Tables, intervals, colours, and the figures that are kept in the repository."""

import ast
import re
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from assocmem.book import by_hand_figures, idea_figures, overview, plotting
from assocmem.book.plotting import INK, MARKERS, PALETTE, Table, proportion_interval, series
from assocmem.sweeps.project import project_root


def test_table_prints_for_readers_and_terminals():
    table = Table({"$n$": ["10", "200"], "value": [0.12345, 3.0]}, {"value": ".2f"})
    assert table._repr_markdown_().splitlines() == [
        "| $n$ | value |",
        "| ---: | ---: |",
        "| 10 | 0.12 |",
        "| 200 | 3.00 |",
    ]
    assert repr(table).splitlines() == ["$n$  value", " 10   0.12", "200   3.00"]
    assert Table({"a": [1.0], "b": [2.0]}, ".1f").rows == [["1.0", "2.0"]]


@pytest.mark.parametrize("columns", [{"$\\|x\\|$": [1.0]}, {"size": ["$|x|$"]}])
def test_tables_refuse_bars_that_would_end_a_cell(columns):
    with pytest.raises(ValueError, match=r"entry = .*: must be without bars"):
        Table(columns)


def test_wilson_interval_is_the_closed_form():
    k, m, z = 7, 40, 1.959963984540054
    centre = (k + z**2 / 2) / (m + z**2)
    half = z / (m + z**2) * np.sqrt(k * (m - k) / m + z**2 / 4)
    low, high = proportion_interval([k, 0], [m, m])
    assert low == pytest.approx([centre - half, 0], abs=1e-9)
    assert high[0] == pytest.approx(centre + half)
    assert high[1] == pytest.approx(z**2 / (m + z**2))


PLACES = overview.PLACES | idea_figures.PLACES | by_hand_figures.PLACES


@pytest.mark.parametrize("draw", PLACES)
def test_the_kept_figures_are_what_the_code_draws(tmp_path, draw):
    place, dpi = PLACES[draw]
    drawn = tmp_path / "drawn.png"
    draw().savefig(drawn, dpi=dpi)
    kept, now = imread(project_root() / "book" / place), imread(drawn)
    assert kept.shape == now.shape
    assert np.mean(np.abs(kept - now)) < 0.01
    assert (project_root() / "book" / place).stat().st_size < 200_000


def test_pictures_of_pages_keep_their_looks_in_a_third_of_the_bytes(tmp_path):
    figure, (lines, field) = plotting.panels(2)
    for power in range(5):
        lines.plot(np.linspace(0, 1, 50), np.linspace(0, 1, 50) ** power, label=str(power))
    lines.legend()
    field.imshow(np.random.default_rng(0).normal(size=(60, 60)), cmap=plotting.MAP)
    figure.savefig(tmp_path / "all.png", dpi=200)
    whole = (tmp_path / "all.png").read_bytes()
    (tmp_path / "few.png").write_bytes(plotting.in_few_colours(whole))
    assert len((tmp_path / "few.png").read_bytes()) < 0.5 * len(whole)
    before, after = (imread(tmp_path / f"{name}.png")[..., :3] for name in ("all", "few"))
    assert before.shape == after.shape
    assert np.abs(before - after).max() < 0.1
    white = np.all(before == 1, axis=2)
    assert white.mean() > 0.3
    assert np.all(after[white] == 1)
    again = plotting.in_few_colours((tmp_path / "few.png").read_bytes())
    assert len(again) <= len((tmp_path / "few.png").read_bytes())


# --- colours ---

# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
SIGHT = {
    "full": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
# hue-rotate(180deg) of the CSS filter effects, on encoded RGB.
TURNED = np.array([[-0.574, 1.430, 0.144], [0.426, 0.430, 0.144], [0.426, 1.430, -0.856]])
DARK_GROUND = np.full(3, 0x12 / 255)
WHITE = np.ones(3)


def linear(rgb):
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(light):
    """Ottosson's perceptual coordinates of linear RGB."""
    cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    opponent = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return opponent @ np.cbrt(np.clip(cones @ light, 0, None))


def on_dark_page(rgb):
    """The colour that the style sheet makes of one: inverted, hue turned back, screened on the ground."""
    shown = np.clip(TURNED @ (1 - rgb), 0, 1)
    return 1 - (1 - shown) * (1 - DARK_GROUND)


def contrast(one, other):
    low, high = sorted(linear(rgb) @ [0.2126, 0.7152, 0.0722] for rgb in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("shown", [np.array, on_dark_page])
def test_colours_differ_for_every_eye(sight, shown):
    """0.02 is about what an eye tells apart side by side; lines that are apart need several times that."""
    seen = [np.clip(SIGHT[sight] @ linear(shown(np.array(to_rgb(color)))), 0, 1) for color in (*PALETTE, INK)]
    distances = [np.linalg.norm(oklab(a) - oklab(b)) for a, b in combinations(seen, 2)]
    assert min(distances) > 0.09


def test_colours_that_only_a_full_eye_tells_apart_are_found():
    red, green = (linear(np.array(to_rgb(color))) for color in ("#c44e30", "#6c7a30"))
    distance = [np.linalg.norm(oklab(SIGHT[s] @ red) - oklab(SIGHT[s] @ green)) for s in SIGHT]
    assert distance[0] > 0.15
    assert distance[2] < 0.09


@pytest.mark.parametrize("color", [*PALETTE, INK])
def test_colours_stand_out_from_the_ground(color):
    rgb = np.array(to_rgb(color))
    assert contrast(rgb, WHITE) >= 3
    assert contrast(on_dark_page(rgb), DARK_GROUND) >= 3


def test_the_style_sheet_turns_figures_as_simulated():
    sheet = (project_root() / "book" / "_static_src" / "custom.css").read_text(encoding="utf-8")
    assert "filter: invert(1) hue-rotate(180deg);" in sheet
    assert "mix-blend-mode: screen;" in sheet


def test_explorers_have_the_colours_of_the_figures():
    sheet = (project_root() / "book/_static_src/explorer/explorer.css").read_text(encoding="utf-8")
    light = sheet[: sheet.index("[data-theme")]
    for name in re.findall(r"--am-(\w+):", light):
        assert f"--am-{name}: {getattr(plotting, name.upper())};" in light
    roles = sheet[sheet.index("/* Roles") : sheet.index(".am-legend")]
    assert roles.count("\n.am-") == 9
    for role in re.findall(r"^\.am-([\w-]+)[ ,]", roles, re.MULTILINE):
        (colour,) = re.findall(rf"\.am-{role}\b[^{{}}]*\{{ --am-colour: var\(--am-(\w+)\)", roles)
        name = "AT" if role == "critical" else role.replace("-", "_").upper()
        assert getattr(plotting, name) == getattr(plotting, colour.upper()), role


def test_series_differ_in_colour_and_marker():
    looks = [look for _, look in series(range(len(PALETTE) + 1))]
    assert [look["color"] for look in looks[:-1]] == list(PALETTE)
    assert len({look["marker"] for look in looks}) == len(set(MARKERS)) == len(PALETTE)
    assert looks[-1] == looks[0]


NAMES_OF_COLOURS = {"BLUE", "ORANGE", "GREEN", "PINK", "SKY", "GREY", "PALETTE"}
SOURCES = [
    *sorted((project_root() / "notebooks").glob("*.py")),
    project_root() / "src/assocmem/book/overview.py",
    *sorted((project_root() / "src/assocmem/book").glob("*_figures.py")),
]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_colours_come_from_their_roles(path):
    """No colour is written out in a figure, nor hidden in a format such as k--, nor taken by its name."""
    raw = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword) and re.search("color|^m[ef]c$", node.arg or ""):
            value = node.value
            if isinstance(value, ast.Constant) and value.value != "none":
                raw.append(value.value)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("plot", "loglog", "semilogy"):
            texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
            raw += [text for text in texts if re.match("[bgrcmykw]|C[0-9]", str(text))]
        if isinstance(node, ast.Dict):
            keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
            named = [v for k, v in zip(keys, node.values, strict=True) if k == "color"]
            raw += [v.value for v in named if isinstance(v, ast.Constant)]
        if isinstance(node, ast.Constant) and re.fullmatch("#[0-9a-fA-F]{6}", str(node.value)):
            raw.append(node.value)
        if isinstance(node, ast.ImportFrom) and node.module == "assocmem.book.plotting":
            raw += [alias.name for alias in node.names if alias.name in NAMES_OF_COLOURS]
    assert not raw
