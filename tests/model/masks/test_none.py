"""No rule: everybody may attend to everything."""

from __future__ import annotations

from hypothesis import given

from attn_gui.model.masks import MaskRule, choosable
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks


@given(settings_of_masks())
def test_it_is_the_definition(at: Setting) -> None:
    check_rule(MaskRule(), at)


def test_nothing_is_masked() -> None:
    assert drawn(MaskRule(), 2, 3) == "### ###"


def test_the_rules_to_begin_with_are_ordered_and_can_be_made() -> None:
    rules = choosable()
    assert [rule.kind for rule in rules if rule.usual] == [
        "none",
        "causal",
        "document",
        "padding",
        "prefix_lm",
        "sliding_window",
    ]
    assert [rule.kind for rule in rules[6:]] == ["block_sparse", "dilated", "global_window", "random", "tree"]
    assert {"combined", "imported"} == set(MaskRule.kinds) - {rule.kind for rule in rules}
    for rule in rules:
        made = rule()
        assert made.title and made.about and made == rule()
        assert rule is MaskRule or made.formula
