// A write rule at a ratio, with noise on its queries and few bits for its entries: what stored instances retrieve
// along the ratio, beside the constant of the rule, and what is left of them under noise and with few bits.
// needs: widgets/data/write_rules.js

(function (scope) {
  "use strict";
  const { widgets, writeRules: data } = scope, { element, say } = widgets;
  const LONGEST = 12, MOST_BITS = 8;

  // Between two numbers of a list of [x, y], and at its ends beyond them.
  function between(list, x, part = 1) {
    const i = list.findIndex((point) => point[0] >= x);
    if (i < 0) return list[list.length - 1][part];
    if (i === 0) return list[0][part];
    const [before, after] = [list[i - 1], list[i]], t = (x - before[0]) / (after[0] - before[0]);
    return before[part] + t * (after[part] - before[part]);
  }

  // The constant of a memory under noise of the spread s: of outer products, equal signals, and the best clips.
  function noisyConstant(memory, s) {
    if (memory === 0) return 8 * (1 + s * s);
    const equal = 4 * (1 + 2 * s * s);
    return memory === 1 || s > Math.SQRT1_2 ? equal : 2 * (1 + Math.SQRT2 * s) ** 2;
  }

  // Noise on queries and what rounding amounts to are independent.
  const spread = (noise, bits) => Math.hypot(noise, bits < MOST_BITS ? data.noise[bits - 1] : 0);

  // Shares along the ratio: of all keys, of the oldest tenth and of the newest.
  function along(rule, n) {
    const rows = data.shares.find((row) => row.n === n), found = rows.rules[rule.name];
    return found && found.map((shares) => rows.ratio.map((ratio, i) => [ratio, shares[i]]));
  }

  // The stored memories whose ratio is nearest.
  const nearest = (ratio) => data.survival.reduce((a, b) => (Math.abs(Math.log(b.ratio / ratio)) < Math.abs(Math.log(a.ratio / ratio)) ? b : a));

  scope.rule_at_ratio = { between, noisyConstant, spread, along, nearest };

  const SIZES = data.shares.map((row) => row.n), percent = (x) => `${say(100 * x, 3)} %`;

  // A list to choose from in place of the slider of a setting that counts from one.
  function choice(place, setting, label, names) {
    const id = `rule_at_ratio-${setting}-choice`, options = names.map((name, at) => element("option", { value: at + 1 }, name));
    const select = element("select", { id }, ...options);
    select.addEventListener("change", () => place.set({ [setting]: Number(select.value) }));
    place.instead(setting, element("div", { class: "am-setting" }, element("label", { for: id }, label), select));
    return (at) => { select.value = at; };
  }

  const at = (name) => 1 + data.rules.findIndex((rule) => rule.name === name);

  widgets.widget("rule_at_ratio", {
    settings: {
      rule: { label: "rule", value: at("even_clip"), low: 1, high: data.rules.length, integer: true },
      size: { label: "pairs n", value: 1, low: 1, high: SIZES.length, integer: true },
      ratio: { label: "ratio d²/(n log n)", value: 4, low: 0.5, high: LONGEST, log: true },
      noise: { label: "noise s on queries", value: 0.3, low: 0, high: 2 },
      bits: { label: "bits of an entry", value: 3, low: 1, high: MOST_BITS, integer: true },
    },
    presets: [
      { name: "linear attention", values: { rule: at("outer_products") }, keep: ["size", "ratio", "noise", "bits"] },
      { name: "delta rule", values: { rule: at("delta") }, keep: ["size", "ratio", "noise", "bits"] },
      { name: "trained to the end", values: { rule: at("cross_entropy") }, keep: ["size", "ratio", "noise", "bits"] },
      { name: "one bit", values: { bits: 1 }, keep: ["rule", "size", "ratio"] },
    ],
    explorer: ({ size, ratio }) => {
      const n = SIZES[size - 1];
      return ["explore_capacity", { n, d: Math.round(Math.sqrt(ratio * n * Math.log(n))) }];
    },
    build(place) {
      const chooseRule = choice(place, "rule", "rule", data.rules.map((rule) => rule.label));
      const chooseSize = choice(place, "size", "pairs n", SIZES.map(String));
      const shares = place.chart({ title: "Keys retrieved, with exact queries", xLabel: "ratio d²/(n log n)", yLabel: "share", xLog: true });
      const noisy = place.chart({ title: "Left from noisy queries, 300 pairs", xLabel: "noise s", yLabel: "share" });
      const coarse = place.chart({ title: "Left with few bits, 300 pairs", xLabel: "bits of an entry", yLabel: "share" });

      function drawHarm(chart, list, size, x, words) {
        const text = list ? `Of the memories of this rule ${percent(between(list, size))} of the keys are left at ${words}.` : `This rule was not tried at ${words}.`;
        chart.draw({
          x, y: [0, 1.05], text,
          marks: list ? [
            { line: list.map(([s, , told]) => [s, told]), class: "am-limit am-dashed", name: "told from the scores" },
            { dots: list.map(([s, left]) => [s, left]), class: "am-tail-average", name: "measured" },
            { dots: [[size, between(list, size)]], class: "am-here", big: true, name: "the settings" },
          ] : [],
        });
        return list ? between(list, size) : null;
      }

      return ({ rule: number, size, ratio, noise, bits }) => {
        const rule = data.rules[number - 1], n = SIZES[size - 1], found = along(rule, n), plain = along(data.rules[0], n);
        chooseRule(number);
        chooseSize(size);
        const s = spread(noise, bits), harmed = rule.memory === null ? null : noisyConstant(rule.memory, s);
        const all = found ? between(found[0], ratio) : null;
        shares.draw({
          x: [0.5, LONGEST], y: [0, 1.05],
          text: found ? `${rule.label} retrieves ${percent(all)} of the keys at the ratio ${say(ratio, 3)}.` : `${rule.label} has no stored shares for ${n} pairs.`,
          marks: [
            { line: plain[0], class: "am-outer-products am-dashed", name: "outer products" },
            ...(found ? [
              { line: found[0], class: "am-tail-average", name: rule.label },
              { line: found[1], class: "am-tail-average am-dotted", name: "the tenth that came first" },
              { dots: [[ratio, all]], class: "am-here", big: true, name: "the settings" },
            ] : []),
            ...(rule.constant ? [{ down: rule.constant, class: "am-limit", name: `its constant, ${say(rule.constant, 3)}, ${rule.status}` }] : []),
            ...(harmed && harmed <= LONGEST ? [{ down: harmed, class: "am-signal am-dashed", name: `with noise and bits, ${say(harmed, 3)}` }] : []),
          ],
        });
        const stored = nearest(ratio), list = (harm) => (stored[harm][rule.name] || []).length ? stored[harm][rule.name] : null;
        const byNoise = list("query") && [[0, between(list("bits"), MOST_BITS), 1], ...list("query")];
        if (byNoise) byNoise[0][2] = byNoise[0][1];
        const left = drawHarm(noisy, byNoise, noise, [-0.05, 2.05], `the noise ${say(noise, 2)}`);
        const few = drawHarm(coarse, list("bits"), bits, [0.7, MOST_BITS + 0.3], `${bits} bits`);
        Object.assign(place.host.dataset, { retrieved: all, constant: harmed ?? "", noisy: left ?? "", rounded: few ?? "" });
        const need = rule.needs.find(([pairs]) => pairs === n);
        place.say(
          `${rule.label}, ${n} pairs: ` + (found ? `${percent(all)} of the keys at the ratio ${say(ratio, 3)}` : "no stored shares") +
          (need ? `, all of them from ${say(need[1], 3)} on. ` : ". ") +
          (harmed ? `For many pairs the noise and the bits raise the constant from ${say(rule.constant, 3)} to ${say(harmed, 3)}. ` : "") +
          (left === null ? "What it survives was not tried."
            : `With 300 pairs at the ratio ${say(stored.ratio, 2)} the noise leaves ${percent(left)}, and ${bits} bits leave ${percent(few)}.`));
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
