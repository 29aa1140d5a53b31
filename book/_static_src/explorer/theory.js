// The scalar theory of tail-average learning, as the Python package has it (assocmem.theory.scalar,
// assocmem.theory.ridgeless, assocmem.theory.lists): the same equations, panels and safeguards. Browser tests compare the two to 1e-9.

(function (scope) {
  "use strict";

  // --- the normal law and other functions ------------------------------------------------------------------

  const ROOT_2PI = Math.sqrt(2 * Math.PI);

  const density = (z) => Math.exp(-0.5 * z * z) / ROOT_2PI;

  // Mills ratio (1 - Phi(x)) / phi(x) for x >= 2, by its continued fraction x + 1/(x + 2/(x + 3/(...))).
  function mills(x) {
    let tail = x;
    for (let i = Math.ceil(30 + 600 / (x * x)); i >= 1; i--) tail = x + i / tail;
    return 1 / tail;
  }

  // Phi(x) - 1/2 over phi(x): a series of terms of one sign, for |x| < 2.
  function centralSeries(x) {
    let term = x, sum = x;
    for (let i = 3; Math.abs(term) > 1e-18 * Math.abs(sum); i += 2) sum += term *= (x * x) / i;
    return sum;
  }

  function ndtr(x) {
    if (x > 2) return 1 - density(x) * mills(x);
    if (x < -2) return density(x) * mills(-x);
    return 0.5 + density(x) * centralSeries(x);
  }

  function logNdtr(x) {
    if (x < -2) return -0.5 * x * x - Math.log(ROOT_2PI) + Math.log(mills(-x));
    return x > 2 ? Math.log1p(-ndtr(-x)) : Math.log(ndtr(x));
  }

  // Newton's method for log Phi, which is concave: monotone after its first step.
  function ndtri(p) {
    if (!(p > 0 && p < 1)) return p === 0 ? -Infinity : p === 1 ? Infinity : NaN;
    if (p > 0.5) return -ndtri(1 - p);
    if (p === 0.5) return 0;
    const target = Math.log(p);
    let x = 0;
    for (let i = 0; i < 60; i++) {
      const value = logNdtr(x);
      const step = (target - value) / Math.exp(-0.5 * x * x - Math.log(ROOT_2PI) - value);
      x += step;
      if (Math.abs(step) <= 1e-15 * Math.max(1, Math.abs(x))) break;
    }
    return x;
  }

  const expit = (y) => (y >= 0 ? 1 / (1 + Math.exp(-y)) : Math.exp(y) / (1 + Math.exp(y)));
  const softplus = (y) => Math.max(y, 0) + Math.log1p(Math.exp(-Math.abs(y)));

  // The logarithm of a sum of exponentials.
  function logSum(values) {
    const largest = values.reduce((a, b) => Math.max(a, b), -Infinity);
    if (largest === -Infinity) return largest;
    return largest + Math.log(values.reduce((sum, x) => sum + Math.exp(x - largest), 0));
  }

  // Nodes and weights of the Gauss-Legendre rule, by Newton's method on the Legendre polynomial.
  function legendre(count) {
    const nodes = [], weights = [];
    for (let i = 0; i < count; i++) {
      let x = -Math.cos((Math.PI * (i + 0.75)) / (count + 0.5)), slope = 1;
      for (let step = 0; step < 100; step++) {
        let before = 1, value = x;
        for (let k = 2; k <= count; k++) [before, value] = [value, ((2 * k - 1) * x * value - (k - 1) * before) / k];
        slope = (count * (x * value - before)) / (x * x - 1);
        const moved = value / slope;
        x -= moved;
        if (Math.abs(moved) < 1e-16) break;
      }
      nodes.push(x);
      weights.push(2 / ((1 - x * x) * slope * slope));
    }
    return { nodes, weights };
  }

  // A root of f between a and b, where its signs differ: secant steps through the last points, safeguarded by
  // bisection (Brent's method without the inverse quadratic step).
  function root(f, a, b) {
    let fa = f(a), fb = f(b);
    if (fa === 0) return a;
    if (fb === 0) return b;
    let before = b - a;
    for (let i = 0; i < 200; i++) {
      if (Math.abs(fa) < Math.abs(fb)) [a, b, fa, fb] = [b, a, fb, fa];
      // b is the better end, a the other
      const tolerance = 1e-15 * Math.max(1, Math.abs(b));
      const half = 0.5 * (a - b);
      if (Math.abs(half) <= tolerance || fb === 0) return b;
      let step = (fb * (a - b)) / (fb - fa);
      if (!(Math.abs(step) < 0.5 * Math.abs(before)) || step * half < 0 || Math.abs(step) > Math.abs(half)) step = half;
      // a step beyond the root as well, now and then, so that both ends close in
      if (Math.abs(step) < tolerance) step = Math.sign(half) * tolerance;
      const c = b + step, fc = f(c);
      before = step;
      if (Math.sign(fc) === Math.sign(fb)) {
        // the end that stays counts half, or the secant would always fall on the same side
        [b, fb] = [c, fc];
        if (Math.abs(fa) > 0) fa *= 0.5;
      } else {
        [a, fa, b, fb] = [b, fb, c, fc];
      }
    }
    return b;
  }

  // --- the limits of ridge zero ----------------------------------------------------------------------------

  const tailMean = (r) => density(r < 0.5 ? ndtri(r) : ndtri(1 - r)) / r;

  // First and second moment of (rho - G)_+ for a standard normal G.
  function hingeMoments(rho) {
    const share = ndtr(rho), first = density(rho) + rho * share;
    return [first, share + rho * first];
  }

  const criticalLoad = (r) => 1 / hingeMoments(tailMean(r))[1];

  // The rho with E (rho - G)_+^2 = 1 / load.
  function satEdge(load) {
    let rho = -6;
    for (let i = 0; i < 100; i++) {
      const [first, second] = hingeMoments(rho);
      const step = (-Math.log(second * load) * second) / (2 * first);
      rho += step;
      if (Math.abs(step) <= 1e-15 * Math.max(1, Math.abs(rho))) break;
    }
    return rho;
  }

  // Lists, for shares r up to one half: the load up to which every signal can be among its top r, the longer tail
  // whose average reaches it, tailMean(t) = Phi^-1(1 - r), and the smallest share that can be had at a load.
  const listCapacity = (r) => 1 / hingeMoments(-ndtri(r))[1];

  function equivalentTail(r) {
    const q = -ndtri(r);
    if (!(q > 0)) return 1;
    // Newton's method for the logarithm of the hazard rate, which is concave: it climbs from the left.
    let x = -Math.sqrt(2 * Math.max(0, -Math.log(q))) - 1;
    for (let i = 0; i < 100; i++) {
      const hazard = Math.exp(-0.5 * x * x - Math.log(ROOT_2PI) - logNdtr(-x));
      const step = Math.log(hazard / q) / (hazard - x);
      x -= step;
      if (Math.abs(step) <= 1e-15 * Math.max(1, Math.abs(x))) break;
    }
    return ndtr(-x);
  }

  const bestShare = (load) => ndtr(-satEdge(load));

  // Laws below the critical load; scores over the norm scale. Each has a density beside one atom.
  function satLaws(load, r) {
    const rho = satEdge(load), kappa = tailMean(r), edge = ndtr(rho);
    const above = (x) => (x > rho ? density(x) : 0);
    return {
      kind: "sat", rho, kappa, edge,
      signal: { cdf: (x) => (x < rho ? 0 : ndtr(x)), pdf: above, atom: [rho, edge] },
      margin: { cdf: (x) => (x < rho - kappa ? 0 : ndtr(x + kappa)), pdf: (x) => above(x + kappa), atom: [rho - kappa, edge] },
      percentile: { cdf: (w) => (w < edge ? 0 : Math.min(w, 1)), quantile: (p) => Math.max(p, edge), atom: [edge, edge] },
    };
  }

  // --- the saddle point ------------------------------------------------------------------------------------

  const RULE = legendre(16);
  const RANGE = 13, STEP = 0.75, BEND = 2;
  const GRID = Array.from({ length: Math.round((2 * RANGE) / STEP) + 2 }, (_, i) => -RANGE + STEP * i).filter((z) => z < RANGE + STEP);

  function panels(edges) {
    const nodes = [], weights = [];
    for (let i = 0; i + 1 < edges.length; i++) {
      const half = 0.5 * (edges[i + 1] - edges[i]);
      for (let j = 0; j < RULE.nodes.length; j++) {
        nodes.push(edges[i] + half * (1 + RULE.nodes[j]));
        weights.push(half * RULE.weights[j]);
      }
    }
    return { nodes, weights };
  }

  const ascending = (values) => values.sort((a, b) => a - b);

  // The y with y - chi sigma(-y) = x: Newton's method between x and x + chi.
  function prox(x, chi) {
    let low = x, high = x + chi;
    let y = Math.min(Math.max(x, Math.log(chi) - Math.max(0, Math.log(Math.max(Math.log(chi) - x, 1)))), high);
    for (let i = 0; i < 200; i++) {
      const A = expit(-y), miss = y - chi * A - x;
      if (miss < 0) low = y;
      if (miss > 0) high = y;
      let following = y - miss / (1 + chi * A * expit(y));
      if (!(following >= low && following <= high)) following = 0.5 * (low + high);
      const moved = Math.abs(following - y);
      y = following;
      if (moved <= 1e-9 * Math.max(1, Math.abs(y))) break;
    }
    return y;
  }

  // Values s Z - m of a standard normal Z with weights, fine where the logistic function bends.
  function thresholdNodes(s, m) {
    const bends = [];
    for (let y = -40; y < 41; y += BEND) if (Math.abs(y + m) < s * GRID[GRID.length - 1]) bends.push(y);
    if (s > 1) {
      const { nodes, weights } = panels(ascending([...GRID.map((z) => s * z - m), ...bends]));
      return { y: nodes, w: weights.map((w, i) => (w * density((nodes[i] + m) / s)) / s) };
    }
    const { nodes, weights } = panels(ascending([...GRID, ...bends.map((y) => (y + m) / s)]));
    return { y: nodes.map((z) => s * z - m), w: weights.map((w, i) => w * density(nodes[i])) };
  }

  const sum = (count, term) => {
    let total = 0;
    for (let i = 0; i < count; i++) total += term(i);
    return total;
  };

  // Tail average c of a normal law of standard deviation nu, its threshold, and its derivative in nu.
  function scalarTailAverage(nu, r, beta) {
    const s = beta * nu;
    let m = -ndtri(r) * Math.hypot(s, 1.7), low = -Infinity, high = Infinity;
    for (let i = 0; i < 200; i++) {
      const { y, w } = thresholdNodes(s, m);
      const curvature = sum(y.length, (j) => w[j] * expit(y[j]) * expit(-y[j]));
      const miss = r < 0.5 ? sum(y.length, (j) => w[j] * expit(y[j])) - r : 1 - r - sum(y.length, (j) => w[j] * expit(-y[j]));
      [low, high] = miss > 0 ? [m, high] : [low, m];
      const following = m + miss / curvature;
      if (!(low <= following && following <= high)) {
        m = Number.isFinite(high - low) ? 0.5 * (low + high) : m + Math.sign(miss) * (1 + s);
        continue;
      }
      const moved = Math.abs(following - m);
      m = following;
      if (moved <= 1e-9 * Math.max(1, Math.abs(m))) break;
    }
    const { y, w } = thresholdNodes(s, m);
    const c = r < 0.5
      ? (m + sum(y.length, (j) => w[j] * softplus(y[j])) / r) / beta
      : (sum(y.length, (j) => w[j] * softplus(-y[j])) - m * (1 - r)) / (r * beta);
    const bend = sum(y.length, (j) => w[j] * expit(y[j]) * expit(-y[j]));
    return { c, mu: m / beta, slope: (s * bend) / r };
  }

  // Nodes of y = Prox_chi(nu G - c) over a standard normal G, and averages over them.
  function channel(nu, c, chi) {
    const edges = GRID.map((z) => prox(nu * z - c, chi));
    const [first, last] = [edges[0], edges[edges.length - 1]];
    for (let y = -40; y < Math.log1p(chi) + 40; y += BEND) if (y > first && y < last) edges.push(y);
    const { nodes, weights } = panels(ascending(edges));
    const A = nodes.map((y) => expit(-y));
    const G = nodes.map((y, i) => (y - chi * A[i] + c) / nu);
    const w = weights.map((x, i) => (x * density(G[i]) * (1 + chi * A[i] * expit(nodes[i]))) / nu);
    return { y: nodes, A, G, mean: (term) => sum(w.length, (i) => w[i] * term(i)) };
  }

  // The chi with nu^2 = load chi^2 E A^2, by Newton's method in its logarithm.
  function susceptibility(nu, c, load, start) {
    let log = Math.log(start), low = -Infinity, high = Infinity;
    for (let i = 0; i < 200; i++) {
      const chi = Math.exp(log), at = channel(nu, c, chi);
      const square = at.mean((j) => at.A[j] ** 2);
      const miss = Math.log(load * square) + 2 * log - 2 * Math.log(nu);
      [low, high] = miss < 0 ? [log, high] : [low, log];
      const response = at.mean((j) => at.A[j] ** 2 / (1 + chi * at.A[j] * expit(at.y[j])));
      const following = log - (miss * square) / (2 * response);
      if (!(low <= following && following <= high)) {
        log = 0.5 * (low + high);
        continue;
      }
      const moved = Math.abs(following - log);
      log = following;
      if (moved <= 1e-9) break;
    }
    return Math.exp(log);
  }

  // The minimiser's two numbers and its laws at a load, tail fraction, sharpness and ridge. The ridge may be
  // zero above the critical load.
  function solveScalar(load, r, beta, ridge) {
    let width = 1;
    const slope = (logNu) => {
      const nu = Math.exp(logNu), tail = scalarTailAverage(nu, r, beta);
      const chi = susceptibility(nu, tail.c, load, width * nu);
      width = chi / nu;
      const at = channel(nu, tail.c, chi);
      const forces = at.mean((i) => at.A[i]) * tail.slope - at.mean((i) => at.A[i] * at.G[i]);
      return ridge - 1 / (load * chi) + forces / nu;
    };
    let low = 0, high = 0;
    if (slope(0) > 0) while (slope(low) > 0) [low, high] = [low - 2, low];
    else while (slope(high) < 0) [low, high] = [high, high + 2];
    const nu = Math.exp(root(slope, low, high));
    const { c, mu, slope: tailSlope } = scalarTailAverage(nu, r, beta);
    const chi = susceptibility(nu, c, load, width * nu);
    const at = channel(nu, c, chi);
    const loss = at.mean((i) => softplus(-at.y[i]));
    const B = (i) => at.A[i] * expit(at.y[i]);
    const omega = (at.mean((i) => at.A[i]) * tailSlope) / nu;
    const score = at.mean((i) => at.A[i] * (c + at.y[i]));
    const variance = (nu * nu * (ridge + omega) - score) / at.mean((i) => at.A[i] * Math.abs(c + at.y[i]));
    const response = load * (chi * (ridge + omega) + at.mean((i) => (chi * B(i)) / (1 + chi * B(i)))) - 1;
    const residual = Math.max(Math.abs(variance), Math.abs(response));
    return { kind: "saddle", load, r, beta, ridge, nu, chi, c, mu, loss, residual, converged: residual <= 1e-9, ...saddleLaws(nu, chi, c) };
  }

  function saddleLaws(nu, chi, c) {
    const gaussian = (y) => (y - chi * expit(-y) + c) / nu;
    const margin = {
      cdf: (y) => ndtr(gaussian(y)),
      pdf: (y) => (density(gaussian(y)) * (1 + chi * expit(y) * expit(-y))) / nu,
      quantile: (p) => prox(nu * ndtri(p) - c, chi),
    };
    const signal = {
      cdf: (s) => margin.cdf(s - c),
      pdf: (s) => margin.pdf(s - c),
      quantile: (p) => c + margin.quantile(p),
    };
    const percentile = {
      cdf: (w) => (w <= 0 ? 0 : w >= 1 ? 1 : signal.cdf(nu * ndtri(w))),
      quantile: (p) => ndtr(signal.quantile(p) / nu),
    };
    return { margin, signal, percentile };
  }

  scope.theory = {
    density, ndtr, logNdtr, ndtri, expit, softplus, logSum, legendre, root, prox,
    tailMean, hingeMoments, criticalLoad, satEdge, satLaws, listCapacity, equivalentTail, bestShare, scalarTailAverage, channel, saddleLaws, susceptibility, solveScalar,
  };
})((globalThis.assocmem = globalThis.assocmem || {}));
