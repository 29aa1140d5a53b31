// Small linear algebra for instances that are computed in the browser: matrices are flat arrays, row by row.

(function (scope) {
  "use strict";
  const zeros = (size) => new Float64Array(size);

  function dot(x, y, size = x.length, a = 0, b = 0) {
    let sum = 0;
    for (let k = 0; k < size; k++) sum += x[a + k] * y[b + k];
    return sum;
  }

  // The factor L of a symmetric matrix, or null where rounding could have made it positive.
  function cholesky(A, m) {
    const L = Float64Array.from(A);
    for (let a = 0; a < m; a++) {
      for (let b = 0; b <= a; b++) {
        const rest = L[a * m + b] - dot(L, L, b, a * m, b * m);
        if (a > b) L[a * m + b] = rest / L[b * m + b];
        else if (rest > 1e-12 * A[a * m + a]) L[a * m + a] = Math.sqrt(rest);
        else return null;
      }
    }
    return L;
  }

  function forward(L, m, x) { // x becomes L^-1 x
    for (let a = 0; a < m; a++) x[a] = (x[a] - dot(L, x, a, a * m)) / L[a * m + a];
    return x;
  }

  function backward(L, m, x) { // x becomes L'^-1 x
    for (let a = m - 1; a >= 0; a--) {
      x[a] /= L[a * m + a];
      for (let b = 0; b < a; b++) x[b] -= L[a * m + b] * x[a];
    }
    return x;
  }

  scope.linear = { zeros, dot, cholesky, forward, backward };
})((globalThis.assocmem = globalThis.assocmem || {}));
