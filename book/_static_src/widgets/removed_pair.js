// A pair that is removed from a trained memory: how far other scores move, and three predictions of that.
// needs: explorer/draws.js explorer/linear.js
// All is computed here, by Newton's method on a small instance: the objective, its Hessians and the coupled
// step are those of assocmem.removal, and a browser test compares the two.

(function (scope) {
  "use strict";
  const { theory, widgets } = scope, { say, element } = widgets, { zeros, dot, cholesky, forward, backward } = scope.linear;
  const D = 12, N = 36, TAIL = 0.2, SEED = 28;

  // --- vectors, and matrices as rows ---------------------------------------------------------------------------

  const plus = (X, Y, scale = 1) => X.map((x, i) => x + scale * Y[i]);
  const norm = (X) => Math.sqrt(dot(X, X));

  // Normal vectors of squared length about one.
  function gaussianPairs(n, d, seed) {
    const uniform = scope.draws.uniform(seed);
    const vector = () => Float64Array.from({ length: d }, () => theory.ndtri(uniform()) / Math.sqrt(d));
    return { d, n, U: Array.from({ length: n }, vector), V: Array.from({ length: n }, vector) };
  }

  // (W v_i)_a for a memory that is kept row by row.
  const times = (W, v) => Float64Array.from(v, (_, a) => dot(W.subarray(a * v.length, (a + 1) * v.length), v));
  function addOuter(W, scale, u, v) {
    for (let a = 0; a < u.length; a++) for (let b = 0; b < v.length; b++) W[a * v.length + b] += scale * u[a] * v[b];
  }
  function combine(vectors, weights) {
    const total = zeros(vectors[0].length);
    vectors.forEach((x, j) => { for (let a = 0; a < x.length; a++) total[a] += weights[j] * x[a]; });
    return total;
  }

  // What the inverse of a positive matrix makes of a right side.
  function factor(H, size) {
    const L = cholesky(H, size);
    return (right) => backward(L, size, forward(L, size, Float64Array.from(right)));
  }

  // --- the objective -------------------------------------------------------------------------------------------

  // Tail weights that add up to k, by Newton's method for the threshold between two bounds; the smoothed average.
  function tail(scores, own, k, beta) {
    let low = Math.min(...scores) - 40 / beta, high = Math.max(...scores) + 40 / beta, mu = 0.5 * (low + high);
    const q = zeros(scores.length);
    for (let step = 0; step < 200; step++) {
      let total = 0, slope = 0;
      for (let j = 0; j < q.length; j++) {
        q[j] = j === own ? 0 : theory.expit(beta * (scores[j] - mu));
        total += q[j];
        slope += beta * q[j] * (1 - q[j]);
      }
      if (total > k) low = mu; else high = mu;
      let next = mu + (total - k) / slope;
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      const moved = Math.abs(next - mu);
      mu = next;
      if (moved <= 1e-15 * Math.max(1, Math.abs(mu))) break;
    }
    let t = mu;
    for (let j = 0; j < q.length; j++) if (j !== own) t += theory.softplus(beta * (scores[j] - mu)) / (beta * k);
    return { mu, t, p: q.map((x) => x / k), c: q.map((x) => (beta * x * (1 - x)) / k) };
  }

  // The summed objective at a memory: `problem` has the pairs, k, beta and the ridge of the sum.
  function evaluate(problem, W) {
    const { pairs: { d, U, V }, k, beta, ridge } = problem;
    const gradient = W.map((x) => ridge * x), keys = V.map((v, i) => {
      const answer = times(W, v), scores = Float64Array.from(U, (u) => dot(u, answer));
      const found = tail(scores, i, k, beta), m = scores[i] - found.t, a = theory.expit(-m);
      const g = plus(U[i], combine(U, found.p), -1); // gradient of the margin in W v_i
      addOuter(gradient, -a, g, v);
      return { ...found, scores, m, a, b: a * (1 - a), g };
    });
    return { problem, W, d, keys, gradient, value: keys.reduce((total, { m }) => total + theory.softplus(-m), 0.5 * ridge * dot(W, W)) };
  }

  // A Hessian there: thresholds follow the memory ("profiled"), or are held still.
  function hessian({ problem: { pairs: { U, V }, ridge }, d, keys }, profiled) {
    const size = d * d, H = zeros(size * size);
    keys.forEach(({ a, b, c, g }, i) => {
      const A = zeros(size), v = V[i];
      c.forEach((x, j) => addOuter(A, a * x, U[j], U[j]));
      const mean = combine(U, c), total = c.reduce((x, y) => x + y, 0);
      if (profiled && total > 0) addOuter(A, -a / total, mean, mean);
      addOuter(A, b, g, g);
      for (let r = 0; r < d; r++) for (let s = 0; s < d; s++) for (let p = 0; p <= r; p++) {
        const x = A[r * d + p] * v[s], row = (r * d + s) * size + p * d;
        for (let q = 0; q < d; q++) H[row + q] += x * v[q];
      }
    });
    for (let i = 0; i < size; i++) H[i * size + i] += ridge;
    return H;
  }

  // The minimiser near a memory: Newton's method, with shorter steps where the whole one does not lower the value.
  // It stops after each step, so that it can be computed in pieces; `finish` computes all of them.
  function* minimise(problem, W) {
    let at = evaluate(problem, W);
    const enough = 1e-13 * problem.pairs.n;
    for (let count = 0; count < 60 && norm(at.gradient) > enough; count++) {
      const step = factor(hessian(at, true), at.d * at.d)(at.gradient), slope = dot(step, at.gradient);
      let share = 1, next = evaluate(problem, plus(at.W, step, -1));
      while (share > 1e-6 && next.value > at.value - 1e-4 * share * slope + 1e-12 * Math.abs(at.value)) {
        share /= 2;
        next = evaluate(problem, plus(at.W, step, -share));
      }
      if (norm(next.gradient) >= norm(at.gradient) && slope < 1e-18 * Math.abs(at.value)) break; // as far as rounding allows
      at = next;
      yield;
    }
    return at;
  }

  function problem(pairs, { r = TAIL, beta, ridge }) {
    return { pairs, k: Math.ceil(r * (pairs.n - 1) - 1e-9), beta, ridge: (ridge * pairs.n) / pairs.d ** 2 };
  }

  const drop = (list, h) => list.filter((_, i) => i !== h);
  function without(whole, h) {
    const { d, n, U, V } = whole.pairs;
    return { ...whole, pairs: { d, n: n - 1, U: drop(U, h), V: drop(V, h) } };
  }

  // The motion of the memory when pair h comes back, and three predictions of it; in pieces as well.
  function* remove(full, h) {
    const { problem: whole, d } = full, { U, V } = whole.pairs;
    const rest = yield* minimise(without(whole, h), full.W), seen = evaluate(whole, rest.W), key = seen.keys[h];
    const profiled = factor(hessian(rest, true), d * d);
    yield;
    const still = factor(hessian(rest, false), d * d);
    yield;
    const X = zeros(d * d), plain = zeros(d * d);
    addOuter(X, 1, key.g, V[h]);
    addOuter(plain, 1, U[h], V[h]);
    // The force of target h on the others: their gradients with it, less those without.
    const push = plus(seen.gradient, rest.gradient, -1);
    addOuter(push, key.a, key.g, V[h]);
    const B = profiled(push).map((x) => -x), response = profiled(X);
    const theta = dot(X, response), zeta = dot(X, B), a = theory.expit(-theory.prox(key.m + zeta, theta));
    return {
      rest, a, theta, zeta, motion: plus(full.W, rest.W, -1),
      predictions: [response.map((x) => a * x), still(plain).map((x) => full.keys[h].a * x), plus(B, response, a)],
    };
  }

  function finish(work) {
    for (;;) {
      const { done, value } = work.next();
      if (done) return value;
    }
  }

  // Of a motion of the memory: how far the scores of target h and the signals move, over the other keys.
  function scoresMoved({ U, V }, h, motion) {
    const answers = V.map((v) => times(motion, v));
    return { target: drop(answers.map((x) => dot(U[h], x)), h), signals: drop(answers.map((x, i) => dot(U[i], x)), h) };
  }

  scope.removed_pair = { gaussianPairs, problem, evaluate, hessian, minimise, without, remove, finish, scoresMoved };

  // --- the picture ---------------------------------------------------------------------------------------------

  const NAMES = ["classical prediction", "rank-one reduction", "coupled step"];
  const CHOICES = ["classical", "rank-one", "coupled"];
  const PIECE = 10; // milliseconds of work between two looks at what else there is to do

  // Radio buttons for the predictions in place of the slider of their setting.
  function choices(place) {
    const buttons = CHOICES.map((_, at) => element("input", { type: "radio", name: "removed_pair-choice", value: at + 1 }));
    buttons.forEach((input, at) => input.addEventListener("change", () => place.set({ prediction: at + 1 })));
    const labels = buttons.map((input, at) => element("label", {}, input, ` ${CHOICES[at]}`));
    place.instead("prediction", element("fieldset", { class: "am-choices" }, element("legend", {}, "prediction"), ...labels));
    return (prediction) => buttons.forEach((input, at) => { input.checked = at + 1 === prediction; });
  }

  widgets.widget("removed_pair", {
    settings: {
      h: { label: "removed pair h", value: 1, low: 1, high: N, integer: true },
      prediction: { label: "prediction", value: 1, low: 1, high: 3, integer: true },
      beta: { label: "sharpness β", value: 3, low: 0.3, high: 10, log: true },
      ridge: { label: "ridge λ", value: 0.5, low: 0.05, high: 10, log: true },
    },
    presets: [
      { name: "less smoothing", values: { beta: 10 }, keep: ["prediction"] },
      { name: "more ridge", values: { ridge: 5 }, keep: ["prediction"] },
    ],
    explorer: ({ beta, ridge }) => ["explore_ridge", { ridge, load: N / D ** 2, r: TAIL, beta }],
    build(place) {
      const pairs = gaussianPairs(N, D, SEED), choose = choices(place);
      const both = place.chart({ title: "How far other scores move", xLabel: "predicted", yLabel: "actual" });
      const missing = place.chart({ title: "What is missed for target h", xLabel: "score before the pair came", yLabel: "actual less predicted" });
      let full = null, key = "", found = new Map(), working = null, last = null, whole = null;
      const first = new Promise((done) => (whole = done));

      // What is asked for last, one piece after another; what is found stays until sharpness or ridge change.
      function* work({ h, beta, ridge }) {
        const wanted = `${beta} ${ridge}`;
        if (key !== wanted) {
          full = yield* minimise(problem(pairs, { beta, ridge }), zeros(D * D)); // not from what was before, so that links show the same
          [key, found] = [wanted, new Map()];
        }
        if (!found.has(h)) found.set(h, yield* remove(full, h - 1));
        return found.get(h);
      }
      function go(mine, wanted, again) {
        if (working !== mine) return;
        const until = performance.now() + PIECE;
        do {
          const { done, value } = mine.next();
          if (done) {
            last = [value, wanted];
            place.host.dataset.state = "done";
            show(...last);
            return void whole();
          }
        } while (performance.now() < until);
        if (last && !again) show(...last, wanted); // the picture before, pale, until there is a new one
        setTimeout(go, 0, mine, wanted, true);
      }

      function show(removal, { h, prediction }, coming) {
        const { U, V } = pairs, { rest, motion, predictions } = removal;
        const actual = scoresMoved(pairs, h - 1, motion), guess = scoresMoved(pairs, h - 1, predictions[prediction - 1]);
        const before = drop(V.map((v) => dot(U[h - 1], times(rest.W, v))), h - 1);
        const left = actual.target.map((x, i) => x - guess.target[i]);
        const missed = predictions.map((X) => norm(plus(motion, X, -1)) / norm(motion));
        const slope = (of) => dot(of, before) / dot(before, before);
        const most = (...lists) => 1.08 * Math.max(1e-3, ...lists.flat().map(Math.abs));
        const name = NAMES[prediction - 1], span = most(actual.target, actual.signals, guess.target, guess.signals);
        const [wide, high] = [most(before), most(actual.target, left)];
        const share = (x) => `${say(100 * x, 2)}%`, pale = coming ? " am-pale" : "";
        const about = coming ? `Pair ${coming.h} at sharpness ${say(coming.beta)} and ridge ${say(coming.ridge)} is on its way. ` : "";
        both.draw({
          x: [-span, span], y: [-span, span],
          marks: [
            { line: [[-span, -span], [span, span]], class: "am-limit", name: `as the ${name} has it` },
            { dots: guess.target.map((x, i) => [x, actual.target[i]]), class: `am-competitor${pale}`, name: "scores of target h" },
            { dots: guess.signals.map((x, i) => [x, actual.signals[i]]), class: `am-signal${pale}`, name: "signals of other keys" },
          ],
          text: `${about}Motions of the scores of target h and of the signals of the ${N - 1} other keys, actual against predicted by the ${name}.`,
        });
        missing.draw({
          x: [-wide, wide], y: [-high, high],
          marks: [
            { across: 0, class: "am-limit", name: "nothing missed" },
            { dots: before.map((x, i) => [x, left[i]]), class: `am-competitor${pale}`, name: "other keys" },
            { line: [-wide, wide].map((x) => [x, slope(left) * x]), class: `am-tail-average am-dashed${pale}`, name: `what is missed per unit of score: ${say(slope(left), 2)}` },
          ],
          text: `${about}What the ${name} misses of the motion changes with the score before by ${say(slope(left), 2)} per unit.`,
        });
        if (coming) return;
        Object.assign(place.host.dataset, { missed: JSON.stringify(missed), slope: slope(actual.target), predicted: slope(guess.target) });
        place.say(`Pair ${h} moves the memory by ${say(norm(motion), 3)}; the memory itself has the length ${say(norm(full.W), 3)}. ` +
          `Of that motion the classical prediction misses ${share(missed[0])}, the rank-one reduction ${share(missed[1])} ` +
          `and the coupled step ${share(missed[2])}. ` +
          `For each unit of score that it had before, target ${h} is ${pushed(slope(actual.target))}; ` +
          `by the ${name} it is ${pushed(slope(guess.target))}.` +
          (slope(actual.target) * slope(guess.target) < 0 ? " In so small a memory even the sign of a prediction can be wrong." : ""));
      }
      const pushed = (x) => (x < 0 ? `pushed down by ${say(-x, 2)}` : `drawn up by ${say(x, 2)}`);

      return (values) => {
        const wanted = { ...values };
        choose(values.prediction);
        place.host.dataset.state = "on its way";
        working = work(wanted);
        go(working, wanted);
        return first;
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
