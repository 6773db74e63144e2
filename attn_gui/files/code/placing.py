"""Positions as lines of a script: vectors added to the inputs, and rotary tables for queries and keys."""

from __future__ import annotations

import numpy as np

from attn_gui.files.code.literals import number
from attn_gui.files.code.page import Page
from attn_gui.model.columns import Values
from attn_gui.model.experiment import Experiment
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.rotary import Rotary
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.tokens import TokenSequence


def add_positions(page: Page, e: Experiment) -> None:
    """``query_positions`` and ``key_positions``, where each query and key stands."""
    for name, at in (("query_positions", e.query_positions), ("key_positions", e.key_positions)):
        if np.array_equal(at, np.arange(at[0], at[0] + len(at))):
            page.add(f"{name} = {page.dialect.xp}.arange({at[0]}, {at[0] + len(at)})")
        else:
            page.exact_table(name, at)


def define_input_position(page: Page, e: Experiment) -> None:
    """The function ``sinusoidal``, where positions on the inputs are that."""
    position, d = e.scoring.position, page.dialect
    # not what derives from it, which has vectors of its own
    if type(position) is Sinusoidal:
        page.define(
            "def sinusoidal(positions, width):\n"
            '    """A sine and a cosine for each wavelength (Vaswani et al. 2017, section 3.5)."""\n'
            f"    pairs = {d.xp}.arange((width + 1) // 2, dtype={d.xp}.float64)\n"
            f"    angles = positions[:, None] / {number(position.base)} ** (2 * pairs / width)\n"
            f"    both = {d.xp}.stack([{d.xp}.sin(angles), {d.xp}.cos(angles)], {d.axis}=-1)\n"
            f"    return {d.cast('both.reshape(len(positions), -1)[:, :width]', 'dtype')}\n"
        )


def input_vectors(page: Page, e: Experiment, name: str, at: Values, rows: TokenSequence) -> str:
    """What is added to the embeddings ``rows``, which stand at ``at``; ``name`` is that of the positions."""
    if type(e.scoring.position) is Sinusoidal:
        return f"sinusoidal({name}, {rows.width})"
    table = name.replace("positions", "vectors")
    page.working_table(
        table, e.scoring.position.vectors(at, rows.width), shape="[tokens, width], one for each position"
    )
    return table


def define_turned(page: Page, rotary: Rotary, d_k: int) -> None:
    """The function ``turned(rows, cos, sin)``."""
    d, width = page.dialect, rotary.turned(d_k)
    rest = width < d_k
    if rotary.layout == "halves":
        half = width // 2
        pairs = [f"    x, y = rows[..., :{half}], rows[..., {half}:{width}]"]
        parts = "x * cos - y * sin, x * sin + y * cos"
        result = [f"    return {d.join(f'{parts}, rows[..., {width}:]' if rest else parts, -1)}"]
        how = f"dimension p with p + {half}"
    else:
        pairs = [f"    x, y = rows[..., 0:{width}:2], rows[..., 1:{width}:2]"]
        stacked = f"{d.xp}.stack([x * cos - y * sin, x * sin + y * cos], {d.axis}=-1)"
        result = [f"    both = {stacked}.reshape(*x.shape[:-1], {width})"]
        result.append(f"    return {d.join(f'both, rows[..., {width}:]', -1)}" if rest else "    return both")
        how = "dimension 2p with 2p + 1"
    says = f'    """Rotary positions: {how} (Su et al. 2021)."""'
    page.define("\n".join(["def turned(rows, cos, sin):", says, *pairs, *result]))


def add_rotary_tables(page: Page, e: Experiment, rotary: Rotary) -> None:
    """``q_cos``, ``q_sin``, ``k_cos``, ``k_sin``, [n, pairs]."""
    d = page.dialect
    # what derives from it has tables of its own
    if type(rotary) is not Frequencies:
        for letter, at in (("q", e.query_positions), ("k", e.key_positions)):
            for name, values in zip(("cos", "sin"), rotary.tables(at, e.d_k), strict=True):
                page.working_table(f"{letter}_{name}", values, shape="[n, pairs]")
        return
    _add_frequencies(page, rotary, rotary.turned(e.d_k))
    shift = f" + {rotary.offset}" if rotary.offset > 0 else f" - {-rotary.offset}" if rotary.offset else ""
    grown = f" * {number(rotary.lengthening)}" if rotary.lengthening != 1 else ""
    for letter, positions in (("q", "query_positions"), ("k", "key_positions")):
        page.add(
            f"angles = ({positions}{shift})[:, None] * frequencies"
            if shift
            else f"angles = {positions}[:, None] * frequencies"
        )
        for name in ("cos", "sin"):
            value = f"{d.xp}.{name}(angles){grown}"
            page.add(f"{letter}_{name} = {d.cast(f'({value})' if grown else value, 'dtype')}")


def _add_frequencies(page: Page, rotary: Frequencies, width: int) -> None:
    """``frequencies``, radians a position for each pair, float64."""
    xp = page.dialect.xp
    if rotary.scaling in ("none", "linear"):
        slower = f" / {number(rotary.factor)}" if rotary.scaling == "linear" else ""
        exponents = f"{xp}.arange(0, {width}, 2, dtype={xp}.float64) / {width}"
        page.add(f"frequencies = {number(rotary.base)} ** -({exponents}){slower}  # radians a position")
        return
    page.add(f"# base {rotary.base:g}, scaled by {rotary.scaling}, factor {rotary.factor:g}: radians a position")
    page.exact_table("frequencies", rotary.frequencies(width))
