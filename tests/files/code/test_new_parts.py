"""Parts that are new: scripts write them as their numbers, or by a script of their own, or refuse them by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attn_gui.compute.trace import trace
from attn_gui.files.code.scripts import numpy_script, pytorch_script
from attn_gui.model.biases import Bias
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.dialects import Dialect
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Columns, Combined, MaskRule, Term
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.painted import Painted, Rectangle
from attn_gui.model.positions import InputPosition
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.rotary import Rotary
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence

WRITERS = {"PyTorch": pytorch_script, "NumPy": numpy_script}


def _unlisted(part: type[Any]) -> type[Any]:
    del part.kinds[part.kind]
    return part


@_unlisted
class SameParity(MaskRule):
    kind, title = "same_parity", "Same parity, in head 1 otherwise"

    @property
    def per_head(self) -> bool:
        return True

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        return (i + j + columns.heads) % 2 == 0


@_unlisted
class KeySegments(MaskRule):
    kind, title, columns = "key_segments", "Keys of segment 0", ("segment",)

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        return columns.key["segment"][j] == 0


@_unlisted
class ByHead(Bias):
    kind, title = "by_head", "More in each head"

    def values(self, i: Any, j: Any, columns: Columns, heads: int) -> Any:
        return 0.1 * columns.heads * (i + columns.offset) - 0.3 * (j % 2)


@_unlisted
class BySegment(Bias):
    kind, title, columns = "by_segment", "Less for another segment", ("segment",)

    def values(self, i: Any, j: Any, columns: Columns, heads: int) -> Any:
        return -0.5 * (columns.query["segment"][i] != columns.key["segment"][j])


@_unlisted
class SteepALiBi(ALiBi):
    kind, title = "steep_alibi", "ALiBi, squared"

    def values(self, i: Any, j: Any, columns: Columns, heads: int) -> Any:
        return -0.1 * (i + columns.offset - j) ** 2


@_unlisted
class Ramp(InputPosition):
    kind, title = "ramp", "Ramp"

    def vectors(self, positions: Any, width: int) -> Any:
        return positions[:, None] / np.arange(1, width + 1)


@_unlisted
class Cosines(Sinusoidal):
    kind, title = "cosines", "Cosines alone"

    def vectors(self, positions: Any, width: int) -> Any:
        return np.cos(positions[:, None] / np.arange(1, width + 1))


@_unlisted
class Quadratic(Rotary):
    kind, title = "quadratic", "Squares of positions"

    def tables(self, positions: Any, d_k: int) -> Any:
        angles = positions[:, None] ** 2 * np.ones(self.turned(d_k) // 2)
        return np.cos(angles), np.sin(angles)


@_unlisted
class Halved(Frequencies):
    kind, title = "halved", "Half as fast"

    def frequencies(self, width: int) -> Any:
        return super().frequencies(width) / 2


@_unlisted
class SumNorm(QKNorm):
    kind, title = "sum", "Divided by a sum"

    def normalised(self, rows: Any, xp: Any) -> Any:
        return rows / xp.sum(xp.abs(rows), axis=-1, keepdims=True)

    def script(self, d: Dialect) -> str:
        return f"def normed(rows):\n    return rows / {d.reduced('sum', 'abs(rows)')}"


NEW: list[dict[str, Any]] = [
    {"rule": SameParity()},
    {"rule": KeySegments()},
    {
        "rule": Combined((Term(Causal()), Term(KeySegments(), "or"))),
        "painted": Painted((Rectangle(0, 1, 1, 2, False),)),
    },
    {"scoring": Scoring(biases=(ByHead(), SteepALiBi(), ALiBi()))},
    {"scoring": Scoring(biases=(BySegment(),))},
    {"scoring": Scoring(position=Ramp())},
    {"scoring": Scoring(position=Cosines())},
    {"scoring": Scoring(rotary=Quadratic(layout="interleaved"))},
    {"scoring": Scoring(rotary=Halved())},
    {"scoring": Scoring(qk_norm=SumNorm())},
]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("changes", NEW, ids=lambda changes: str(next(iter(changes))))
def test_new_parts_are_copied_as_code(writer: str, heads: int, changes: dict[str, Any]) -> None:
    random = np.random.RandomState(2)
    tokens = TokenSequence.of("abcde", random.standard_normal((5, 4)), segment=[0, 0, 1, 1, 0])
    past = TokenSequence.of("xy", random.standard_normal((2, 4)), segment=[1, 0])
    row = Table.of(random.standard_normal((1, 4)))
    e = replace(
        Experiment.from_tokens(tokens.tokens, tokens.embeddings.array(), heads=heads),
        **{"tokens": tokens, "past": past, "appended": (AppendedKey("extra", row, row),), **changes},
    )
    names: dict[str, Any] = {}
    exec(compile(WRITERS[writer](e).text, "script", "exec"), names)
    t = trace(e)
    for stage in ("N", "output"):
        expected = t.stage(stage)
        found = np.asarray(names[stage]).reshape(expected.shape)
        assert np.allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_part_that_no_script_is_written_for_is_refused_by_name() -> None:
    @_unlisted
    class Odd(Normaliser):
        kind, title = "odd", "Odd one"

    @_unlisted
    class OddNorm(QKNorm):
        kind, title = "odd", "Odd norm"

    e = Experiment.from_tokens("ab", np.eye(2))
    for scoring in (Scoring(normaliser=Odd()), Scoring(qk_norm=OddNorm())):
        for writer in WRITERS.values():
            with pytest.raises(ExperimentError, match="received Odd"):
                writer(replace(e, scoring=scoring))
