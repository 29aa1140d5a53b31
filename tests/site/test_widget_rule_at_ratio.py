"""The widget of write rules shows what is stored, and computes constants as the package does."""

import pytest

from assocmem.theory.noisy_recall import MEMORIES, noisy_constant, rounding_noise

pytestmark = [pytest.mark.site, pytest.mark.parametrize("origin", ["disk"], indirect=True)]


def rule_of(page, name):
    """Place of a rule among the choices, and its numbers."""
    return page.evaluate(
        """name => {
            const {rules, shares} = assocmem.writeRules, at = rules.findIndex(rule => rule.name === name);
            return [at + 1, rules[at], shares[0].ratio, shares[0].rules[name]];
        }""",
        name,
    )


def test_constants_under_noise_are_those_of_the_package(widget, page):
    widget("rule_at_ratio")
    for memory, name in enumerate(MEMORIES):
        for s in (0, 0.1, 0.5, 0.7, 0.71, 1, 2):
            found = page.evaluate("([m, s]) => assocmem.rule_at_ratio.noisyConstant(m, s)", [memory, s])
            assert found == pytest.approx(noisy_constant(s, memory=name), rel=1e-12)


def test_noise_and_bits_add_their_squares_and_eight_bits_are_all(widget, page):
    widget("rule_at_ratio")
    assert page.evaluate("() => assocmem.rule_at_ratio.spread(0.3, 8)") == pytest.approx(0.3)
    both = page.evaluate("() => assocmem.rule_at_ratio.spread(0.3, 1)")
    assert both**2 == pytest.approx(0.09 + rounding_noise(1) ** 2, rel=1e-3)


def test_a_stored_share_is_shown_at_its_ratio_and_a_mean_between_two(widget, page):
    widget("rule_at_ratio")
    at, _, ratios, (shares, *_) = rule_of(page, "outer_products")
    for ratio, share in zip(ratios[1:4], shares[1:4], strict=True):
        place = widget("rule_at_ratio", rule=at, ratio=ratio)
        assert float(place.get_attribute("data-retrieved")) == pytest.approx(share)
    middle = page.evaluate("() => assocmem.rule_at_ratio.between([[1, 0.2], [2, 0.6]], 1.5)")
    assert middle == pytest.approx(0.4)


def test_it_says_which_rule_how_many_pairs_and_what_it_needs(widget, page):
    widget("rule_at_ratio")
    at, rule, *_ = rule_of(page, "muon")
    place = widget("rule_at_ratio", rule=at, bits=2)
    place.locator("#rule_at_ratio-size-choice").select_option("2")
    words = place.locator(".am-answer")
    page.wait_for_function(
        "() => document.querySelector('.am-widget .am-answer').innerText.includes('1000 pairs')"
    )
    assert rule["label"] in words.inner_text()
    need = next(mean for n, mean, _ in rule["needs"] if n == 1000)
    assert f"from {need:.3g} on" in words.inner_text()
    place.locator("#rule_at_ratio-rule-choice").select_option(label="even, clip")
    page.wait_for_function(
        "() => document.querySelector('.am-widget .am-answer').innerText.startsWith('even, clip')"
    )
