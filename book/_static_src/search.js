// The search page: looks things up in search-index.js, which assocmem_search.py makes.
//
// A piece is found if it has every word of the question, or what the book says for it; accents, case and endings
// do not matter, and the beginning of a word will do. First come pieces of that very name, then those with the
// words in their title, then those with the words in their text.
(() => {
  const MOST = 30; // results shown at once
  const EXCERPT = 230; // characters
  const PLACES = new Set(["page", "section"]); // a name that they share with a thing is rather the thing's
  const WEIGHTS = { page: 15, section: 10, check: -40, entry: -40, function: -60, reference: -60 }; // what repeats others comes after them
  const TOKEN = /\p{Script=Greek}|(?:(?!\p{Script=Greek})[\p{L}\p{M}])+|\p{N}+(?:\.\p{N}+)*/gu;
  const NUMBERED =
    /^(theorem|proposition|lemma|corollary|conjecture|definition|remark|equation|figure|section|part|claim)$/;
  const GREEK = Object.fromEntries(
    ("α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi " +
      "ρ rho σ sigma ς sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega")
      .match(/\S+ \S+/g)
      .map((pair) => pair.split(" ")),
  );
  const ENDINGS = /(?:ation|ing|ment|er|or|ed|ally|al|ly|ion|ive|e|y)$/;

  // --- words ---

  const plain = (word) => {
    const bare = word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
    return GREEK[bare] ?? bare;
  };

  // What is left of a word without its ending: "retrieve", "retrieval" and "retrieved" are one. A short rest would
  // say too little: "notation" is not "not".
  const stem = (word) => {
    if (word.length < 4 || /\d/.test(word)) return word;
    const one = word.replace(/iz(?=e|ing|ation)/, "is").replace(/ies$/, "y").replace(/([^sui])s$/, "$1");
    const short = one.replace(ENDINGS, "");
    return (short.length >= 4 ? short : one).replace(/([^aeiouls])\1$/, "$1");
  };

  const tokens = (text) =>
    [...text.matchAll(TOKEN)].map((match) => {
      const word = plain(match[0]);
      return { word, stem: stem(word), start: match.index, end: match.index + match[0].length };
    });

  // How well a word of the book answers a word of a question, from 0 to 1.
  const likeness = (asked, found) => {
    if (asked.word === found.word) return 1;
    if (/\d/.test(asked.word)) return 0;
    if (asked.stem === found.stem) return 0.8;
    return asked.word.length > 2 && found.word.startsWith(asked.word) ? 0.5 : 0;
  };

  // Where the words of a phrase stand one after the other: the best place, as [likeness, number of the first].
  const lookUp = (phrase, text) => {
    let best = [0, -1];
    let count = 0;
    for (let i = 0; i + phrase.length <= text.length; i++) {
      let worst = 1;
      for (let k = 0; k < phrase.length && worst; k++) {
        worst = Math.min(worst, likeness(phrase[k], text[i + k]));
      }
      if (worst) count += 1;
      if (worst > best[0]) best = [worst, i];
    }
    return { like: best[0], at: best[1], count };
  };

  const asName = (phrases) => phrases.flat().map((token) => token.stem).join(" ");

  // --- the book ---

  let book;
  const read = ({ kinds, pages, words, pieces }) => ({
    kinds,
    pages,
    words: Object.entries(words).map(([word, others]) => ({ word, asked: tokens(word), others })),
    pieces: pieces.map(([page, kind, anchor, title, names, text]) => ({
      page: pages[page],
      kind,
      anchor,
      title,
      text,
      names: names.map((name) => asName([tokens(name)])),
      titleTokens: tokens(title),
      textTokens: tokens(text),
    })),
  });

  // --- a question ---

  // The terms of a question: each a list of phrases, any of which will do, the reader's own first.
  const termsOf = (question) => {
    const rest = tokens(question.replace(/["“”][^"“”]*["“”]/g, " "));
    const quoted = [...question.matchAll(/["“”]([^"“”]+)["“”]/g)].map((match) => tokens(match[1]));
    const terms = quoted.filter((phrase) => phrase.length).map((phrase) => ({ phrases: [phrase], known: [] }));
    for (let i = 0; i < rest.length; ) {
      const known = book.words
        .filter(({ asked }) => asked.every((token, k) => rest[i + k] && token.stem === rest[i + k].stem))
        .sort((a, b) => b.asked.length - a.asked.length)[0];
      let own = rest.slice(i, i + (known?.asked.length ?? 1));
      i += own.length;
      const others = known ? known.others.map(tokens) : [];
      const isNumber = (token) => token && /^\d/.test(token.word);
      if (isNumber(rest[i]) && [own, ...others].some(([first]) => NUMBERED.test(first.word))) {
        [own, ...others].forEach((phrase) => phrase.push(rest[i])); // "Lemma 14" is one thing
        i += 1;
      }
      terms.push({ phrases: [own, ...others], known: known ? known.others : [] });
    }
    return terms;
  };

  const weigh = (piece, terms) => {
    const own = terms.map(({ phrases }) => phrases[0]);
    const named = (phrases) => piece.names.includes(asName(phrases));
    const isNamed = named(own);
    let score = 0;
    let inTitle = 0;
    let at = -1;
    const hits = [];
    for (const { phrases } of terms) {
      let best = 0;
      let titled = false;
      for (const [number, phrase] of phrases.entries()) {
        const factor = number ? 0.3 : 1; // another word than the reader's
        const title = lookUp(phrase, piece.titleTokens);
        const text = lookUp(phrase, piece.textTokens);
        const inThis = factor * (60 * title.like + text.like * (10 + 3 * Math.log2(1 + text.count)));
        if (inThis > best) [best, titled] = [inThis, title.like > 0 && !number];
        if (text.at >= 0 && (at < 0 || text.at < at)) at = text.at;
        if (title.like || text.like) hits.push(phrase);
      }
      if (!best && !isNamed) return undefined;
      score += best;
      inTitle += titled;
    }
    const isTitled = inTitle === terms.length;
    if (isTitled) score += 60 + (40 * terms.length) / Math.max(1, piece.titleTokens.length);
    if (terms.length > 1) {
      const together = own.flat();
      if (lookUp(together, piece.titleTokens).like) score += 60;
      else if (lookUp(together, piece.textTokens).like) score += 25;
    }
    const isPlace = PLACES.has(book.kinds[piece.kind]);
    if (isNamed) score += isPlace ? 200 : 2000 - 100 * piece.kind;
    else if (!isPlace && terms.some(({ phrases }) => phrases.slice(1).some((phrase) => named([phrase])))) score += 150;
    const weight = WEIGHTS[book.kinds[piece.kind]] ?? 0;
    return { piece, score: score + (isTitled ? weight : Math.min(weight, 0)), at, hits };
  };

  const find = (terms) =>
    book.pieces
      .map((piece) => weigh(piece, terms))
      .filter(Boolean)
      .sort((a, b) => b.score - a.score);

  // The word of the book that is most like one that it does not have.
  const distance = (a, b) => {
    let row = [...Array(b.length + 1).keys()];
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let k = 1; k <= b.length; k++) {
        next.push(Math.min(row[k] + 1, next[k - 1] + 1, row[k - 1] + (a[i - 1] !== b[k - 1])));
      }
      row = next;
    }
    return row[b.length];
  };
  let vocabulary;
  const nearest = (word) => {
    if (!vocabulary) {
      vocabulary = new Map();
      for (const piece of book.pieces) {
        for (const token of [...piece.titleTokens, ...piece.textTokens]) {
          if (token.word.length > 3) vocabulary.set(token.word, (vocabulary.get(token.word) ?? 0) + 1);
        }
      }
    }
    let best;
    let least = word.length > 6 ? 2.5 : 1.5;
    for (const [other, count] of vocabulary) {
      if (Math.abs(other.length - word.length) > 2) continue;
      const far = distance(word, other) - Math.min(0.4, count / 1000);
      if (far < least) [best, least] = [other, far];
    }
    return best;
  };

  // --- what is shown ---

  const make = (tag, className, ...children) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...children);
    return node;
  };

  // A text with the words that were looked for marked.
  const marked = (text, list, hits, from = 0, to = text.length) => {
    const parts = [];
    let done = from;
    for (const token of list) {
      if (token.start < from || token.end > to || token.start < done) continue;
      if (!hits.some((phrase) => phrase.some((asked) => likeness(asked, token) > 0))) continue;
      parts.push(text.slice(done, token.start), make("mark", "", text.slice(token.start, token.end)));
      done = token.end;
    }
    return [...parts, text.slice(done, to)];
  };

  const excerpt = ({ piece, at, hits }) => {
    const { text, textTokens: list } = piece;
    let from = at > 0 ? Math.max(0, list[at].start - EXCERPT / 3) : 0;
    if (from > 0) {
      const sentence = text.slice(0, list[at].start).search(/[.?!;] (?=\S[^.?!;]*$)/);
      from = sentence >= from ? sentence + 2 : text.indexOf(" ", from) + 1;
    }
    let to = Math.min(text.length, from + EXCERPT);
    if (to < text.length) to = Math.max(text.lastIndexOf(" ", to), from + 1);
    const line = make("p", "search-excerpt", ...marked(text, list, hits, from, to));
    if (from > 0) line.prepend("… ");
    if (to < text.length) line.append(" …");
    return line;
  };

  const root = new URL(document.documentElement.dataset.content_root || "./", location.href).href;

  const entry = (result) => {
    const { piece, hits } = result;
    const [path, pageTitle] = piece.page;
    const link = make("a", "", ...marked(piece.title || pageTitle, piece.titleTokens, hits));
    link.href = root + path + (piece.anchor ? `#${encodeURIComponent(piece.anchor)}` : "");
    const kind = book.kinds[piece.kind];
    const where = kind === "page" ? "page" : `${kind} in ${pageTitle}`;
    const item = make("li", "", link, make("p", "search-where", where));
    if (piece.text) item.append(excerpt(result));
    return item;
  };

  const listed = (words) => words.map((word) => `“${word}”`).join(", ");

  const show = (question, out, ask, all = false) => {
    const terms = termsOf(question);
    out.replaceChildren();
    if (!terms.length) return;
    let results = find(terms);
    let said = `${results.length} ${results.length === 1 ? "place" : "places"} for “${question}”`;
    const notes = [];
    for (const term of terms) {
      const [own] = term.phrases;
      const words = own.map((token) => question.slice(token.start, token.end)).join(" ");
      const isAbsent = !find([{ phrases: [own] }]).length;
      if (term.known.length && !/\d/.test(words)) {
        const said = isAbsent ? `The book does not say “${words}” but` : `Besides “${words}”, the book says`;
        notes.push(make("p", "search-note", `${said} ${listed(term.known)}.`));
      } else if (isAbsent && own.length === 1) {
        const other = nearest(own[0].word);
        if (!other) continue;
        const button = make("button", "search-instead", other);
        button.type = "button";
        button.addEventListener("click", () => ask(question.replace(words, other)));
        notes.push(make("p", "search-note", "Did you mean ", button, "?"));
      }
    }
    if (!results.length && terms.length > 1) {
      const best = new Map();
      for (const term of terms) {
        for (const result of find([term])) {
          const known = best.get(result.piece);
          if (known) known.score += result.score + 100;
          else best.set(result.piece, result);
        }
      }
      results = [...best.values()].sort((a, b) => b.score - a.score).slice(0, MOST);
      said = `No place has all of “${question}”` + (results.length ? "; these have some of it" : "");
    } else if (!results.length) {
      said = `Nothing found for “${question}”`;
    }
    const count = make("p", "search-count", said);
    count.setAttribute("role", "status");
    const list = make("ol", "search-list", ...results.slice(0, all ? undefined : MOST).map(entry));
    out.append(count, ...notes, list);
    if (!all && results.length > MOST) {
      const more = make("button", "search-more", `Show all ${results.length}`);
      more.type = "button";
      more.addEventListener("click", () => {
        show(question, out, ask, true);
        out.querySelectorAll(".search-list a")[MOST]?.focus();
      });
      out.append(more);
    }
  };

  // --- the page ---

  const start = () => {
    const out = document.getElementById("search-results");
    const form = out?.parentElement.querySelector("form");
    const input = form?.querySelector("input[name=q]");
    if (!input) return;
    book = read(window.assocmemIndex);
    const ask = (question) => {
      if (question !== undefined) input.value = question;
      const asked = input.value.trim();
      const address = new URL(location.href);
      asked ? address.searchParams.set("q", asked) : address.searchParams.delete("q");
      history.replaceState(null, "", address);
      show(asked, out, ask);
    };
    let waiting;
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(ask, 150);
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(waiting);
      ask();
    });
    out.parentElement.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const stops = [input, ...out.querySelectorAll(".search-list a")];
      const now = stops.indexOf(document.activeElement);
      if (!step || now < 0 || !stops[now + step]) return;
      event.preventDefault();
      stops[now + step].focus();
    });
    ask(new URLSearchParams(location.search).get("q") ?? "");
  };

  // For tests: what a question finds, as plain data.
  window.assocmemSearch = (question) =>
    find(termsOf(question)).map(({ piece, score }) => ({
      kind: book.kinds[piece.kind],
      address: piece.page[0] + (piece.anchor ? `#${piece.anchor}` : ""),
      title: piece.title,
      score,
    }));
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
  else start();
})();
