"""Formulas in plain text."""

import re

import pytest

from assocmem.book.formula_text import formula_text
from assocmem.sweeps.project import project_root


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"d^2/(n \log n)", "d²/(n log n)"),
        (r"n\log n", "n log n"),
        (r"\sqrt{\alpha\log n}", "√(α log n)"),
        (r"\sqrt[3]{x}", "³√x"),
        (r"\frac{1}{2}", "1/2"),
        (r"\frac{a+1}{b}", "(a+1)/b"),
        (r"\tfrac12", "1/2"),
        (r"\alpha_c(r)=\frac{1}{\mathbb{E}(\kappa_r-G)_+^2}", "α_c(r) = 1/(E(κᵣ-G)₊²)"),
        (r"\hat{x}_{i}^{\top}", "x̂ᵢᵀ"),
        (r"W\in\mathbb{R}^{d\times d}", "W ∈ R^(d × d)"),
        (r"\lVert W\rVert_F\leqslant 1", "‖W‖_F ≤ 1"),
        (r"\left\langle u_i,\, W v_i\right\rangle", "⟨uᵢ, W vᵢ⟩"),
        (r"\limsup_{n\to\infty} x_n", "lim sup_(n → ∞) xₙ"),
        (r"\begin{aligned} a &= b, \\[4pt] c &\ge d \end{aligned}", "a = b,; c ≥ d"),
        (r"\operatorname*{arg\,min}_W L(W)", "arg min_W L(W)"),
        (r"x \text{ for all } n", "x for all n"),
        (r"e^{-\theta R}", "e^(-θ R)"),
        (r"\left.f\right|_{0}", "f|₀"),
        (r"\unknown{x}", "unknownx"),
        ("", ""),
        (r"\frac{1}", "1/"),
        (r"x^{", "x"),
        ("a}b", "ab"),
    ],
)
def test_formula(tex, text):
    assert formula_text(tex) == text


def test_no_formula_of_the_book_keeps_a_sign_of_tex():
    for path in sorted((project_root() / "notebooks").glob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        source = "\n".join(line for line in lines if line.startswith("# "))  # the text, not the code
        for tex in re.findall(r"(?<![\\$])\$([^$\n]+)\$(?!\$)", source):
            assert not re.search(r"[\\&$]|begin|left|right", formula_text(tex)), tex
