// What a full memory keeps of infinitely many facts whose frequencies follow Zipf's law: the share kept by rank, and
// the error against the dimension, for training with weights p^gamma, for outer products with the best weights, and
// for the most frequent facts alone. The numbers that take a saddle point are stored, the rest is closed form.
// needs: widgets/data/kept_by_frequency.js

(function (scope) {
  "use strict";
  const { theory, widgets, keptByFrequency: data } = scope, { say } = widgets;
  const { ndtr, density, root } = theory, KAPPA = data.kappa, CHANCE = 1 - ndtr(KAPPA);
  const LOW = -16, HIGH = 16, STEPS = 800; // of log z, over which sums are taken
  const D = [10, 1e6];

  // An integral over log z.
  function added(f) {
    const step = (HIGH - LOW) / STEPS;
    let sum = 0;
    for (let k = 0; k < STEPS; k++) sum += step * f(Math.exp(LOW + (k + 0.5) * step));
    return sum;
  }

  // Between two entries of a list of [x, y], with log y linear in x.
  function between(list, x) {
    const i = Math.min(Math.max(list.findIndex((point) => point[0] >= x), 1), list.length - 1);
    const [[a, p], [b, q]] = [list[i - 1], list[i]], t = (x - a) / (b - a);
    return Math.exp((1 - t) * Math.log(p) + t * Math.log(q));
  }

  // Share of the facts of rank z d^2 that training with weights p^gamma keeps.
  const trained = (s, gamma) => {
    const u = s * gamma, reach = between(data.reach, u);
    return (z) => ndtr(reach * z ** -u - KAPPA);
  };

  // The best outer products: signal over noise t at a price x^-s, and the unit of x at which the squares of all t add
  // up to one for each entry. (One root, as the average of the best is less than two spreads away.)
  function strength(x, s) {
    const price = x ** -s;
    return root((t) => price * density(KAPPA - t) - t, 0, KAPPA + 40);
  }
  function written(s) {
    const unit = added((x) => x * strength(x, s) ** 2);
    return (z) => ndtr(strength(z * unit, s) - KAPPA);
  }

  const alone = (z) => (z < data.critical ? 1 : CHANCE);

  // The constant of the error: the mean of z^-s over what is lost.
  function constant(s, kept) {
    const last = Math.exp(HIGH);
    return added((z) => z ** (1 - s) * (1 - kept(z))) + (1 - kept(last)) * (last ** (1 - s) / (s - 1));
  }
  const aloneConstant = (s) => (ndtr(KAPPA) * data.critical ** (1 - s)) / (s - 1);

  // Riemann's zeta function, by Euler and Maclaurin.
  function zeta(s) {
    const n = 20;
    let sum = n ** (1 - s) / (s - 1) + 0.5 * n ** -s + (s * n ** (-s - 1)) / 12 - (s * (s + 1) * (s + 2) * n ** (-s - 3)) / 720;
    for (let k = 1; k < n; k++) sum += k ** -s;
    return sum;
  }

  scope.kept_by_frequency = { trained, written, constant, aloneConstant, zeta };

  const percent = (x) => `${say(100 * x, 3)} %`;

  widgets.widget("kept_by_frequency", {
    settings: {
      s: { label: "exponent s", value: 1.5, low: 1.1, high: 3 },
      gamma: { label: "power γ of the frequencies", value: 1, low: 1, high: 4 },
      d: { label: "dimension d", value: 100, low: D[0], high: D[1], log: true, integer: true },
    },
    presets: [
      { name: "the frequencies as they are", values: { gamma: 1 }, keep: ["s", "d"] },
      { name: "squared", values: { gamma: 2 }, keep: ["s", "d"] },
      { name: "nearly the words of a language", values: { s: 1.1 }, keep: ["gamma", "d"] },
      { name: "few frequent facts", values: { s: 2.5 }, keep: ["gamma", "d"] },
    ],
    explorer: () => ["explore_phase", { r: 0.15, load: Math.round(1000 * data.critical) / 1000 }], // the facts that fit
    build(place) {
      const shares = place.chart({ title: "Kept, by rank", xLabel: "rank over d²", yLabel: "share kept", xLog: true });
      const errors = place.chart({ title: "Questions answered wrongly", xLabel: "dimension d", yLabel: "error", xLog: true, yLog: true });
      const ranks = Array.from({ length: 200 }, (_, i) => 10 ** (-3 + (5 * i) / 199));
      return ({ s, gamma, d }) => {
        const own = trained(s, gamma), hebb = written(s), whole = zeta(s), power = -2 * (s - 1);
        const curve = (kept) => ranks.map((z) => [z, kept(z)]);
        const error = (c) => (x) => (c / whole) * x ** power;
        const all = { own: constant(s, own), plain: constant(s, trained(s, 1)), hebb: constant(s, hebb), alone: aloneConstant(s) };
        const at = (c) => error(c)(d), line = (c) => D.map((x) => [x, error(c)(x)]);
        const half = ranks.find((z) => own(z) < 0.5), words = `${percent(at(all.own))} of the questions are answered wrongly at d = ${say(d, 6)}`;
        shares.draw({
          x: [1e-3, 100], y: [0, 1.05],
          text: `With weights p to the ${say(gamma, 3)} half of the facts of rank ${say(half, 2)} d² are kept.`,
          marks: [
            { line: curve(alone), class: "am-limit", name: "the most frequent alone" },
            { line: curve(hebb), class: "am-outer-products am-dashed", name: "outer products, best weights" },
            { line: curve(trained(s, 1)), class: "am-tail-average am-dotted", name: "trained, w = p" },
            { line: curve(own), class: "am-tail-average", name: `trained, w = p^${say(gamma, 3)}` },
          ],
        });
        errors.draw({
          x: D, y: [error(all.own)(D[1]) / 3, 1],
          text: words,
          marks: [
            { line: line(all.alone), class: "am-limit", name: "the most frequent alone" },
            { line: line(all.hebb), class: "am-outer-products am-dashed", name: "outer products, best weights" },
            { line: line(all.own), class: "am-tail-average", name: `trained, w = p^${say(gamma, 3)}` },
            { dots: [[d, at(all.own)]], class: "am-here", big: true, name: "the settings" },
          ],
        });
        Object.assign(place.host.dataset, { error: at(all.own), alone: at(all.alone), hebb: at(all.hebb), constant: all.own });
        const times = (c) => say(c / all.alone, 3);
        place.say(
          `Trained with weights p^${say(gamma, 3)}, ${words}: ${times(all.own)} times as many as with the most frequent alone, ` +
          `where weights p have ${times(all.plain)} times and the best outer products ${times(all.hebb)} times as many. ` +
          `Twice the dimension divides all of them by ${say(2 ** -power, 3)}.`);
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
