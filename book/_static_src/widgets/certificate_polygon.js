// A certificate in two dimensions: memories that only turn and stretch the plane have two numbers, so that each
// comparison is a vector in a plane. Either all of them lie in an open half plane, or weights close a polygon.
// needs: explorer/draws.js

(function (scope) {
  "use strict";
  const { draws, widgets } = scope, { element, say } = widgets;
  const NEAR = 1e-9; // an angle below which two directions count as one
  const RADIANS = Math.PI / 180;

  const cross = (p, q) => p[0] * q[1] - p[1] * q[0];
  const dot = (p, q) => p[0] * q[0] + p[1] * q[1];
  const turned = ([x, y], angle) => [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle)];
  const unit = (p) => p.map((x) => x / Math.hypot(...p));

  // Targets and keys: at the corners of a regular polygon (draw 0) or Gaussian. The first key is turned.
  function instance(n, draw, degrees) {
    const numbers = draw ? draws.normals(draw, 4 * n) : [];
    const corner = (i) => turned([0, 1], (2 * Math.PI * i) / n), taken = (i) => [numbers[2 * i], numbers[2 * i + 1]];
    const targets = Array.from({ length: n }, (_, i) => (draw ? taken(2 * i) : corner(i)));
    const keys = Array.from({ length: n }, (_, i) => (draw ? taken(2 * i + 1) : corner(i)));
    keys[0] = turned(keys[0], degrees * RADIANS);
    return { targets, keys };
  }

  // With W = [[a, -b], [b, a]] the comparison of key i with target j is the product of (a, b) and a vector.
  function comparisons({ targets, keys }) {
    const found = [];
    for (const [i, key] of keys.entries()) {
      for (const [j, other] of targets.entries()) {
        const gap = [targets[i][0] - other[0], targets[i][1] - other[1]];
        if (i !== j) found.push({ i, j, at: [dot(gap, key), -cross(gap, key)] });
      }
    }
    return found;
  }

  // Either the middle of an open half plane that has all vectors, or weights under which two or three cancel.
  function decide(vectors) {
    const order = vectors.map((at, k) => ({ k, at, way: unit(at), angle: Math.atan2(at[1], at[0]) })).sort((p, q) => p.angle - q.angle);
    const next = (i) => (i + 1 < order.length ? order[i + 1].angle : order[0].angle + 2 * Math.PI), gaps = order.map((p, i) => next(i) - p.angle);
    const widest = Math.max(...gaps), after = order[(gaps.indexOf(widest) + 1) % order.length];
    if (widest > Math.PI + NEAR) {
      const spread = 2 * Math.PI - widest, angle = after.angle + spread / 2;
      return { memory: [Math.cos(angle), Math.sin(angle)], spread };
    }
    const weights = vectors.map(() => 0);
    let best = { room: NEAR }, nearest = { miss: Infinity };
    for (let p = 0; p < order.length; p++) {
      for (let q = p + 1; q < order.length; q++) {
        const [P, Q] = [order[p], order[q]], third = cross(P.way, Q.way);
        if (dot(P.way, Q.way) < 0 && Math.abs(third) < nearest.miss) nearest = { miss: Math.abs(third), terms: [[P, 1], [Q, 1]] };
        for (let r = q + 1; r < order.length; r++) {
          const R = order[r], first = cross(Q.way, R.way), second = cross(R.way, P.way), room = Math.min(first, second, third);
          if (room > best.room) best = { room, terms: [[P, first], [Q, second], [R, third]] };
        }
      }
    }
    const terms = (best.terms || nearest.terms).map(([p, size]) => [p, size / Math.hypot(...p.at)]);
    const total = terms.reduce((sum, [, size]) => sum + size, 0);
    for (const [p, size] of terms) weights[p.k] = size / total;
    return { weights };
  }

  // Vectors with weights, in the order of their directions, head to tail from the origin.
  function headToTail(vectors, weights) {
    const edges = vectors.map((at, k) => ({ k, step: at.map((x) => x * weights[k]) })).filter(({ k }) => weights[k] > 0);
    edges.sort((p, q) => Math.atan2(p.step[1], p.step[0]) - Math.atan2(q.step[1], q.step[0]));
    let at = [0, 0];
    return edges.map(({ k, step }) => {
      const from = at;
      at = [from[0] + step[0], from[1] + step[1]];
      return { k, from, to: at };
    });
  }

  scope.certificate_polygon = { instance, comparisons, decide, headToTail };

  // --- pictures ----------------------------------------------------------------------------------------------

  const SIZE = 200, MARGIN = 22; // units of a picture
  const small = (i) => String(i + 1).replace(/./g, (c) => "₀₁₂₃₄₅₆₇₈₉"[c]);

  // A square picture of a part of the plane: `fit` takes the points that it has to hold.
  function picture(host, title) {
    const svg = element("svg:svg", { role: "img", class: "am-chart", viewBox: `0 0 ${SIZE} ${SIZE}` });
    svg.style.cssText = "max-width: 14rem; margin: 0 auto";
    const legend = element("ul", { class: "am-legend" });
    host.append(element("figure", { class: "am-figure" }, element("figcaption", {}, title), svg, legend));
    let X, Y, taken = []; // of the words
    const put = (...nodes) => svg.append(...nodes);
    const line = (from, to, look, width = 2) => {
      const made = element("svg:line", { class: `am-line ${look}`, x1: X(from), y1: Y(from), x2: X(to), y2: Y(to) });
      made.style.strokeWidth = width;
      put(made);
    };
    return {
      svg,
      begin(points, text) {
        const ends = [0, 1].map((c) => [Math.min(...points.map((p) => p[c])), Math.max(...points.map((p) => p[c]))]);
        const scale = (SIZE - 2 * MARGIN) / Math.max(1e-12, ...ends.map(([low, high]) => high - low));
        const place = (c) => (p) => SIZE / 2 + (c ? -1 : 1) * scale * (p[c] - (ends[c][0] + ends[c][1]) / 2);
        [X, Y] = [place(0), place(1)];
        svg.replaceChildren();
        taken = [];
        svg.setAttribute("aria-label", `${title}. ${text}`);
      },
      line,
      dot: (at, look, r = 4) => put(element("svg:circle", { class: `am-dot ${look}`, cx: X(at), cy: Y(at), r })),
      arrow(from, to, look, width = 2) {
        const end = [X(to), Y(to)], along = [X(to) - X(from), Y(to) - Y(from)], way = unit(along), head = Math.min(5 + width, Math.hypot(...along));
        const wing = (side) => [end[0] - head * (way[0] - side * 0.4 * way[1]), end[1] - head * (way[1] + side * 0.4 * way[0])].join(" ");
        line(from, to, look, width);
        put(element("svg:path", { class: `am-dot ${look}`, d: `M${end.join(" ")}L${wing(1)}L${wing(-1)}Z` }));
      },
      // Words beside a point, away from another one: where they do not run into others, or not at all.
      words(at, text, away, distance = 11) {
        const way = unit([X(at) - X(away) || 1e-9, Y(at) - Y(away)]), room = 3.4 * text.length;
        const inside = (x, least) => Math.min(SIZE - least, Math.max(least, x));
        for (const [further, pushed] of [[1, 2], [1.7, 2], [1, SIZE]]) { // at last as far into the frame as it takes
          for (const aside of [0, 0.7, -0.7, 1.4, -1.4]) {
            const to = turned(way, aside).map((x, c) => [X, Y][c](at) + further * distance * x), x = inside(to[0], room), y = inside(to[1], 10);
            if (Math.hypot(x - to[0], y - to[1]) > pushed) continue;
            if (taken.some((other) => Math.abs(x - other.x) < room + other.room && Math.abs(y - other.y) < 13)) continue;
            taken.push({ x, y, room });
            put(element("svg:text", { class: "am-label", x, y: y + 4, "text-anchor": "middle" }, text));
            return;
          }
        }
      },
      // What lines (and dots) of a look are.
      explain(...entries) {
        legend.replaceChildren(...entries.filter(Boolean).map(([look, words, dot]) => {
          const shape = dot ? element("svg:circle", { class: `am-dot ${look}`, cx: 12, cy: 6, r: 4 })
            : element("svg:line", { class: `am-line ${look}`, x1: 1, x2: 23, y1: 6, y2: 6 });
          return widgets.explained(shape, words);
        }));
      },
    };
  }

  widgets.widget("certificate_polygon", {
    settings: {
      turn: { label: "turn of key 1, in degrees", value: 150, low: -180, high: 180 },
      n: { label: "pairs n", value: 3, low: 2, high: 6, integer: true },
      draw: { label: "draw (0: a regular instance)", value: 0, low: 0, high: 999, integer: true },
    },
    presets: [
      { name: "turned a little less", values: { turn: 100 } },
      { name: "three random pairs", values: { draw: 676, turn: 0 } },
      { name: "five random pairs", values: { draw: 517, n: 5, turn: 0 } },
    ],
    explorer: () => ["explore_capacity", { n: 60, d: 14, r: 0 }],
    build(place) {
      place.body.style.gridTemplateColumns = "repeat(auto-fit, minmax(min(100%, 12rem), 1fr))";
      const plane = picture(place.body, "Targets and keys"), fan = picture(place.body, "Comparisons"), path = picture(place.body, "Head to tail");
      // key 1 can be dragged, too
      let now = {};
      const drag = (event) => {
        if (!(event.buttons & 1)) return;
        const box = plane.svg.getBoundingClientRect(), [x, y] = instance(now.n, now.draw, 0).keys[0];
        const wanted = Math.atan2(box.top + box.height / 2 - event.clientY, event.clientX - box.left - box.width / 2) - Math.atan2(y, x);
        place.set({ turn: Math.round(Math.atan2(Math.sin(wanted), Math.cos(wanted)) / RADIANS) });
      };
      plane.svg.classList.add("am-map");
      for (const kind of ["pointerdown", "pointermove"]) plane.svg.addEventListener(kind, drag);
      return (values) => {
        const { turn, n, draw } = (now = values);
        const given = instance(n, draw, turn), all = comparisons(given), vectors = all.map(({ at }) => at);
        const { memory, spread, weights } = decide(vectors), origin = [0, 0];
        const name = ({ i, j }) => `A${small(i)}${small(j)}`, look = (i) => (i ? "am-competitor" : "am-signal");
        const margins = memory && vectors.map((at) => dot(at, memory)), degrees = memory && Math.atan2(memory[1], memory[0]) / RADIANS;
        Object.assign(place.host.dataset, { verdict: memory ? "memory" : "weights", degrees: memory ? degrees : "", weights: JSON.stringify(weights || []) });

        // targets and keys, and the sectors in which a target is the furthest
        const longest = Math.max(...given.targets.map((p) => Math.hypot(...p))), targets = given.targets.map((p) => p.map((x) => x / longest));
        const drawn = memory ? "as the memory turns them, and pale as they were" : "from their centre";
        plane.begin([[-1, -1], [1, 1]], `${n} targets as points, ${n} keys as arrows ${drawn}.`);
        for (const [i, p] of targets.entries()) {
          for (const q of targets.slice(i + 1)) {
            const across = unit([q[1] - p[1], p[0] - q[0]]);
            for (const way of [across, across.map((x) => -x)]) {
              if (targets.every((u) => dot(u, way) <= dot(p, way) + NEAR)) plane.line(origin, way.map((x) => 1.1 * x), "am-limit am-dotted", 1);
            }
          }
        }
        for (const [i, key] of given.keys.entries()) {
          const tip = unit(key).map((x) => 0.68 * x), led = memory && turned(tip, degrees * RADIANS);
          plane.arrow(origin, tip, `${look(i)}${memory ? " am-pale" : ""}`, memory ? 1 : 2);
          if (led) plane.arrow(origin, led, look(i));
          plane.words((led || tip).map((x) => 0.8 * x), `v${small(i)}`, turned(led || tip, 0.5).map((x) => 0.75 * x), 10);
          plane.dot(targets[i], look(i));
          plane.words(targets[i], `u${small(i)}`, origin);
        }

        plane.explain(["am-signal", "key v₁ and target u₁"], ["am-competitor", "the other pairs"],
          memory && ["am-pale", "pale arrows: keys as given; the others are as W turns them"], ["am-limit am-dotted", "borders of the sectors in which a target is the furthest"]);

        // comparisons from the origin
        const reach = Math.max(...vectors.map((p) => Math.hypot(...p))), shown = vectors.map((p) => p.map((x) => x / reach));
        const sides = memory ? "all on one side of a line, with the memory as an arrow in their middle" : "on all sides; those of the certificate are thick";
        const tip = memory && memory.map((x) => 0.6 * x), edge = memory && [memory[1], -memory[0]];
        fan.begin([origin, ...shown, ...(memory ? [tip, edge, edge.map((x) => -x)] : [])], `${all.length} vectors from one point, ${sides}.`);
        if (memory) fan.line(edge, edge.map((x) => -x), "am-limit am-dashed", 1);
        if (memory) (fan.arrow(origin, tip, "am-any-memory", 4), fan.words(tip, "W", origin, 12));
        const counts = (k) => weights && weights[k] > 0;
        for (const [k, p] of shown.entries()) fan.arrow(origin, p, look(all[k].i) + (memory || counts(k) ? "" : " am-pale"), counts(k) ? 3.5 : 1.5);
        const named = shown.map((p, k) => ({ p, k })).filter(({ k }) => n < 4 || counts(k)), apart = (p, q) => Math.hypot(p[0] - q[0], p[1] - q[1]);
        for (const { p, k } of named) {
          const same = named.filter((other) => apart(p, other.p) < NEAR); // comparisons may coincide
          if (same[0].k === k) fan.words(p, same.map((other) => name(all[other.k])).join(" = "), origin);
        }
        fan.explain(["am-signal", "comparisons of key 1"], ["am-competitor", "comparisons of other keys"],
          memory ? ["am-any-memory", "W: the memory, as (a, b)"] : ["am-competitor am-pale", "thin and pale: not used in the certificate"],
          memory && ["am-limit am-dashed", "edge of the half plane around W"]);

        // the same head to tail: with the weights, or equal ones where none help
        const edges = headToTail(vectors, weights || vectors.map(() => 1 / vectors.length)), end = edges[edges.length - 1].to;
        const corners = [origin, ...edges.map((edge) => edge.to)], middle = [0, 1].map((c) => corners.reduce((sum, p) => sum + p[c] / corners.length, 0));
        path.begin(corners, weights ? "The weighted comparisons end where they began." : "All comparisons, with equal weights, end elsewhere than they began.");
        for (const edge of edges) {
          path.arrow(edge.from, edge.to, look(all[edge.k].i), 2.5);
          const half = edge.from.map((x, c) => 0.5 * (x + edge.to[c])), side = unit([edge.to[1] - edge.from[1], edge.from[0] - edge.to[0]]);
          const out = dot([half[0] - middle[0], half[1] - middle[1]], side) < 0 ? 1 : -1;
          if (n < 4 || weights) path.words(half, name(all[edge.k]), half.map((x, c) => x + out * side[c]));
        }
        if (memory) path.line(end, origin, "am-limit am-dotted", 1);
        path.dot(origin, "", 4.5);
        path.explain(["", "start", true], weights ? ["am-competitor", "comparisons times their weights"] : ["am-competitor", "all comparisons, with equal weights"],
          memory && ["am-limit am-dotted", "from the end to the start: with a memory no weights close the path"]);

        const used = all.map((c, k) => ({ ...c, weight: weights ? weights[k] : 0 })).filter(({ weight }) => weight > 0);
        if (memory) {
          const does = Math.abs(degrees) < 1e-6 ? "leave every key as it is" : `turn every key by ${say(degrees, 3)} degrees`;
          place.say(`All ${all.length} comparisons lie within ${say(spread / RADIANS, 3)} degrees, less than a half turn. So there is a memory: ` +
            `${does}, and each has the largest score with its own target. ` +
            `The worst margin is ${say(Math.min(...margins), 3)}.`);
        } else {
          const parts = used.map((c) => `${say(c.weight, 3)} on ${name(c)}`);
          place.say(`No half plane has all ${all.length} comparisons. The weights ${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]} cancel: ` +
            `${used.length === 2 ? "one goes there and the other comes back" : "the polygon closes"}. ` +
            "Whatever the turn and the stretch, these margins add up to zero with these weights, so not all are positive: there is no such memory.");
        }
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
