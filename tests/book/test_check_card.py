"""The card of a check: what a reader is told, and what is behind the toggle."""

from assocmem.book.check_card import IN_TOLERANCES, MOST_LISTED, card
from assocmem.book.claims import check


def eight(measured, **changes):
    settings = {"kind": "simulation", "predicted": 8, "tolerance": 0.5, "falsehood": ("the constant is 4", 4)}
    return check("proposition-1", "the constant", measured=measured, **(settings | changes))


def test_a_card_has_the_sentence_the_strip_and_its_key():
    text = card(eight(8.1, axis="$d^2/(n \\log n)$"), "check-here")
    assert text.startswith("(check-here)=\n")
    assert "**The constant**" in text
    assert 'class="verdict verdict-holds">holds</span>' in text
    assert "[Proposition 1](#proposition-1): " in text
    assert "\n$d^2/(n \\log n)$\n" in text
    assert "> measured: 8.1\n" in text
    assert "> predicted: 8, tolerance 0.5. What was measured is 0.2 tolerances away.\n" in text
    assert "> falsehood: the constant is 4. It is rejected: what was measured is 8.2 tolerances away" in text
    assert r"\begin{picture}" in text
    assert "*Limits*" not in text
    assert "*Limits*: small sizes." in card(eight(8, limits="small sizes"), "a")


def test_the_numbers_are_behind_a_toggle_with_a_word_on_each():
    text = card(eight([8, 8.1], each=["one", "$n = 2$"]), "a")
    table = text.split("{dropdown} The numbers")[1]
    assert "* - Number\n  - Measured\n" in table
    assert "* - $n = 2$\n  - 8.1\n  - 8\n  - 0.5\n  - 4\n" in table
    many = card(eight([8.0] * (MOST_LISTED + 5)), "a")
    assert many.count("* - ") == MOST_LISTED + 1
    assert "The other 5 are in `claims.json`." in many


def test_an_axis_in_tolerances_says_so():
    assert f"ratio: {IN_TOLERANCES}" in card(eight([8.0] * 9, axis="ratio"), "a")
    assert f"\n{IN_TOLERANCES}\n" in card(eight([8.0] * 9), "a")
