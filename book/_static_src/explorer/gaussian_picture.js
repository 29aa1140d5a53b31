// Explicit memories in the Gaussian picture, where only log n enters: the sum of outer products and its sparse
// repair, as assocmem.theory.outer_products and assocmem.theory.repair have them. Browser tests compare.

(function (scope) {
  "use strict";
  const { theory } = scope, { logSum } = theory;
  const HALF_LOG_2PI = 0.5 * Math.log(2 * Math.PI);

  // --- the logarithm of the normal law, fast ---------------------------------------------------------------

  // A repair takes a hundred thousand values of log Phi. They come from Taylor polynomials around a grid: with
  // h = phi / Phi the derivative of log Phi is h, and that of h is -h (x + h). Farther down, the series for
  // large arguments has all digits.
  const LEFT = -40, RIGHT = 4, STEP = 1 / 16, ORDER = 8;
  let taylor = null;
  function table() {
    const points = Math.round((RIGHT - LEFT) / STEP) + 1;
    taylor = new Float64Array(points * ORDER);
    for (let i = 0; i < points; i++) {
      const x = LEFT + i * STEP, value = theory.logNdtr(x);
      const h = [Math.exp(-0.5 * x * x - HALF_LOG_2PI - value)], g = [x + h[0]];
      for (let k = 0; k + 2 < ORDER; k++) {
        let sum = 0;
        for (let j = 0; j <= k; j++) sum += h[j] * g[k - j];
        h.push(-sum / (k + 1));
        g.push(h[k + 1] + (k === 0 ? 1 : 0));
      }
      taylor[i * ORDER] = value;
      for (let k = 1; k < ORDER; k++) taylor[i * ORDER + k] = h[k - 1] / k;
    }
  }

  function logNdtr(x) {
    if (x > RIGHT) return Math.log1p(-Math.exp(logNdtr(-x)));
    if (x < LEFT) {
      const u = 1 / (x * x);
      return -0.5 * x * x - HALF_LOG_2PI - Math.log(-x) + Math.log1p(-u * (1 - u * (3 - u * (15 - 105 * u))));
    }
    if (!taylor) table();
    const i = Math.round((x - LEFT) / STEP), e = x - (LEFT + i * STEP), at = i * ORDER;
    const t = taylor;
    return t[at] + e * (t[at + 1] + e * (t[at + 2] + e * (t[at + 3] + e * (t[at + 4] + e * (t[at + 5] + e * (t[at + 6] + e * t[at + 7]))))));
  }

  // The x with log Phi(x) = y, by Newton's method, which is monotone after its first step.
  function ndtriExp(y) {
    let x = y < -2 ? -Math.sqrt(-2 * y) : 0;
    for (let i = 0; i < 100; i++) {
      const value = logNdtr(x), step = (y - value) / Math.exp(-0.5 * x * x - HALF_LOG_2PI - value);
      x += step;
      if (Math.abs(step) <= 1e-15 * Math.max(1, Math.abs(x))) break;
    }
    return x;
  }

  // log(1 - exp(-rate)) of the logarithm of the rate.
  const logSome = (logRate) => (logRate < -30 ? logRate : Math.log(-Math.expm1(-Math.exp(Math.min(logRate, 30)))));

  const between = (low, high, count) => Array.from({ length: count }, (_, i) => low + ((high - low) * i) / (count - 1));

  // --- the sum of outer products ---------------------------------------------------------------------------

  // log phi(z) [1 - Phi(x)^n], where the signal of a key is z and stands x above zero, in units of competitors.
  function logFailureDensity(z, x, logN) {
    const tail = logNdtr(-x);
    const rate = logN + (tail < -30 ? tail : x > 0 ? Math.log(-Math.log1p(-Math.exp(tail))) : Math.log(-logNdtr(x)));
    return logSome(rate) - 0.5 * z * z - HALF_LOG_2PI;
  }

  // Logarithm of the expected number of failing keys whose signals are 1 + own Z, with competitors rival Z.
  // The sum over equal steps is exact to all digits here, since the integrand is smooth and vanishes at both ends.
  function logFailing(logN, own, rival) {
    const f = (z) => logFailureDensity(z, (1 + own * z) / rival, logN);
    const places = between(-1 / own - 9, 9, 200), coarse = places.map(f), top = coarse.reduce((a, b) => Math.max(a, b));
    const [first, last] = [coarse.findIndex((y) => y > top - 45), coarse.findLastIndex((y) => y > top - 45)];
    const low = places[Math.max(first - 1, 0)], high = places[Math.min(last + 1, 199)];
    const step = 0.5 / Math.sqrt(2 * logN) / Math.max(1, own / rival), count = Math.ceil((high - low) / step);
    const values = Array.from({ length: count + 1 }, (_, i) => f(low + i * step));
    return logN + Math.log(step) + logSum(values);
  }

  // The same for the ratio c = d^2 / (n log n), when all scores have the variance n / d^2.
  function logOuterFailures(logN, ratio) {
    const spread = 1 / Math.sqrt(ratio * logN);
    return logFailing(logN, spread, spread);
  }

  // The first terms, for large n, of the ratio at which a share of all memories retrieves everything.
  function expansion(logN, share = 0.5) {
    const failures = Math.log(1 / share);
    return 8 - (2 * Math.log(logN) + 4 * Math.log(4 * Math.sqrt(2 * Math.PI) * failures)) / logN;
  }

  // That ratio itself, by the secant method in a function that is nearly linear.
  function ratioAt(logN, share = 0.5) {
    const miss = (c) => logOuterFailures(logN, c) - Math.log(Math.log(1 / share));
    let before = Math.max(1, expansion(logN, share)), missed = miss(before), c = Math.max(0.5, before + (4 * missed) / logN);
    for (let i = 0; i < 60; i++) {
      const value = miss(c), step = value === missed ? 0 : (-value * (c - before)) / (value - missed);
      [before, missed] = [c, value];
      c = Math.max(0.05, c + step);
      if (Math.abs(c - before) <= 1e-12) break;
    }
    return c;
  }

  // How far the largest of n standard normal variables rises half of the time, in units of sqrt(log n).
  const rise = (logN) => -ndtriExp(logN > 50 ? Math.log(Math.log(2)) - logN : Math.log(-Math.expm1(-Math.log(2) * Math.exp(-logN)))) / Math.sqrt(logN);

  // --- sparse repair ---------------------------------------------------------------------------------------

  const NO_NOISE = 1e-6, SMALL_TAIL = 8, IMPOSSIBLE = -1e7;
  const LOG_E = between(-20, 4, 61), LOG_E_WEIGHTS = LOG_E.map((e) => e - Math.exp(e) + Math.log(0.4));
  const RULE = theory.legendre(16);

  // Log of P(A < best, A + B > level) for independent normal A, B of spreads sigma and tau.
  const inner = new Float64Array(16);
  function logCrossing(best, level, sigma, tau) {
    const total = Math.hypot(sigma, tau), width = (sigma * tau) / total;
    const centre = Math.min(level * (sigma / total) ** 2, best);
    const low = centre - 8 * width, half = 0.5 * (Math.min(best, centre + 8 * width) - low);
    let largest = -1e300, sum = 0;
    for (let i = 0; i < 16; i++) {
      const a = low + half + half * RULE.nodes[i];
      inner[i] = logNdtr(-(level - a) / tau) - 0.5 * (a / sigma) ** 2;
      if (inner[i] > largest) largest = inner[i];
    }
    for (let i = 0; i < 16; i++) if (inner[i] > largest - 36) sum += RULE.weights[i] * Math.exp(inner[i] - largest);
    return largest + Math.log(sum) + Math.log(half) - HALF_LOG_2PI - Math.log(sigma);
  }

  // Log probability that a key is not retrieved after noise, its competitors being below `best`.
  function logBeaten(best, signal, logN, sigma, tau, own, rival, thin) {
    if (tau < NO_NOISE) return -Infinity;
    const at = (y) => {
      const level = signal + own * y;
      let rate = logN + logCrossing(best, level, sigma, tau);
      if (rival) {
        const clear = (level - best) / tau, tail = logNdtr(-clear);
        const near = clear >= SMALL_TAIL ? tail : clear > 0 ? Math.log(-Math.log1p(-Math.exp(tail))) : Math.log(-logNdtr(clear));
        rate = Math.max(rate, near) + Math.log1p(Math.exp(-Math.abs(rate - near)));
      }
      return logSome(rate) - 0.5 * y * y;
    };
    let top = -Infinity, place = 0; // no value is above -y^2/2, so that few have to be computed
    for (const y of between(-Math.sqrt(2 * logN) - 2, 5, 41).sort((a, b) => Math.abs(a) - Math.abs(b))) {
      if (-0.5 * y * y < top) break;
      const value = at(y);
      if (value > top) [top, place] = [value, y];
    }
    const values = [];
    for (let i = 0; i < 41; i += thin) values.push(at(place - 6 + 0.3 * i));
    return logSum(values) - HALF_LOG_2PI + Math.log(0.3 * thin);
  }

  // Terms of a sum with upper bounds of their logs: those that cannot matter are not computed.
  function logSumBounded(bounds, term, depth = 28) {
    const order = bounds.map((_, i) => i).sort((a, b) => bounds[b] - bounds[a]), found = bounds.map(() => -Infinity);
    let top = -Infinity;
    for (const i of order) {
      if (bounds[i] < top - depth || bounds[i] === -Infinity) break;
      found[i] = bounds[i] + term(i);
      top = Math.max(top, found[i]);
    }
    return found;
  }

  // Spreads of signals and competitors when a share of the coordinates is reserved, lengths to first order.
  function spreads(logN, ratio, share) {
    const load = 1 / (ratio * logN), overD = Math.exp(-0.5 * (Math.log(ratio * logN) + logN)), left = 1 - share;
    const spread = (extra) => Math.sqrt(load / left ** 2 + (extra * overD) / left);
    return { load, overD, own: spread(2.5), rival: spread(1.5), median: spread(2) };
  }

  // What `predict_repair` predicts: failures, deficient keys, noise and the median margin of the base.
  // The first of them is costly: with `thin` 2 it has every other node, which is enough for a line in a chart,
  // and with `thin` 0 it is left out.
  function repair(logN, ratio, share, gamma, thin = 1) {
    const { load, overD, own: sigma, rival, median } = spreads(logN, ratio, share);
    const best = LOG_E.map((e) => -rival * ndtriExp(Math.min(e - logN, -1e-9)));
    const short = best.map((b) => (b + gamma - 1) / sigma), logShare = short.map((x, i) => LOG_E_WEIGHTS[i] + logNdtr(x));
    const deficient = Math.exp(logSum(logShare));
    let square = 0; // E w^2 of w = gamma + sigma (x - Z) where that is above gamma
    short.forEach((x, i) => {
      const density = theory.density(x), tail = Math.exp(logNdtr(x));
      const first = Math.max(x * tail + density, 0), second = Math.max((1 + x * x) * tail + x * density, 0);
      square += Math.exp(LOG_E_WEIGHTS[i]) * (gamma ** 2 * tail + 2 * gamma * sigma * first + sigma ** 2 * second);
    });
    const each = square / Math.max(deficient, 1e-300);
    const noise = Math.sqrt(square * (load / share ** 2 + overD / share));
    const margin = 1 + median * ndtriExp(Math.log(Math.log(2)) - logN);
    if (!thin) return { deficient, noise, margin };
    const noiseOwn = Math.sqrt(noise ** 2 + (each * overD) / share), noiseSignal = Math.sqrt(noise ** 2 + (4 * each * overD) / share);
    const counted = logShare.map((x, i) => (i % thin ? -Infinity : x + Math.log(thin)));
    const lifted = logSumBounded(counted, (i) => logBeaten(best[i], best[i] + 2 * gamma, logN, rival, noiseOwn, noiseSignal, true, thin));

    // keys that are not deficient, and fail all the same
    const spared = (z) => -Math.exp(Math.min(logN + logNdtr(-(1 + sigma * z - gamma) / rival), 700)) - 0.5 * z * z - HALF_LOG_2PI;
    const rest = (places, depth) => logSumBounded(places.map(spared), (i) => {
      const s = 1 + sigma * places[i];
      return logBeaten(s - gamma, s, logN, rival, noise, noise, false, thin);
    }, depth);
    const coarse = between(-Math.sqrt(2 * logN) - 3, 6, 40), values = rest(coarse, 41), top = values.reduce((a, b) => Math.max(a, b));
    let others = -Infinity;
    if (top > IMPOSSIBLE) {
      const inside = coarse.filter((_, i) => values[i] > top - 40);
      const fine = between(inside[0] - 0.3, inside[inside.length - 1] + 0.3, Math.ceil(50 / thin));
      others = logSum(rest(fine)) + Math.log(fine[1] - fine[0]);
    }
    return { logFailures: logSum([logSum(lifted), others]) + logN, deficient, noise, margin };
  }

  // The share that the proof reserves, and the logarithm of the number of keys that fail without any repair.
  const paperShare = (logN) => logN ** -0.125;
  function logPlain(logN, ratio) {
    const { own, rival } = spreads(logN, ratio, 0);
    return logFailing(logN, own, rival);
  }

  scope.gaussianPicture = {
    logNdtr, ndtriExp, logFailureDensity, logFailing, logOuterFailures, expansion, ratioAt, rise,
    spreads, repair, paperShare, logPlain,
  };
})((globalThis.assocmem = globalThis.assocmem || {}));
