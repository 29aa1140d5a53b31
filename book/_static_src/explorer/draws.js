// Random numbers for instances that are drawn in the browser: the same seed gives the same numbers everywhere.

(function (scope) {
  "use strict";

  // Numbers between 0 and 1 from 32 bits of state (the generator mulberry32; it is public domain).
  function uniform(seed) {
    let state = seed | 0;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
    };
  }

  // Standard normal numbers; the first ones of a longer list are those of a shorter one.
  function normals(seed, count) {
    const next = uniform(Math.imul(seed + 1, 0x9e3779b1));
    return Array.from({ length: count }, () => scope.theory.ndtri(next()));
  }

  scope.draws = { uniform, normals };
})((globalThis.assocmem = globalThis.assocmem || {}));
