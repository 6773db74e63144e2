"""An experiment as a script, step by step in plain PyTorch or NumPy: every stage under its own name."""

from __future__ import annotations

import numpy as np

from attn_gui.files.code import biasing, masking, placing
from attn_gui.files.code.literals import number
from attn_gui.files.code.page import MOST, Page, remark
from attn_gui.model.dialects import Dialect
from attn_gui.model.experiment import Experiment
from attn_gui.model.sources import FromTokens
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence


def page_of(e: Experiment, dialect: Dialect, decimals: int) -> Page:
    """The whole script."""
    page = Page(dialect, e.precision)
    add_beginning(page, e, decimals, f"step by step in {dialect.title}")
    _Steps(page, e).write()
    return page


def add_beginning(page: Page, e: Experiment, decimals: int, how: str) -> None:
    """The title, how numbers are printed, and the type that they are kept in."""
    d = page.dialect
    count = len(e.tokens)
    tokens = f"{count:,} token{'s' if count != 1 else ''}"
    over = f" over {e.n_k:,} keys" if e.n_k != count or e.variant.is_cross else ""
    label = e.variant.label if e.variant.label.endswith("attention") else f"{e.variant.label}-attention"
    page.title(
        f"{label} of {tokens}{over}, {how}.",
        "",
        "Rows are queries, columns are keys. Prints the weights N and the output. Written by attn_gui.",
    )
    if d.is_torch:
        page.add(f"torch.set_printoptions(precision={decimals}, sci_mode=False, linewidth=160)")
    else:
        page.add(f"np.set_printoptions(precision={decimals}, suppress=True, linewidth=160)")
    page.add(f"dtype = {d.dtype(e.precision)}")
    if page.halves:
        page.define(d.stage(e.precision))
    page.gap()


def add_printing(page: Page, e: Experiment) -> None:
    page.gap()
    page.add('print("N, the weights:")', "print(N)")
    if e.has_values:
        page.add('print("output:")', "print(output)")


def add_sequence(page: Page, name: str, sequence: TokenSequence, shape: str) -> None:
    """The embeddings of a token table, each row with its token."""
    page.table(name, sequence.embeddings.array(), sequence.tokens, shape)


def add_inputs(page: Page, e: Experiment) -> tuple[str, str, str]:
    """The token tables with their positions; returns what queries, keys and values are projected from."""
    d, position = page.dialect, e.scoring.position
    placed = position.kind != "none"
    if placed:
        placing.define_input_position(page, e)
    add_sequence(page, "X", e.tokens, "[n_q, d_model]")
    keys = "X"
    if e.variant.is_cross:
        add_sequence(page, "context", e.present_keys, "[keys, d_context]")
        keys = "context"
    if e.past is not None:
        add_sequence(page, "past", e.past, "[past, d_model]: the cache, which asks nothing")
        page.add(f"keys = {d.join(f'past, {keys}', 0)}")
        keys = "keys"
    if placed:
        page.gap()
        page.add(f"# {position.title} positions are added to the embeddings")
        vectors = placing.input_vectors(page, e, "query_positions", e.query_positions, e.tokens)
        placed_x = page.staged(f"X + {vectors}")
        if keys == "X":
            page.add(f"X = {placed_x}")
        else:
            vectors = placing.input_vectors(page, e, "key_positions", e.key_positions, e.key_rows)
            page.add(f"{keys} = {page.staged(f'{keys} + {vectors}')}", f"X = {placed_x}")
    values = keys
    if e.values is not None:
        add_sequence(page, "values", e.values, "[keys, d_values]: values have embeddings of their own")
        values = "values"
    return "X", keys, values


class _Steps:
    """Writes the stages one after another. ``flat``: one head, and no axis for it."""

    def __init__(self, page: Page, e: Experiment) -> None:
        self._page, self._e, self._d = page, e, page.dialect
        self._flat = not e.variant.is_multi_head and e.heads == 1
        self._transposed = ".T" if self._flat else f".{self._d.swap}(-2, -1)"
        self._mask = masking.masking(e)
        self._normaliser = e.scoring.normaliser.script(self._d)

    def write(self) -> None:
        page, e = self._page, self._e
        scoring = e.scoring
        if scoring.qk_norm is not None:
            page.define(scoring.qk_norm.script(self._d))
        if scoring.rotary is not None:
            placing.define_turned(page, scoring.rotary, e.d_k)
        if self._normaliser:
            page.define(self._normaliser)
        if scoring.rotary is not None or scoring.position.kind == "sinusoidal":
            placing.add_positions(page, e)
        if not self._flat:
            sizes = {"heads": e.heads, "kv_heads": e.kv_heads, "d_k": e.d_k, "d_v": e.d_v}
            there = {name: size for name, size in sizes.items() if size}
            page.add(f"{', '.join(there)} = {', '.join(map(str, there.values()))}")
        self._add_projections()
        page.gap()
        self._add_norm_and_rotary()
        self._add_appended()
        if e.heads != e.kv_heads and e.has_values:
            page.add(f"# {e.heads // e.kv_heads} query heads share a head of keys and values")
            for letter in "KV" if e.has_queries else "V" if e.has_values else "":
                page.add(f"{letter} = {self._d.repeat(letter, 'heads // kv_heads')}")
        page.gap()
        if e.has_queries:
            self._add_scores()
        if e.has_scores:
            self._add_bias_and_mask()
            self._add_weights()
        if e.has_values:
            self._add_output()
        add_printing(page, e)

    def _shape(self, rows: str, columns: str, heads: str = "heads") -> str:
        return f"[{rows}, {columns}]" if self._flat else f"[{heads}, {rows}, {columns}]"

    def _add_projections(self) -> None:
        """Q, K and V, [n, size] or [heads, n, size]."""
        page, e = self._page, self._e
        sizes = {"Q": ("n_q", "d_k", "heads"), "K": ("n_k", "d_k", "kv_heads"), "V": ("n_k", "d_v", "kv_heads")}
        if not isinstance(e.source, FromTokens):
            sizes |= dict.fromkeys("AN", ("n_q", "n_k", "heads"))
            for letter, given in e.source.parts().items():
                # more than a script may hold is refused by its size, before it is looked at
                numbers = given if given.size > MOST else given.astype(np.float64)
                page.table(letter, numbers[0] if self._flat else numbers, shape=self._shape(*sizes[letter]))
            return
        inputs = add_inputs(page, e)
        page.gap()
        for name, table in e.source.weights.items():
            shape = "" if name.startswith("b") else "[d_in, d_out]"
            page.table(name, table.array()[0] if name.startswith("b") else table.array(), shape=shape)
        page.gap()
        for (letter, (rows, columns, heads)), source in zip(sizes.items(), inputs, strict=True):
            bias = f" + b_{letter}" if e.source.weights.get(f"b_{letter}") is not None else ""
            value = page.staged(f"{source} @ W_{letter}{bias}")
            if not self._flat:
                value = value if value.endswith(")") else f"({value})"
                value = f"{value}.reshape(-1, {heads}, {columns}).{self._d.swap}(0, 1)"
            page.add(f"{letter} = {value}  # {self._shape(rows, columns, heads)}")

    def _add_norm_and_rotary(self) -> None:
        page, scoring = self._page, self._e.scoring
        norm, rotary = scoring.qk_norm, scoring.rotary
        if norm is not None:
            for letter, gain in (("Q", norm.gain_q), ("K", norm.gain_k)):
                name = f"gain_{letter.lower()}"
                if gain is not None:
                    page.working_table(name, gain, shape="[d_k]")
                page.add(f"{letter} = {page.staged(f'normed({letter})' + (f' * {name}' if gain is not None else ''))}")
        if rotary is not None:
            placing.add_rotary_tables(page, self._e, rotary)
            for letter in "QK":
                tables = f"{letter.lower()}_cos, {letter.lower()}_sin"
                page.add(f"{letter} = {page.staged(f'turned({letter}, {tables})')}")

    def _add_appended(self) -> None:
        """Keys and values that are no token's, after the others."""
        page, e = self._page, self._e
        for index, key in enumerate(e.appended, start=1):
            page.add(f"# a key after all tokens, which is no token's ({remark(key.name)})")
            tables: tuple[tuple[str, Table, str], ...] = (("K", key.K, "d_k"), ("V", key.V, "d_v"))
            for letter, table, size in tables:
                name = f"{letter.lower()}_appended_{index}"
                page.table(name, table.array()[0], shape=f"[kv_heads * {size}]")
                part = f"{name}[None, :]" if self._flat else f"{name}.reshape(kv_heads, 1, {size})"
                page.add(f"{letter} = {self._d.join(f'{letter}, {part}', -2)}")

    def _add_scores(self) -> None:
        """A, before bias and mask: raw, scaled, capped."""
        page, scoring = self._page, self._e.scoring
        scale = "1 / math.sqrt(Q.shape[-1])" if scoring.scale is None else number(scoring.scale)
        if scoring.temperature != 1:
            scale = f"{scale} / {number(scoring.temperature)}"
            page.add(f"scale = {scale}  # a temperature divides it")
        else:
            page.add(f"scale = {scale}")
        page.add(
            f"A = {page.staged(page.staged(f'Q @ K{self._transposed}') + ' * scale')}  # {self._shape('n_q', 'n_k')}"
        )
        if scoring.softcap is not None:
            cap = number(scoring.softcap)
            page.add(f"A = {page.staged(f'{cap} * {self._d.xp}.tanh(A / {cap})')}  # softcap")

    def _add_bias_and_mask(self) -> None:
        page, scoring = self._page, self._e.scoring
        if masking.needs_indices(self._e) or biasing.needs_indices(self._e):
            page.gap()
            masking.add_indices(page, self._e)
        if scoring.biases:
            biasing.add_bias(page, self._e, flat=self._flat)
            page.add(f"A = {page.staged('A + bias')}")
        if self._mask.present:
            page.gap()
            masking.add_mask(page, self._e, appended=True)
            page.add(f"A = {self._d.xp}.where(allowed, A, -{self._d.xp}.inf)")

    def _add_weights(self) -> None:
        page, e, d = self._page, self._e, self._d
        page.gap()
        scores = "A"
        if self._mask.has_empty_rows:
            page.add(f"empty = ~{d.reduced('any', 'allowed')}  # queries that may attend to nothing gather nothing")
            page.add(f"scores = {d.xp}.where(empty, 0, A)")
            scores = "scores"
        kind = e.scoring.normaliser.kind
        call = f"{kind}({{}})" if self._normaliser else f"{d.xp}.{kind}({{}}, {d.axis}=-1)"
        if e.scoring.sinks is not None:
            page.add("# a sink: for each head one more score in the row, whose key gathers nothing")
            page.working_table("sinks", np.array(e.scoring.sinks))
            sinks = "sinks" if self._flat else "sinks[:, None, None]"
            spread = f"{d.xp}.broadcast_to({sinks}, (*A.shape[:-1], 1))"
            page.add(f"with_sink = {d.join(f'{scores}, {spread}', -1)}")
            weights = call.format("with_sink") + "[..., :-1]"
        else:
            weights = call.format(scores)
        if self._mask.has_empty_rows:
            weights = f"{d.xp}.where(empty, 0, {weights})"
        page.add(f"N = {page.staged(weights)}  # {self._shape('n_q', 'n_k')}")

    def _add_output(self) -> None:
        page, e, d = self._page, self._e, self._d
        gathered = f"{d.xp}.where(empty, 0, N @ V)" if self._mask.has_empty_rows else "N @ V"
        gathered = page.staged(gathered)
        if self._flat:
            page.add(f"output = {gathered}  # [n_q, d_v]")
            return
        page.add(f"gathered = {gathered}  # [heads, n_q, d_v]")
        page.add(f"concat = gathered.{d.swap}(0, 1).reshape(-1, heads * d_v)  # heads side by side")
        weights = e.weights
        if weights is None or weights.W_O is None:
            page.add("output = concat")
            return
        bias = " + b_O" if weights.b_O is not None else ""
        page.add(f"output = {page.staged(f'concat @ W_O{bias}')}  # [n_q, d_out]")
