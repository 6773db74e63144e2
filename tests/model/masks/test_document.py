"""Document: tokens of other documents are out of sight."""

from __future__ import annotations

from hypothesis import given

from attn_gui.model.masks.document import Document
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks


@given(settings_of_masks())
def test_it_is_the_definition(at: Setting) -> None:
    check_rule(Document(), at)


def test_documents_are_blocks_and_may_return() -> None:
    segments = [0, 0, 1, 0]
    assert drawn(Document(), 4, 4, segment=segments, query={"segment": segments}) == "##.# ##.# ..#. ##.#"
    assert drawn(Document(), 1, 3, segment=[5, 7, 7], query={"segment": [7]}) == ".##"
    assert Document().reads == ("segment",)
