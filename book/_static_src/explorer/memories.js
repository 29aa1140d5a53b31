// Memories small enough to be computed while one looks, as assocmem.memories, assocmem.training and
// assocmem.deciding have them: outer products, equal signals, clipped, trained; and any memory, with a proof.

(function (scope) {
  "use strict";
  const { zeros, dot, cholesky, forward, backward } = scope.linear;
  const ROUNDS = 2, LEVEL = 0.9, SOFTNESS = 0.1; // of clipping, as in assocmem.memories.clipped
  const STEPS = 400, DONE = 0.01; // a mean loss below 0.01 over at most 40 keys leaves each of them a positive margin

  // --- what is done with vectors and matrices ------------------------------------------------------------------

  const range = (n) => Array.from({ length: n }, (_, i) => i);
  const gram = (x, n, d) => Float64Array.from({ length: n * n }, (_, at) => dot(x, x, d, Math.floor(at / n) * d, (at % n) * d));
  function transposed(A, rows, columns) {
    return Float64Array.from(A, (_, at) => A[(at % rows) * columns + Math.floor(at / rows)]);
  }
  const each = (x, d, f) => range(x.length / d).forEach((i) => f(x.subarray(i * d, i * d + d)));

  // --- an instance, and memories that are written down -------------------------------------------------------

  // The first n pairs of a draw and their first d coordinates; u and v have one vector a row.
  function instance(n, d, draw) {
    const { unit, draws } = scope.liveInstances, length = unit * Math.sqrt(d);
    const rows = (X) => Float64Array.from(X.slice(0, n).flatMap((x) => x.slice(0, d).map((entry) => entry / length)));
    return { n, d, draw, u: rows(draws[draw - 1].U), v: rows(draws[draw - 1].V) };
  }

  // s[j n + i] = u_j' W v_i: target j for key i.
  function scores({ n, d, u, v }, W) {
    const S = zeros(n * n), answer = zeros(d);
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < d; k++) answer[k] = dot(W, v, d, k * d, i * d);
      for (let j = 0; j < n; j++) S[j * n + i] = dot(u, answer, d, j * d);
    }
    return S;
  }

  // Of each key the signal less the best competitor, and which competitor that is.
  function margins(S, n) {
    return range(n).map((i) => {
      let rival = i ? 0 : 1;
      for (let j = 0; j < n; j++) if (j !== i && S[j * n + i] > S[rival * n + i]) rival = j;
      return { margin: S[i * n + i] - S[rival * n + i], rival };
    });
  }
  const failing = (found) => found.filter(({ margin }) => margin <= 0).length;

  // sum_a weights[a] u_j v_i' over a list of [j, i].
  function combine({ d, u, v }, weights, list) {
    const W = zeros(d * d);
    list.forEach(([j, i], a) => {
      for (let k = 0; k < d; k++) for (let l = 0; l < d; l++) W[k * d + l] += weights[a] * u[j * d + k] * v[i * d + l];
    });
    return W;
  }
  const own = (n) => range(n).map((i) => [i, i]);
  const outerProducts = (pairs) => combine(pairs, new Float64Array(pairs.n).fill(1), own(pairs.n));

  // Vectors with x x' d/n mapped to the identity, and the factor of the map.
  function whitened(x, n, d) {
    const columns = transposed(x, n, d).map((entry) => entry * Math.sqrt(d / n)), L = cholesky(gram(columns, d, n), d);
    const y = Float64Array.from(x);
    if (L) each(y, d, (row) => forward(L, d, row));
    return { L, y };
  }

  // Equal signals at the least sum of squared scores (`equal`), and then rounds in which the competitors above the
  // level are pulled down to it (`W`). Null where no matrix makes all signals equal, or rounding hides it.
  function clipped(pairs, rounds = ROUNDS) {
    const { n, d } = pairs;
    if (n > d * d) return null;
    if (n <= d) {
      const W = exact(pairs);
      return { equal: W, W, rounds: 0 };
    }
    const left = whitened(pairs.u, n, d), right = whitened(pairs.v, n, d);
    if (!left.L || !right.L) return null;
    const white = { d, u: left.y, v: right.y }, P = gram(white.u, n, d), Q = gram(white.v, n, d);
    let equal = null;
    for (let round = 0, held = []; ; round++) {
      const list = [...own(n), ...held], m = list.length, A = zeros(m * m);
      for (let a = 0; a < m; a++) {
        for (let b = 0; b < m; b++) A[a * m + b] = P[list[a][0] * n + list[b][0]] * Q[list[a][1] * n + list[b][1]];
        if (a >= n) A[a * m + a] += SOFTNESS;
      }
      const L = cholesky(A, m);
      if (!L) return null;
      let W = combine(white, backward(L, m, forward(L, m, Float64Array.from(list, (_, a) => (a < n ? 1 : LEVEL)))), list);
      each(W, d, (row) => backward(right.L, d, row));
      W = transposed(W, d, d);
      each(W, d, (row) => backward(left.L, d, row));
      W = transposed(W, d, d);
      equal = equal || W;
      const S = scores(pairs, W);
      held = range(n).flatMap((i) => range(n).filter((j) => j !== i && S[j * n + i] > LEVEL).map((j) => [j, i]));
      if (round >= rounds || !failing(margins(S, n)) || held.length > d * d) return { equal, W, rounds: round };
    }
  }

  // No more pairs than dimensions: all signals one, all other scores zero.
  function exact({ n, d, u, v }) {
    const dual = (x) => {
      const L = cholesky(gram(x, n, d), n), y = transposed(x, n, d);
      each(y, n, (row) => backward(L, n, forward(L, n, row)));
      return transposed(y, d, n);
    };
    return combine({ d, u: dual(u), v: dual(v) }, new Float64Array(n).fill(1), own(n));
  }

  // --- a memory that is trained ------------------------------------------------------------------------------

  // The mean cross-entropy of the keys, and its gradient, which is added to an array.
  function loss(pairs, W, gradient) {
    const { n, d, u, v } = pairs, S = scores(pairs, W), answer = zeros(d), p = zeros(n);
    let mean = 0;
    for (let i = 0; i < n; i++) {
      let top = -Infinity, sum = 0;
      for (let j = 0; j < n; j++) top = Math.max(top, S[j * n + i]);
      for (let j = 0; j < n; j++) sum += p[j] = Math.exp(S[j * n + i] - top);
      mean += (Math.log(sum) + top - S[i * n + i]) / n;
      if (!gradient) continue;
      answer.fill(0);
      for (let j = 0; j < n; j++) for (let k = 0; k < d; k++) answer[k] += ((p[j] / sum - (i === j)) / n) * u[j * d + k];
      for (let k = 0; k < d; k++) for (let l = 0; l < d; l++) gradient[k * d + l] += answer[k] * v[i * d + l];
    }
    return mean;
  }

  // Gradient descent from zero with Nesterov's momentum, which starts again where it would lead uphill. A step
  // is as long as the curvature on its way allows, and the next one tries to be longer.
  function training(pairs) {
    const size = pairs.d ** 2;
    let before = zeros(size), momentum = 1, length = 4 * pairs.n;
    const state = { W: zeros(size), loss: Math.log(pairs.n), steps: 0, done: false };
    state.step = () => {
      const next = (1 + Math.sqrt(1 + 4 * momentum ** 2)) / 2, push = (momentum - 1) / next;
      const point = state.W.map((w, k) => w + push * (w - before[k])), gradient = zeros(size);
      const there = loss(pairs, point, gradient), slope = dot(gradient, gradient, size);
      let W, reached;
      for (;; length /= 2) {
        W = point.map((w, k) => w - length * gradient[k]);
        reached = loss(pairs, W);
        if (reached <= there - (length / 2) * slope + 1e-15) break;
      }
      if (reached > state.loss) [before, momentum] = [state.W, 1];
      else [before, momentum, state.W, state.loss] = [state.W, next, W, reached];
      length *= 1.3;
      state.done = ++state.steps >= STEPS || state.loss < DONE;
    };
    return state;
  }

  // --- any memory --------------------------------------------------------------------------------------------

  // Whether some memory retrieves these pairs. If so: such a memory, and its scores, in integers, which are far
  // below 2^53, so that nothing is rounded. If not: comparisons [j, i] with weights of sum one that make
  // sum weight (u_i - u_j) v_i' zero, the largest entry of what rounding leaves of this sum, and the number of
  // pairs that the proof is about.
  const proofs = new Map(); // by draw and dimension: they do not depend on n
  function anyMemory({ n, d, draw, u, v }) {
    const { U, V, verdicts } = scope.liveInstances.draws[draw - 1], { n: most, W, proof } = verdicts[d - 2];
    if (n <= most) {
      const rows = (X) => Float64Array.from(X.slice(0, n).flatMap((x) => x.slice(0, d)));
      return { most, W, scores: scores({ n, d, u: rows(U), v: rows(V) }, W) };
    }
    const key = `${draw} ${d}`;
    if (!proofs.has(key)) proofs.set(key, contradiction(proof, { d, u, v }));
    return { most, proof, ...proofs.get(key) };
  }

  // Weights of sum one on comparisons that determine them, and the largest entry of the sum.
  function contradiction(proof, { d, u, v }) {
    const m = proof.length, rows = d * d;
    const A = range(rows).map((at) => Float64Array.from(proof, ([j, i]) => (u[i * d + Math.floor(at / d)] - u[j * d + Math.floor(at / d)]) * v[i * d + (at % d)]));
    const E = A.map((row) => row.slice()), weights = new Float64Array(m).fill(1);
    for (let c = 0; c < m - 1; c++) { // Gauss: the weight of the last comparison is one
      let pivot = c;
      for (let r = c + 1; r < rows; r++) if (Math.abs(E[r][c]) > Math.abs(E[pivot][c])) pivot = r;
      [E[c], E[pivot]] = [E[pivot], E[c]];
      for (let r = c + 1; r < rows; r++) {
        const share = E[r][c] / E[c][c];
        if (share) for (let k = c; k < m; k++) E[r][k] -= share * E[c][k];
      }
    }
    for (let c = m - 2; c >= 0; c--) {
      weights[c] = 0;
      weights[c] = -dot(E[c], weights, m) / E[c][c];
    }
    const total = weights.reduce((sum, x) => sum + x, 0);
    const shares = weights.map((x) => x / total);
    return { weights: shares, rest: Math.max(...A.map((row) => Math.abs(dot(row, shares, m)))) };
  }

  scope.memories = { LEVEL, DONE, instance, scores, margins, failing, range, outerProducts, clipped, loss, training, anyMemory };
})((globalThis.assocmem = globalThis.assocmem || {}));
