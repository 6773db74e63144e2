"""A sequence of tokens with their embeddings and per-token columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_gui.model.errors import ExperimentError
from attn_gui.model.table import Table

# of a token or a dimension, in characters: no name that a person reads is longer
LONGEST_NAME = 10_000


@dataclass(frozen=True, eq=False)
class TokenSequence:
    """Tokens and their embeddings X.

    tokens: n names of 1 to LONGEST_NAME characters; a name may occur more than once.
    embeddings: Table [n, d], float64.
    dimensions: d names; None stands for the automatic name x1, x2, ...
    columns: per-token arrays of length n by name; ``pad`` (bool) marks padding.
    """

    tokens: tuple[str, ...]
    embeddings: Table
    dimensions: tuple[str | None, ...] = ()
    columns: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n, d = self.embeddings.shape
        if not self.dimensions:
            object.__setattr__(self, "dimensions", (None,) * d)
        if len(self.tokens) == 0:
            raise ExperimentError("tokens", "at least 1 token", "none")
        if len(self.tokens) != n:
            raise ExperimentError("embeddings", f"one row for each of {len(self.tokens)} tokens", f"{n} rows")
        if len(self.dimensions) != d:
            raise ExperimentError("dimensions", f"{d} names", f"{len(self.dimensions)}")
        for index, token in enumerate(self.tokens):
            if not isinstance(token, str) or token == "":
                raise ExperimentError(f"token {index + 1}", "a name of at least one character", repr(token))
            _check_length(f"token {index + 1}", token)
        for index, name in enumerate(self.dimensions):
            if name is not None:
                _check_length(f"dimension {index + 1}", name)
        for name, column in self.columns.items():
            if column.shape != (n,):
                raise ExperimentError(f"column {name}", f"shape ({n},)", f"{column.shape}")

    @classmethod
    def of(
        cls,
        tokens: Iterable[str],
        embeddings: ArrayLike,
        dimensions: Sequence[str | None] = (),
        pad: ArrayLike | None = None,
    ) -> TokenSequence:
        """From plain lists or arrays: embeddings [n, d], pad [n] bool."""
        columns = {} if pad is None else {"pad": frozen_flags(pad)}
        return cls(tuple(tokens), Table.of(embeddings), tuple(dimensions), columns)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def width(self) -> int:
        """d, the number of dimensions of an embedding."""
        return self.embeddings.width

    @property
    def pad(self) -> NDArray[np.bool_]:
        """Which tokens are padding, [n]."""
        return self.columns["pad"] if "pad" in self.columns else frozen_flags(np.zeros(len(self), bool))

    def dimension_name(self, index: int) -> str:
        return self.dimensions[index] or f"x{index + 1}"

    def rearranged(self, order: Sequence[int]) -> Mapping[str, NDArray[np.bool_]]:
        """The columns with their entries taken in ``order``."""
        index = np.asarray(order, dtype=np.intp)
        return {name: frozen_flags(column[index]) for name, column in self.columns.items()}

    def with_pad(self, pad: ArrayLike) -> TokenSequence:
        return replace(self, columns={**self.columns, "pad": frozen_flags(pad)})


def _check_length(field: str, name: str) -> None:
    if len(name) > LONGEST_NAME:
        raise ExperimentError(field, f"a name of at most {LONGEST_NAME:,} characters", f"one of {len(name):,}")


def frozen_flags(values: ArrayLike) -> NDArray[np.bool_]:
    """A read-only bool array of its own."""
    flags = np.array(values, dtype=bool)
    flags.flags.writeable = False
    return flags
