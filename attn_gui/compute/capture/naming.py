"""What the attentions of a model are called, and where each stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from attn_gui.model.layer_place import LayerPlace

# alone: of a model that has one stack of layers
Stack = Literal["alone", "encoder", "decoder", "cross"]
_WORDS = {
    "alone": "Layer {}",
    "encoder": "Encoder layer {}",
    "decoder": "Decoder layer {}",
    "cross": "Decoder layer {}, cross",
}


class Names:
    """Names and places of ``attentions``, (stack, module) in the order of the pass.

    A layer is counted as the model counts it, by the last number in its module's name, where these numbers tell the
    layers of a stack apart; otherwise, as of a layer that several places share, in the order of the pass.
    """

    def __init__(self, attentions: Sequence[tuple[Stack, str]]) -> None:
        self._attentions = list(attentions)
        self._layers = [0] * len(self._attentions)
        for stack in _WORDS:
            orders = [order for order, (of, _) in enumerate(self._attentions) if of == stack]
            own = [_last_number(self._attentions[order][1]) for order in orders]
            told_apart = None not in own and max(Counter(own).values(), default=0) == 1
            for count, order in enumerate(orders):
                number = own[count] if told_apart else count
                self._layers[order] = count if number is None else number

    def name(self, order: int) -> str:
        """``Layer 3``, counted from 1."""
        return _WORDS[self._attentions[order][0]].format(self._layers[order] + 1)

    def place(self, order: int, batch: int | None) -> LayerPlace:
        """Where the attention stands."""
        stack, module = self._attentions[order]
        return LayerPlace(self._layers[order], module, "cross" if stack == "cross" else "self", batch)


def _last_number(module: str) -> int | None:
    """Of ``encoder.block.3.layer.0.SelfAttention`` 3: the number of the part that is called a layer, block or h."""
    numbered = re.findall(r"(?:^|\.)(?:layers?|blocks?|h)\.(\d+)(?=\.|$)", module)
    return int(numbered[0]) if numbered else None
