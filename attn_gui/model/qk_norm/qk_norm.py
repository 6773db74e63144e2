"""QKNorm: each head's queries and keys are normalised (Henry et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attn_gui.model.dialects import Dialect
from attn_gui.model.errors import ExperimentError
from attn_gui.model.parts import Part, array, number
from attn_gui.model.table import Floats


@dataclass(frozen=True, eq=False)
class QKNorm(Part, family="qk_norm"):
    """What is done to every query and key of a head, before rotary positions.

    gain_q, gain_k: learned factors, [d_k], 1 where there are none.
    """

    eps: float = number(1e-6, "eps", least=0.0)
    gain_q: Floats | None = array(
        "Gain of queries", (1,), counts=("q",), optional=True, hint="Each normalised query is multiplied by it"
    )
    gain_k: Floats | None = array(
        "Gain of keys", (1,), counts=("k",), optional=True, hint="Each normalised key is multiplied by it"
    )

    def check_fits(self, d_k: int) -> None:
        """Raise ExperimentError where the gains are not those of heads of ``d_k``."""
        for name, gain in (("gain_q", self.gain_q), ("gain_k", self.gain_k)):
            if gain is not None and gain.shape != (d_k,):
                raise ExperimentError(f"qk_norm {self.kind} {name}", f"shape ({d_k},)", f"{gain.shape}")

    def normalised(self, rows: Any, xp: Any) -> Any:
        """``rows`` [.., n, d_k], each brought to its length, before the gain; ``xp`` as for a normaliser."""
        raise NotImplementedError

    def script(self, d: Dialect) -> str:
        """The text of a function ``normed(rows)`` that does the same, for generated code; raises ExperimentError."""
        raise ExperimentError("copy as code", "a QK-norm that scripts are written for", self.title)
