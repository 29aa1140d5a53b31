"""The map of the proof: which statement rests on which, drawn as boxes in layers.

What a statement rests on stands above it. An arrow that follows from two others is left out, and all lines
that leave a box share one trunk, so that few lines cross. The drawing is SVG, whose colours come from the
styles of the book.
"""

import html
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from textwrap import wrap

from assocmem.book.claims import statements

FIRST_PLACE = frozenset(
    ("correlation_memory", "sparse_repair", "top1_threshold", "dual_certificate", "finite_size_scaling")
)
"""The sections of the book on top-1 retrieval: their statements have a map of their own."""
WIDEST = 4
"""Boxes of one layer at most: so many fit beside each other on a page."""
BOX = (146, 56)
"""Width and height of a box, in pixels."""
GAP, TALL = 10, 40
"""Between what stands side by side and between two layers, in pixels."""
LETTERS = 23
"""Of a title on one line of a box."""
LOOKS = {
    "holds": "map-holds",
    "holds with limits": "map-limits",
    "does not hold": "map-fails",
    "not yet": "map-notyet",
}
"""The class of each verdict in the styles of the book."""


@dataclass(frozen=True)
class Place:
    """Where a box or a line goes through a layer.

    Attributes
    ----------
    name : str
        Id of a statement.
    layer : int
        From 0 at the top.
    x, y : float
        Middle of its upper edge.
    """

    name: str
    layer: int
    x: float
    y: float


def users(uses: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Which statements use each statement, the reverse of what they use.

    Parameters
    ----------
    uses : mapping
        Ids that each id uses.

    Returns
    -------
    dict
        Lists of ids by id, in the order of `uses`.
    """
    found = {name: [] for name in uses}
    for name, used in uses.items():
        for other in used:
            found[other].append(name)
    return found


def layers(uses: Mapping[str, Sequence[str]], widest: int = WIDEST) -> dict[str, int]:
    """A layer for each statement, below everything that it uses.

    Layers are filled from the top, with those statements first from which the longest way leads down; then
    each goes down as far as its users and the room in the layers allow.

    Parameters
    ----------
    uses : mapping
        Ids that each id uses, all of them keys.
    widest : int
        Statements of one layer at most.

    Returns
    -------
    dict
        Numbers from 0 by id.

    Raises
    ------
    ValueError
        If statements use each other in a circle.
    """
    below, far = users(uses), {}

    def depth(name, way=()):
        if name in way:
            raise ValueError(f"a circle of statements that use each other: {' -> '.join([*way, name])}")
        if name not in far:
            far[name] = 1 + max((depth(other, (*way, name)) for other in below[name]), default=-1)
        return far[name]

    waiting = sorted(uses, key=lambda name: -depth(name))
    found, layer = {}, 0
    while waiting:
        ready = [name for name in waiting if all(found.get(other, layer) < layer for other in uses[name])]
        found |= dict.fromkeys(ready[:widest], layer)
        waiting = [name for name in waiting if name not in found]
        layer += 1
    ends = [name for name in uses if uses[name] and not below[name]]
    for name in ends:
        del found[name]
    for name in sorted(found, key=lambda name: -found[name]):
        users_at = [found[other] for other in below[name] if other in found]
        free = [n for n in range(found[name], min(users_at, default=0)) if _room(found, n, widest)]
        found[name] = max(free, default=found[name])
    for name in ends:
        first = 1 + max(found[other] for other in uses[name])
        found[name] = next(n for n in count(first) if _room(found, n, widest))
    return found


def _room(found, layer, widest):
    return sum(at == layer for at in found.values()) < widest


def needed(uses: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The arrows that do not follow from others.

    Parameters
    ----------
    uses : mapping
        Ids that each id uses, without circles.

    Returns
    -------
    dict
        As `uses`, without what is also used by something else that is used.
    """
    behind = {}

    def all_behind(name):
        if name not in behind:
            behind[name] = set(uses[name]).union(*(all_behind(other) for other in uses[name]))
        return behind[name]

    return {
        name: [u for u in used if not any(u in all_behind(other) for other in used)]
        for name, used in uses.items()
    }


def places(uses: Mapping[str, Sequence[str]]) -> tuple[list[Place], list[Place]]:
    """Where the boxes stand and where their lines pass other layers.

    Parameters
    ----------
    uses : mapping
        Ids that each id uses.

    Returns
    -------
    boxes, passages : list of Place
    """
    layer, arrows = layers(uses), needed(uses)
    rows, links = _rows_and_links(layer, arrows)
    rows = _untangled(rows, links)
    half = {key: BOX[0] / 2 if layer[key[0]] == key[1] else 0.0 for row in rows for key in row}
    x = _spread(rows, links, half)
    left = min((x[key] - half[key] for key in x), default=0) - GAP / 2
    found = {key: Place(*key, x[key] - left, GAP / 2 + key[1] * (BOX[1] + TALL)) for key in x}
    boxes = [found[name, layer[name]] for name in uses]
    return boxes, [place for (name, row), place in found.items() if layer[name] != row]


def _rows_and_links(layer, arrows):
    """The keys (statement, layer) of all rows, and pairs of keys of neighbouring rows with a line."""
    last = dict.fromkeys(layer, -1)
    for name, used in arrows.items():
        for other in used:
            last[other] = max(last[other], layer[name] - 1)
    rows = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    links = []
    for name, first in layer.items():
        rows[first].append((name, first))
        for n in range(first + 1, last[name] + 1):
            rows[n].append((name, n))
            links.append(((name, n - 1), (name, n)))
    links += [((other, layer[n] - 1), (n, layer[n])) for n, used in arrows.items() for other in used]
    return rows, links


def _neighbours(links):
    up, down = defaultdict(list), defaultdict(list)
    for above, below in links:
        down[above].append(below)
        up[below].append(above)
    return up, down


def _untangled(rows, links):
    """The rows in the order, of those that sweeps up and down come by, whose lines cross the least."""
    sides = _neighbours(links)
    best, least = rows, _crossings(rows, links)
    for sweep in range(40):
        rows = [list(row) for row in rows]
        downwards = sweep % 2 == 0
        near = sides[0] if downwards else sides[1]
        at = {key: i / max(len(row) - 1, 1) for row in rows for i, key in enumerate(row)}
        for row in rows if downwards else rows[::-1]:
            now = {
                key: sum(at[o] for o in near[key]) / len(near[key]) if near[key] else at[key] for key in row
            }
            row.sort(key=now.get)
            at |= {key: i / max(len(row) - 1, 1) for i, key in enumerate(row)}
        crossings = _crossings(rows, links)
        if crossings < least:
            best, least = rows, crossings
    return best


def _crossings(rows, links):
    at = {key: i for row in rows for i, key in enumerate(row)}
    total = 0
    for n in range(len(rows)):
        own = [(at[a], at[b]) for a, b in links if a[1] == n]
        total += sum((a - c) * (b - d) < 0 for i, (a, b) in enumerate(own) for c, d in own[:i])
    return total


def _spread(rows, links, half):
    """Places from left to right: near what a key is linked with, in the order of its row, apart."""
    up, down = _neighbours(links)
    apart = [[half[a] + half[b] + GAP for a, b in pairwise(row)] for row in rows]
    lengths = [sum(gaps) + half[row[0]] + half[row[-1]] for row, gaps in zip(rows, apart, strict=True)]
    width = max(lengths, default=0)
    x = {}
    for row in rows:
        x |= {key: width * (i + 0.5) / len(row) for i, key in enumerate(row)}
    spaced = list(zip(rows, apart, strict=True))
    for sweep in range(60):
        near = up if sweep % 2 == 0 else down
        for row, gaps in spaced if sweep % 2 == 0 else spaced[::-1]:
            around = [near[key] or up[key] + down[key] for key in row]
            wish = [
                sum(x[o] for o in a) / len(a) if a else x[key] for key, a in zip(row, around, strict=True)
            ]
            x |= dict(zip(row, _apart(wish, gaps, half[row[0]], width - half[row[-1]]), strict=True))
    return x


def _apart(wish, gaps, least, most):
    """The points nearest to the wished ones, by squares, between two bounds, with such gaps at least."""
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    blocks = []  # mean of the wishes without offsets, and how many: blocks in the wrong order are pooled
    for value, offset in zip(wish, offsets, strict=True):
        blocks.append([value - offset, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, m), (b, n) = blocks[-2:]
            blocks[-2:] = [[(m * a + n * b) / (m + n), m + n]]
    flat = [min(max(mean, least), most - offsets[-1]) for mean, size in blocks for _ in range(size)]
    return [value + offset for value, offset in zip(flat, offsets, strict=True)]


# --- the drawing ----------------------------------------------------------------------------------


def drawing(entries: Sequence[Mapping], caption: str) -> str:
    """A map of some entries of the ledger.

    Parameters
    ----------
    entries : sequence of mapping
        From `assocmem.book.ledger.ledger`; arrows to and from others are left out.
    caption : str
        What the map shows, for those who do not see it.

    Returns
    -------
    str
        An SVG element on lines of its own, none of them empty, for a page beside that of the ledger.
    """
    names = [entry["id"] for entry in entries]
    uses = {name: [u for u in statements()[name].uses if u in set(names)] for name in names}
    boxes, passages = places(uses)
    width = max([p.x + BOX[0] / 2 for p in boxes] + [p.x for p in passages], default=0) + GAP / 2
    height = max((p.y for p in boxes), default=0) + BOX[1] + GAP / 2
    tip = f"tip-of-{names[0]}" if names else "tip"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="proof-map" role="group" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" aria-label="{html.escape(caption)}">',
        f'<defs><marker id="{tip}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0,0.5 L8,4 L0,7.5 z"/></marker></defs>',
        *_lines(boxes, passages, needed(uses), tip),
        *(_box(place, entry) for place, entry in zip(boxes, entries, strict=True)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _lines(boxes, passages, arrows, tip):
    """The trunks, each from a box through the layers that it passes, and their branches with tips."""
    box = {place.name: place for place in boxes}
    at = {(place.name, place.layer): place for place in [*boxes, *passages]}
    paths = []
    for place in passages:
        before = at[place.name, place.layer - 1]
        through = _curve(before.x, before.y + BOX[1], place.x, place.y)
        paths.append(f'<path class="trunk" d="{through} V{place.y + BOX[1]:.1f}"/>')
    for name, used in arrows.items():
        here = box[name]
        origins = sorted((at[other, here.layer - 1] for other in used), key=lambda p: p.x)
        step = min(18, BOX[0] / (len(origins) + 1))
        for i, origin in enumerate(origins):
            x = here.x + (i - (len(origins) - 1) / 2) * step
            way = _curve(origin.x, origin.y + BOX[1], x, here.y)
            paths.append(
                f'<path class="branch" data-from="{origin.name}" data-to="{name}" d="{way}" '
                f'marker-end="url(#{tip})"/>'
            )
    return paths


def _curve(x, y, to_x, to_y):
    middle = (y + to_y) / 2
    return f"M{x:.1f},{y:.1f} C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{to_y:.1f}"


def _box(place, entry):
    statement = statements()[place.name]
    words = [*wrap(statement.title, LETTERS)]
    if len(words) > 2:
        second = words[1] if len(words[1]) <= LETTERS - 2 else words[1].rpartition(" ")[0]
        words = [words[0], f"{second} …"]
    text = [(statement.name, "name"), *((line, "title") for line in words)]
    first = place.y + BOX[1] / 2 - 7.5 * (len(text) - 1) + 4
    rows = "".join(
        f'<text class="{look}" x="{place.x:.1f}" y="{first + 15 * i:.1f}">{html.escape(line)}</text>'
        for i, (line, look) in enumerate(text)
    )
    whole = html.escape(f"{statement.name}: {statement.title} ({entry['verdict']})")
    return (
        f'<a href="ledger.html#{place.name}" class="{LOOKS[entry["verdict"]]}" aria-label="{whole}">'
        f"<title>{whole}</title>"
        f'<rect x="{place.x - BOX[0] / 2:.1f}" y="{place.y:.1f}" width="{BOX[0]}" height="{BOX[1]}" rx="7"/>'
        f"{rows}</a>"
    )


def proof_map(entries: Sequence[Mapping]) -> str:
    """Both maps of the proof, each with its title, for a page beside that of the ledger.

    Parameters
    ----------
    entries : sequence of mapping
        All of them, from `assocmem.book.ledger.ledger`; what is beyond the paper is no part of its proof.

    Returns
    -------
    str
        MyST Markdown.
    """
    entries = [entry for entry in entries if not entry["beyond"]]
    halves = {
        "Top-1 retrieval": [e for e in entries if e["section"] in FIRST_PLACE],
        "Tail-average learning": [e for e in entries if e["section"] not in FIRST_PLACE],
    }
    parts = []
    for title, own in halves.items():
        caption = f"Map of the proof, {title}: boxes are statements, lines lead down to what uses them."
        box = f'<div class="proof-map-frame" tabindex="0" role="region" aria-label="{title}">'
        parts.append(f'<p class="proof-map-title">{title}</p>\n{box}\n{drawing(own, caption)}</div>\n')
    return "\n".join([*parts, _across(halves)])


def _across(halves):
    """A sentence on what is used from the other map."""
    home = {entry["id"]: title for title, own in halves.items() for entry in own}
    found = [
        f"[{statements()[name].called}](#{name}) uses [{statements()[other].called}](#{other})"
        for name in home
        for other in statements()[name].uses
        if home[other] != home[name]
    ]
    return f"Between the two maps: {'; '.join(found)}.\n" if found else ""
