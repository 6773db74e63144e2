"""A sequence of tokens with their embeddings and per-token columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from numpy.typing import ArrayLike

from attn_gui.model.columns import Values, column_of
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
    columns: per-token arrays of length n by name (:data:`attn_gui.model.columns.COLUMNS`), those that were given.
    """

    tokens: tuple[str, ...]
    embeddings: Table
    dimensions: tuple[str | None, ...] = ()
    columns: Mapping[str, Values] = field(default_factory=dict)

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
        _check_tokens(self.tokens)
        for index, name in enumerate(self.dimensions):
            if name is not None:
                _check_length(f"dimension {index + 1}", name)
        columns = {name: column_of(name).checked(values, n) for name, values in self.columns.items()}
        object.__setattr__(self, "columns", columns)

    @classmethod
    def of(
        cls,
        tokens: Iterable[str],
        embeddings: ArrayLike,
        dimensions: Sequence[str | None] = (),
        pad: ArrayLike | None = None,
        **columns: ArrayLike,
    ) -> TokenSequence:
        """From plain lists or arrays: embeddings [n, d], pad [n] bool, and other columns by name, [n] whole numbers."""
        given = columns if pad is None else {"pad": pad, **columns}
        names = tuple(tokens)
        checked = {name: column_of(name).checked(values, len(names)) for name, values in given.items()}
        return cls(names, Table.of(embeddings), tuple(dimensions), checked)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def width(self) -> int:
        """d, the number of dimensions of an embedding."""
        return self.embeddings.width

    @property
    def pad(self) -> Values:
        """Which tokens are padding, [n] bool."""
        return self.column("pad")

    def column(self, name: str) -> Values:
        """The column called ``name``, [n], with its defaults where nobody has given it values."""
        return self.columns[name] if name in self.columns else column_of(name).default(len(self))

    def dimension_name(self, index: int) -> str:
        return self.dimensions[index] or f"x{index + 1}"

    def rearranged(self, order: Sequence[int | None]) -> Mapping[str, Values]:
        """The columns after tokens moved: place r now holds what was at ``order[r]``, or a new token (None)."""
        return {name: column_of(name).rearranged(values, order) for name, values in self.columns.items()}

    def with_column(self, name: str, values: ArrayLike) -> TokenSequence:
        """With the column called ``name`` replaced; raises ExperimentError."""
        checked = column_of(name).checked(values, len(self))
        return replace(self, columns={**self.columns, name: checked})


def _check_tokens(tokens: tuple[str, ...]) -> None:
    # of very many, most edits leave all as they are: looked at one by one only where one of them is wrong
    if set(map(type, tokens)) == {str} and min(map(len, tokens)) > 0 and max(map(len, tokens)) <= LONGEST_NAME:
        return
    for index, token in enumerate(tokens):
        if not isinstance(token, str) or token == "":
            raise ExperimentError(f"token {index + 1}", "a name of at least one character", repr(token))
        _check_length(f"token {index + 1}", token)


def _check_length(field: str, name: str) -> None:
    if len(name) > LONGEST_NAME:
        raise ExperimentError(field, f"a name of at most {LONGEST_NAME:,} characters", f"one of {len(name):,}")
