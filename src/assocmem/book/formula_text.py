r"""Formulas in plain text, for places that cannot typeset: search results, titles, descriptions.

The text is for reading and for finding: Greek letters and signs are themselves, ``\frac{a+1}{b}`` is
``(a+1)/b``, indices and powers are small where Unicode has them. It is not TeX again.
"""

from __future__ import annotations

import re
import unicodedata

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|%.*|\s+|.", re.DOTALL)


def _table(text):
    """Read names and what stands for them, in turn."""
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_LETTERS = _table("""
    alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta θ iota ι kappa κ
    lambda λ mu μ nu ν xi ξ pi π rho ρ varrho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω
    Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω ell ℓ hbar ℏ infty ∞
""")
_SIGNS = _table("""
    le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥ geqslant ≥ ne ≠ neq ≠ approx ≈ sim ∼ simeq ≃ asymp ≍ equiv ≡ ll ≪ gg ≫
    lesssim ≲ gtrsim ≳ prec ≺ preceq ⪯ succ ≻ succeq ⪰ propto ∝ in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃
    to → rightarrow → longrightarrow → mapsto ↦ gets ← leftarrow ← Rightarrow ⇒ Longrightarrow ⇒ implies ⇒
    iff ⇔ Leftrightarrow ⇔ uparrow ↑ downarrow ↓ colon : mid | times × cdot · pm ± mp ∓ circ ∘ odot ⊙ otimes ⊗
    oplus ⊕ wedge ∧ vee ∨ cap ∩ cup ∪ setminus ∖ sum ∑ prod ∏ int ∫ partial ∂ nabla ∇ emptyset ∅ varnothing ∅
    forall ∀ exists ∃ dots … ldots … cdots … langle ⟨ rangle ⟩ lVert ‖ rVert ‖ Vert ‖ lvert | rvert | vert |
    lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ perp ⊥ top ⊤ dagger † star ⋆ ast ∗ prime ′ lbrace { rbrace } lbrack [
    rbrack ] bullet • checkmark ✓ square □
""")
_RELATIONS = set("≤≥≠≈∼≃≍≡≪≫≲≳≺⪯≻⪰∝∈∉∋⊂⊆⊃→↦←⇒⇔×±∓∩∪=<>")
"""Signs that stand between spaces."""
_OPENING = set("‖|⟨⌊⌈{[")
_ACCENTS = {"hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304"}
_ACCENTS |= {"dot": "\u0307", "ddot": "\u0308", "vec": "\u20d7", "check": "\u030c"}
_LOOKS = re.compile(
    r"(math|text|operator)[a-z]*|boldsymbol|bm|(under|over)(line|brace)|smash|left|right|middle"
    r"|[Bb]igg?[lrm]?|(no)?limits|displaystyle|scriptstyle|m?strut|null|notag|nonumber"
)
"""What changes only how something looks."""
_SPACES = {"quad", "qquad", ",", ";", ":", " ", "!", "enspace", "thinspace", "allowbreak"}
_DROPPED = {"begin", "end", "label", "tag", "phantom", "hphantom", "vphantom", "hspace", "vspace"}
"""What is left out together with its argument."""
_SMALL = {
    "^": dict(zip("0123456789+-−=()nikT⊤", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱᵏᵀᵀ", strict=True)) | {"′": "′", "∗": "*"},
    "_": dict(zip("0123456789+-=()aeijkmnrstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₘₙᵣₛₜᵤᵥₓ", strict=True)),
}
_PLAIN = re.compile(r"[\w.\u0300-\u036f\u207a-\u209c′…]*|\([^()]*\)")
"""What needs no parentheses where it is a part of something."""


def formula_text(tex: str) -> str:
    r"""Write a formula without TeX.

    Parameters
    ----------
    tex : str
        Without dollars; macros of the book spelt out. What is not known keeps its name.

    Returns
    -------
    str
        One line; lines of the formula are parted by semicolons.

    Examples
    --------
    >>> formula_text(r"\alpha_c(r) = \frac{1}{\mathbb{E}(\kappa_r - G)_+^2}")
    'α_c(r) = 1/(E(κᵣ - G)₊²)'
    """
    tokens = [token for token in _TOKEN.findall(tex.strip()) if not token.startswith("%")]
    tokens.reverse()
    text = re.sub(r"\s+", " ", _sequence(tokens))
    text = re.sub(r"([(\[⟨⌈⌊]) | (?=[)\]⟩⌉⌋,;.])", r"\1", text)
    return re.sub(r"(; )+", "; ", text).strip(" ;")


def _sequence(tokens, end=None):
    """Write what comes until a token; that one is taken as well."""
    text = ""
    while tokens:
        token = tokens.pop()
        if token == end:
            break
        if token in "^_":
            text = text.rstrip() + _script(token, _argument(tokens))
        elif token in _RELATIONS:
            text += f" {token} "
        elif re.fullmatch(r"\\[A-Za-z]+\*?", token):
            text += _command(token[1:].rstrip("*"), tokens, text)
        else:
            text += _sign(token, tokens)
    return text


def _sign(token, tokens):
    """Write a token that is no command of letters."""
    if token == "{":
        return _sequence(tokens, "}")
    if token == "\\\\":
        _option(tokens)
        return "; "
    if token.startswith("\\"):
        return {"|": "‖"}.get(token[1], " " if token[1] in _SPACES else token[1])
    return {"&": "", "}": "", "~": " ", "'": "′"}.get(token, " " if token.isspace() else token)


def _command(name, tokens, before):
    """Write a command and what belongs to it."""
    if name in _LETTERS:
        text = _LETTERS[name]
    elif name in _SIGNS:
        text = _SIGNS[name]
        while name.startswith("l") and text in _OPENING and tokens and tokens[-1].isspace():
            tokens.pop()
        text = f" {text} " if text in _RELATIONS else text
    elif name in _WITH_ARGUMENTS:
        text = _WITH_ARGUMENTS[name](tokens)
    elif name in _SPACES:
        text = " "
    elif _LOOKS.fullmatch(name):
        text = ""
        if name in ("left", "right") and tokens and tokens[-1] == ".":
            tokens.pop()
    else:
        word = {"limsup": "lim sup", "liminf": "lim inf"}.get(name, name)
        space = " " if before and (before[-1].isalnum() or before[-1] == ")") else ""
        text = f"{space}{word}" + (" " if tokens and re.match(r"\w|\\[A-Za-z]", tokens[-1]) else "")
    return text


def _fraction(tokens):
    """Write one expression over another."""
    above = _part(_argument(tokens))
    return f"{above}/{_part(_argument(tokens))}"


def _root(tokens):
    """Write a root, with its degree."""
    return _script("^", _option(tokens)) + "√" + _part(_argument(tokens))


def _second(tokens):
    """Write the second of two arguments."""
    _argument(tokens)
    return _argument(tokens)


def _nothing(tokens):
    """Take an argument that is not to be seen."""
    _argument(tokens)
    return " "


def _accented(mark):
    """Return what writes its argument with a mark, if that is one letter."""

    def write(tokens):
        inside = _argument(tokens)
        return unicodedata.normalize("NFC", inside + mark) if len(inside) == 1 else inside

    return write


_WITH_ARGUMENTS = {name: _accented(mark) for name, mark in _ACCENTS.items()} | {"sqrt": _root}
_WITH_ARGUMENTS |= dict.fromkeys(("frac", "dfrac", "tfrac"), _fraction)
_WITH_ARGUMENTS |= dict.fromkeys(("underset", "overset", "stackrel"), _second)
_WITH_ARGUMENTS |= dict.fromkeys(_DROPPED, _nothing)


def _argument(tokens):
    """Write the next group, or what stands for one."""
    while tokens and tokens[-1].isspace():
        tokens.pop()
    if not tokens:
        return ""
    token = tokens.pop()
    if token == "{":
        return _sequence(tokens, "}").strip()
    if re.fullmatch(r"\\[A-Za-z]+\*?", token):
        name = token[1:].rstrip("*")
        return _argument(tokens) if _LOOKS.fullmatch(name) else _command(name, tokens, "").strip()
    return _sign(token, tokens).strip()


def _option(tokens):
    """Write what stands in brackets, if anything does."""
    if not tokens or tokens[-1] != "[":
        return ""
    tokens.pop()
    return _sequence(tokens, "]").strip()


def _part(text):
    """Put into parentheses what would fall apart."""
    return text if _PLAIN.fullmatch(text) else f"({text})"


def _script(kind, text):
    """Write an index or a power."""
    small = _SMALL[kind]
    if text and all(letter in small for letter in text):
        return "".join(small[letter] for letter in text)
    return f"{kind}{_part(text)}" if text else ""
