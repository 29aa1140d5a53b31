// What one key asks: its column of scores is moved into the cone in which the signal reaches the average of its
// k best competitors, at the least expense in squared change.
// needs: explorer/tables.js explorer/capacity.js explorer/draws.js

(function (scope) {
  "use strict";
  const { capacity, draws, widgets } = scope, { say, whole, curve } = widgets;
  const MOST_SHOWN = 40, SIGNALS = [-4, 4];

  // Competitors of a draw, best first.
  const rivals = (n, draw) => draws.normals(draw, n - 1).sort((p, q) => q - p);
  const tailOf = (n, r) => Math.max(1, Math.min(n - 1, Math.ceil(r * (n - 1) - 1e-9)));

  // The projection of a signal and its competitors (best first): the first `above` fall by `gap`, the next `tied`
  // to the level `low`, and the signal rises by k gaps. As the gap grows from zero its two ends pass one competitor
  // after the other; where it stops follows from one linear equation.
  function project(signal, x, k) {
    const m = x.length, sums = [0];
    for (const value of x) sums.push(sums[sums.length - 1] + value);
    let above = k, tied = 0, gap = Math.max(0, (sums[k] - k * signal) / (k * (k + 1))), low = x[k - 1] - gap;
    if (k < m && gap > x[k - 1] - x[k]) {
      for ([above, tied] = [k - 1, 2]; ; tied++) {
        const top = sums[above], rest = sums[above + tied] - top, more = k - above;
        gap = ((more * rest) / tied + top - k * signal) / ((more * more) / tied + above + k * k);
        low = (rest - more * gap) / tied;
        const passes = above > 0 && low + gap > x[above - 1], catches = above + tied < m && low < x[above + tied];
        if (!passes && !catches) break;
        // of two, the one that the growing gap meets first
        const atTop = passes ? (tied * x[above - 1] - rest) / (tied - more) : Infinity;
        const atBottom = catches ? (rest - tied * x[above + tied]) / more : Infinity;
        if (atTop <= atBottom) above--;
      }
    }
    const falls = x.map((value) => Math.min(Math.max(value - low, 0), gap));
    return {
      low, high: low + gap, gap, falls, signal: signal + k * gap, after: x.map((value, j) => value - falls[j]),
      pool: tied || (gap > 0 ? 1 : 0), distance: (k * gap) ** 2 + falls.reduce((sum, f) => sum + f * f, 0),
    };
  }

  scope.cone_projection = { rivals, project };

  widgets.widget("cone_projection", {
    settings: {
      signal: { label: "signal g₁", value: -1, low: SIGNALS[0], high: SIGNALS[1] },
      n: { label: "pairs n", value: 30, low: 3, high: 200, log: true, integer: true },
      r: { label: "tail fraction r (0: first place)", value: 0, low: 0, high: 1 },
      draw: { label: "draw of the competitors", value: 1, low: 1, high: 999, integer: true },
    },
    presets: [
      { name: "the signal leads", values: { signal: 3 } },
      { name: "a low signal", values: { signal: -3 } },
      { name: "a longer tail", values: { r: 0.25 } },
    ],
    explorer({ n, r }) {
      const size = Math.max(20, n);
      return ["explore_capacity", { n: size, r, d: Math.max(2, Math.round(Math.sqrt(size * capacity.pooled(size, tailOf(size, r))[0]))) }];
    },
    build(place) {
      const column = place.chart({ title: "Scores of the key, before (pale) and after", xLabel: "the signal, then competitors, best first", yLabel: "score" });
      const bill = place.chart({ title: "Pool and squared distance, as the signal moves", xLabel: "signal g₁", yLabel: "M; squared distance" });
      return ({ signal, n, r, draw }) => {
        const x = rivals(n, draw), k = tailOf(n, r), found = project(signal, x, k), [mean] = capacity.pooled(n, k);
        const { low, high, gap, after, pool, distance } = found, first = k === 1;
        Object.assign(place.host.dataset, { pool, distance, level: found.signal, mean });
        const shown = Math.min(n - 1, MOST_SHOWN, Math.max(12, 2 * x.filter((value) => value > low).length));
        const list = x.slice(0, shown), best = shown < n - 1 ? `, the best ${shown} of ${n - 1}` : "";
        const lowest = Math.min(signal, list[shown - 1], after[shown - 1]), highest = Math.max(x[0], found.signal), room = 0.06 * (highest - lowest);
        const level = say(found.signal, 3), many = (count) => (count === 1 ? "one competitor" : `${whole(count)} competitors`);
        const dropped = x.filter((value) => value > high).length;
        const demand = first ? "leads" : `is above the average of its ${whole(k)} best competitors`;
        const falling = pool > 1
          ? `Of the competitors, ${dropped === 1 ? "1 falls" : `${dropped || "none"} fall`} by ${say(gap, 3)}, and ${pool} to the lower level. Only these are counted: M = ${pool}.`
          : `These ${whole(k)} all fall by ${say(gap, 3)}, and none is tied at the lower level, which counts as M = 1.`;
        const average = `the average of its ${whole(k)} best competitors after the change. ${falling}`;
        const reached = first ? `where it meets ${many(pool)}: M = ${pool}.` : average;
        const what = gap === 0
          ? `The signal ${demand} already: nothing moves, M = 0, and the distance is zero.`
          : `The signal rises from ${say(signal, 3)} to ${level}, ${reached} The squared distance is ${say(distance, 3)}.`;
        column.draw({
          x: [0, shown + 2], y: [lowest - room, highest + room],
          marks: [
            { dots: list.map((value, j) => [j + 2, value]), class: "am-competitor am-pale" },
            { dots: list.map((value, j) => [j + 2, after[j], after[j], value]), class: "am-competitor", name: `competitors${best}` },
            { dots: [[1, signal]], big: true, class: "am-signal am-pale" },
            { dots: [[1, found.signal, signal, found.signal]], big: true, class: "am-signal", name: "signal" },
            ...(gap > 0 ? [{ across: low, class: "am-limit", name: first ? "level t" : "lower level a" }] : []),
            ...(gap > 0 && !first ? [{ across: high, class: "am-limit am-dashed", name: "upper level b" }] : []),
          ],
          text: what,
        });
        const steps = curve((g) => project(g, x, k), ...SIGNALS, 160);
        const jumps = steps.slice(1).flatMap(([to, { pool: next }], i) => {
          let [from, { pool: before }] = steps[i];
          if (before === next) return [];
          for (let halved = 0; halved < 12; halved++) {
            const half = (from + to) / 2;
            if (project(half, x, k).pool === before) from = half; else to = half;
          }
          return [[to, before], [to, next]];
        });
        bill.draw({
          x: SIGNALS, y: [0, 1.05 * Math.max(...steps.map(([, s]) => Math.max(s.pool, s.distance)))],
          marks: [
            { line: steps.map(([g, s]) => [g, s.distance]), class: "am-signal", name: "squared distance" },
            { line: [[SIGNALS[0], steps[0][1].pool], ...jumps, [SIGNALS[1], steps[steps.length - 1][1].pool]], class: "am-competitor", name: "M" },
            { across: mean, class: "am-limit am-dashed", name: `mean of both, over all columns: ${say(mean, 3)}` },
            { dots: [[signal, distance]], class: "am-signal" },
            { dots: [[signal, pool]], class: "am-competitor" },
          ],
          text: `Both fall to zero as the signal rises; M in steps, the squared distance smoothly.`,
        });
        place.say(`${what} Over all columns of ${whole(n)} Gaussian scores both have the mean ${say(mean, 3)}.`);
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
