"""Whether the shapes of an experiment fit together."""

from __future__ import annotations

from attn_gui.model.errors import ExperimentError
from attn_gui.model.given import Given
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey, GivenQKV, GivenScores, GivenSource, called
from attn_gui.model.table import Table
from attn_gui.model.weights import Weights


def check_projections(
    weights: Weights, widths: tuple[int, int, int], heads: tuple[int, int], *, multi_head: bool
) -> None:
    """Check ``weights`` against the widths of query, key and value rows and the counts of query and kv heads."""
    d_model, d_context, d_values = widths
    q_heads, kv_heads = heads
    if min(widths) < 1:
        raise ExperimentError("embeddings", "at least 1 dimension", "0")
    _check_matrix("W_Q", weights.W_Q, d_model, q_heads)
    d_k = weights.W_Q.width // q_heads
    _check_matrix("W_K", weights.W_K, d_context, kv_heads)
    if weights.W_K.width != kv_heads * d_k:
        raise ExperimentError("W_K", f"{kv_heads * d_k} columns ({kv_heads} x d_k {d_k})", str(weights.W_K.width))
    _check_matrix("W_V", weights.W_V, d_values, kv_heads)
    d_v = weights.W_V.width // kv_heads
    if multi_head:
        if weights.W_O is None:
            raise ExperimentError("W_O", f"a matrix of {q_heads * d_v} rows", "none")
        _check_matrix("W_O", weights.W_O, q_heads * d_v, 1)
    elif weights.W_O is not None or weights.b_O is not None:
        raise ExperimentError("W_O", "none in a single-head variant", "a matrix or its bias")
    for bias, matrix in (("b_Q", "W_Q"), ("b_K", "W_K"), ("b_V", "W_V"), ("b_O", "W_O")):
        row, of = weights.get(bias), weights.get(matrix)
        if row is not None and (of is None or row.shape != (1, of.width)):
            expected = f"shape (1, {of.width})" if of is not None else f"none without {matrix}"
            raise ExperimentError(bias, expected, f"shape {row.shape}")


def _check_matrix(name: str, table: Table, rows: int, heads: int) -> None:
    if len(table) != rows:
        raise ExperimentError(name, f"{rows} rows", f"shape {table.shape}")
    if table.width < 1 or table.width % heads:
        raise ExperimentError(name, f"columns in {heads} equal parts, one per head", f"shape {table.shape}")


def check_given(source: GivenSource, heads: int, kv_heads: int, n_q: int, n_k: int) -> None:
    """Check what was given against the counts of heads, queries and keys."""
    rows = {"Q": (heads, n_q), "K": (kv_heads, n_k), "V": (kv_heads, n_k)}
    for name, array in source.parts().items():
        if name in rows:
            _check_rows(name, array, *rows[name])
        elif array.shape != (heads, n_q, n_k):
            raise ExperimentError(name, f"shape ({heads}, {n_q}, {n_k}): heads, queries, keys", f"{array.shape}")
    if isinstance(source, GivenQKV) and source.Q.shape[2] != source.K.shape[2]:
        raise ExperimentError("K", f"rows as long as Q's, {source.Q.shape[2]}", str(source.K.shape[2]))


def _check_rows(name: str, array: Given, count: int, length: int) -> None:
    if array.ndim != 3 or array.shape[:2] != (count, length) or array.shape[2] < 1:
        raise ExperimentError(name, f"shape ({count}, {length}, size)", f"{array.shape}")


def check_acting(source: GivenSource, scoring: Scoring, masked: bool, appended: int) -> None:
    """Check that nothing is asked to act on what was given that comes before it."""
    plain = Scoring()
    if scoring.position.kind != "none":
        raise ExperimentError("position", f"none where {called(source)} were given", scoring.position.title)
    if isinstance(source, GivenQKV):
        return
    given = f"none where {called(source)} were given"
    if appended:
        raise ExperimentError("appended", given, f"{appended} keys")
    for name in ("qk_norm", "rotary"):
        if (part := getattr(scoring, name)) is not None:
            raise ExperimentError(name, given, part.title)
    for name in ("scale", "softcap", "temperature"):
        if (number := getattr(scoring, name)) != getattr(plain, name):
            raise ExperimentError(name, given, f"{number:g}")
    if isinstance(source, GivenScores):
        return
    if scoring.biases:
        raise ExperimentError("biases", given, scoring.biases[0].title)
    if scoring.sinks is not None:
        raise ExperimentError("sinks", given, f"{len(scoring.sinks)}")
    if scoring.normaliser.kind != plain.normaliser.kind:
        raise ExperimentError("normaliser", given, scoring.normaliser.title)
    if masked:
        raise ExperimentError("mask", given, "one")


def check_appended(appended: tuple[AppendedKey, ...], key_width: int, value_width: int) -> None:
    """Check appended keys against the widths of all kv heads together."""
    for key in appended:
        for letter, row, width in (("K", key.K, key_width), ("V", key.V, value_width)):
            if row.shape != (1, width):
                raise ExperimentError(f"{letter} of {key.name}", f"shape (1, {width})", f"{row.shape}")
