"""LayerPlace: where in a model an attention stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from attn_gui.model.errors import ExperimentError

Kind = Literal["self", "cross"]


@dataclass(frozen=True)
class LayerPlace:
    """One attention layer of a model or of a file of many layers.

    layer: counted from 0. module: its name in the model, such as ``encoder.layer.0.attention.self``; empty where it
    has none. batch: which item of the batch it is, from 0; None where there is no batch. Raises ExperimentError.
    """

    layer: int
    module: str = ""
    kind: Kind = "self"
    batch: int | None = None

    def __post_init__(self) -> None:
        if self.layer < 0:
            raise ExperimentError("layer", "0 or more", str(self.layer))
        if self.kind not in get_args(Kind):
            raise ExperimentError("kind", " or ".join(get_args(Kind)), self.kind)
        if self.batch is not None and self.batch < 0:
            raise ExperimentError("batch", "0 or more", str(self.batch))
