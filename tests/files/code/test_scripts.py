"""Every script is run, and gives what the independent reference gives."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.numbers import from_numpy
from attn_gui.compute.trace import trace
from attn_gui.files.code.literals import literal, number, rounded
from attn_gui.files.code.multihead import can_express
from attn_gui.files.code.page import INLINE, MOST_INLINE, Script
from attn_gui.files.code.scripts import numpy_script, pytorch_script
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.fitting import fields_of, with_what_fits
from attn_gui.model.masks import Causal, Imported
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.painted import Painted, Rectangle
from attn_gui.model.positions.learned import Learned
from attn_gui.model.precision import Precision
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey, FromTokens
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights
from tests.reference import Reference, reference
from tests.strategies import experiments

WRITERS = {"PyTorch": pytorch_script, "NumPy": numpy_script}
Writer = Callable[..., Script]
NUMBER = re.compile(r"-?(?:\d+\.\d*(?:e[+-]\d+)?|inf|nan)")
PRINTED = 0.5001e-4


def run(script: Script, file: Path | None = None) -> tuple[dict[str, Any], str]:
    """What the names of a script hold after it has run, and what it printed."""
    names: dict[str, Any] = {"__name__": "__main__", "__file__": str(file)}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(script.text, "script", "exec"), names)
    return names, out.getvalue()


def array(value: Any) -> Any:
    return np.asarray(value.detach().numpy() if isinstance(value, torch.Tensor) else value, dtype=np.float64)


def check(e: Experiment, script: Script, right: Reference, file: Path | None = None) -> None:
    """N and output lie as close to the reference as the trace has to, and are what was printed."""
    names, printed = run(script, file)
    numbers = [float(text) for text in NUMBER.findall(printed)]
    for name in ("N", "output"):
        found, expected = array(names[name]), right.stages[name]
        assert found.size == expected.size, script.text
        found = found.reshape(expected.shape)
        bound = right.tolerance(e, name)
        assert np.abs(found - expected).max(initial=0) <= bound, (name, script.text)
        own, numbers = numbers[: found.size], numbers[found.size :]
        assert np.abs(np.array(own).reshape(expected.shape) - found).max() <= PRINTED + 1e-6 * np.abs(found).max()
    assert numbers == []


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("precision", Precision)
@given(data=st.data())
@settings(max_examples=40)
def test_every_script_computes_what_is_shown(writer: str, precision: Precision, data: st.DataObject) -> None:
    e = data.draw(experiments(precision))
    check(e, WRITERS[writer](e), reference(e))


@st.composite
def as_torch_has_it(draw: st.DrawFn) -> Experiment:
    """Experiments of the sizes that nn.MultiheadAttention has, with any mask, any appended keys and a cache."""
    e = draw(experiments(draw(st.sampled_from([Precision.FLOAT32, Precision.FLOAT64])), ("tokens",)))
    random = np.random.RandomState(draw(st.integers(0, 2**32 - 1)))
    heads, d_k = draw(st.sampled_from([(1, 2), (2, 2), (3, 2), (2, 1)]))
    cross, d = draw(st.booleans()), heads * d_k
    keys = draw(st.sampled_from([d, 3])) if cross else d
    values = draw(st.sampled_from([keys, 5]))
    n_k = draw(st.integers(1, 4)) if cross else e.n_q
    sizes = {"W_Q": (d, d), "W_K": (keys, d), "W_V": (values, d), "W_O": (d, d)}
    biases = {f"b_{letter}": random.standard_normal(d) for letter in draw(st.sets(st.sampled_from("QKVO")))}
    weights = Weights.of(**{name: random.standard_normal(size) for name, size in sizes.items()}, **biases)

    def table(count: int, width: int) -> TokenSequence:
        return TokenSequence.of([f"t{i}" for i in range(count)], random.standard_normal((count, width)))

    appended = []
    for name in draw(st.sampled_from([(), ("bias",), ("zero",), ("bias", "zero"), ("zero", "bias")])):
        rows = random.standard_normal((2, 1, d)) * (name == "bias")
        appended.append(AppendedKey(name, *map(Table.of, rows)))
    return with_what_fits(
        fields_of(e)
        | {
            "tokens": TokenSequence.of(e.tokens.tokens, random.standard_normal((e.n_q, d)), **e.tokens.columns),
            "source": FromTokens(weights),
            "variant": Variant.MULTI_HEAD_CROSS if cross else Variant.MULTI_HEAD_SELF,
            "heads": heads,
            "kv_heads": heads,
            "context": table(n_k, keys) if cross else None,
            "values": table(n_k, values) if values != keys else None,
            "past": table(2, keys) if values == keys and draw(st.booleans()) else None,
            "appended": tuple(appended),
            "rule": Causal() if e.rule.per_head else e.rule,
            "painted": e.painted if draw(st.booleans()) else Painted(),
            "scoring": Scoring(position=e.scoring.position),
        }
    )


@given(as_torch_has_it())
@settings(max_examples=80)
def test_multihead_attention_where_it_can_express_it(e: Experiment) -> None:
    script = pytorch_script(e)
    assert ("nn.MultiheadAttention(" in script.text) == can_express(e)
    check(e, script, reference(e))
    assert "MultiheadAttention" not in numpy_script(e).text


def test_what_multihead_attention_cannot_express_is_written_out() -> None:
    def uses(**changes: Any) -> bool:
        return "nn.MultiheadAttention(" in pytorch_script(replace(plain, **changes)).text

    X = np.random.RandomState(0).standard_normal((3, 4))
    plain = Experiment.from_tokens("abc", X, heads=2)
    assert uses()
    assert uses(rule=Causal(), precision=Precision.FLOAT64)
    assert not uses(precision=Precision.BFLOAT16)
    assert not uses(rule=Imported(np.zeros((3, 3), bool)))  # NaN there
    for changed in ({"scale": 1.0}, {"softcap": 2.0}, {"temperature": 2.0}, {"sinks": (0.0, 1.0)}):
        assert not uses(scoring=Scoring(**changed))
    for kind in set(Normaliser.kinds) - {"softmax"}:
        assert not uses(scoring=Scoring(normaliser=Normaliser.of_kind(kind)()))
    ones = Table.of(np.ones((1, 4)))
    assert uses(appended=(AppendedKey("bias", ones, ones),))
    assert not uses(appended=(AppendedKey("a", ones, ones), AppendedKey("b", ones, ones)))


def special(name: str) -> Experiment:
    random = np.random.RandomState(1)
    X = random.standard_normal((4, 4))
    e = Experiment.from_tokens(["a", "b", "c", "d"], X, heads=2)
    match name:
        case "learned":
            return replace(e, scoring=Scoring(position=Learned(random.standard_normal((9, 4)))))
        case "imported rotary":
            return replace(
                e,
                scoring=Scoring(rotary=ImportedRotary(offset=1, cos=X[:, :1].repeat(2, 0), sin=X[:, 1:2].repeat(2, 0))),
            )
        case "imported mask":
            return replace(e, rule=Imported(random.standard_normal((2, 4, 4)) > 0))
        case "many rectangles":
            cells = [(i, j) for i in range(4) for j in range(4) if (i + j) % 2]
            return replace(e, painted=Painted(tuple(Rectangle(i, i + 1, j, j + 1, False) for i, j in cells * 3)))
        case "negative zero":
            return Experiment.from_tokens(
                "ab", [[-0.0, 1e100], [5e-324, -1.5]], precision=Precision.FLOAT64, scoring=Scoring(scale=0.0)
            )
    raise AssertionError(name)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("name", ["learned", "imported rotary", "imported mask", "many rectangles", "negative zero"])
def test_what_random_experiments_lack(writer: str, name: str) -> None:
    e = special(name)
    names, _ = run(WRITERS[writer](e))
    t = trace(e)
    for stage in ("N", "output"):
        expected = t.stage(stage).astype(np.float64)
        assert np.allclose(array(names[stage]).reshape(expected.shape), expected, rtol=1e-5, atol=1e-6)
    assert np.array_equal(
        array(names["X"]) if name != "learned" else 0, array(t.stage("X")) if name != "learned" else 0
    )


def test_infinite_and_missing_numbers_come_along() -> None:
    e = Experiment.from_qkv([[1.0]], [[1.0], [2.0]], [[np.inf], [np.nan]])
    for writer in WRITERS.values():
        names, printed = run(writer(e))
        assert np.isnan(array(names["output"])).all()
        assert "nan" in printed
        assert np.array_equal(array(names["V"]), [[np.inf], [np.nan]], equal_nan=True)


# numbers


@given(st.floats(allow_nan=False) | st.integers(-(2**70), 2**70).map(float))
def test_a_number_reads_back_to_itself(value: float) -> None:
    read = eval(number(value), {"inf": np.inf})
    assert type(read) is float
    assert np.float64(read).tobytes() == np.float64(value).tobytes()


@pytest.mark.parametrize("precision", [Precision.FLOAT16, Precision.BFLOAT16])
def test_every_half_precision_number_reads_back_in_both_libraries(precision: Precision) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    halves = bits.view(np.float16)
    if precision is Precision.BFLOAT16:
        halves = (bits.astype(np.uint32) << 16).view(np.float32)
    values = halves[~np.isnan(halves)].astype(np.float64)
    read = eval(literal(values, precision), {"inf": np.inf})
    for writer in WRITERS.values():
        names, _ = run(writer(Experiment.from_tokens("a", [[1.0]], precision=precision)))
        stage = names["stage"]
        made = torch.tensor(read, dtype=torch.float32) if writer is pytorch_script else np.array(read, np.float32)
        found = array(stage(made))
        assert np.array_equal(found, values) and np.array_equal(np.signbit(found), np.signbit(values))


@given(st.lists(st.floats(width=32), min_size=1, max_size=20), st.sampled_from(Precision))
def test_rounding_is_that_of_the_computation(values: list[float], precision: Precision) -> None:
    exact = np.array(values, dtype=np.float64) * (1 + 2.0**-30)
    dtype = getattr(torch, precision)
    expected = from_numpy(exact, dtype, torch.device("cpu")).double().numpy()
    assert np.array_equal(rounded(exact, precision).astype(np.float64), expected, equal_nan=True)


# size, and what a session may hold


def wide(d: int) -> Experiment:
    random = np.random.RandomState(4)
    weights = Weights.of(*(random.standard_normal((d, d)) for _ in range(3)))
    return Experiment.from_tokens("abc", random.standard_normal((3, d)), weights)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("precision", Precision)
def test_many_numbers_go_into_a_file_beside_the_script(tmp_path: Path, writer: str, precision: Precision) -> None:
    e = replace(wide(12), precision=precision)
    script = WRITERS[writer](e, "it's.npz")
    assert set(script.arrays) == {"X", "W_Q", "W_K", "W_V"}
    path = tmp_path / "script.py"
    script.save(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["it's.npz", "script.py"]
    check(e, script, reference(e), path)
    assert len(script.text) < 2000
    small = WRITERS[writer](wide(8), "it's.npz")
    assert not small.arrays
    assert sum(table.size for table in (np.eye(8),) * 3) < INLINE


def test_a_script_runs_alone(tmp_path: Path) -> None:
    e = replace(wide(12), rule=Causal())
    expected = trace(e).stage("output")
    for name, writer in WRITERS.items():
        path = tmp_path / f"{name}.py"
        writer(e, f"{name}.npz").save(path)
        done = subprocess.run(
            [sys.executable, "-W", "error", path], capture_output=True, text=True, check=True, cwd="/"
        )
        shown = np.array([float(text) for text in NUMBER.findall(done.stdout.partition("output:")[2])])
        assert np.abs(shown.reshape(expected.shape) - expected).max() < 1e-4
        assert done.stderr == ""


def test_what_is_too_much_for_one_piece_is_refused_with_what_to_do() -> None:
    big = wide(200)
    with pytest.raises(ExperimentError, match=f"at most {MOST_INLINE:,} numbers, received 120,600: save the script"):
        pytorch_script(big)
    assert pytorch_script(big, "a.npz").arrays


HARM = [
    "a\nraise SystemExit(1)",
    'a"""',
    "\\",
    "'",
    "#",
    "\x00",
    "\u2028raise",
    "\ud800",
    "\r\nimport os",
    "​",
    "a" * 500,
]


@pytest.mark.parametrize("writer", WRITERS)
def test_names_cannot_become_code(writer: str) -> None:
    keys = TokenSequence.of(HARM, np.ones((len(HARM), 2)))
    row = Table.of([[1.0, 2.0]])
    e = Experiment.from_tokens(
        HARM, np.ones((len(HARM), 2)), context=keys, past=keys, appended=tuple(AppendedKey(n, row, row) for n in HARM)
    )
    script = WRITERS[writer](e)
    script.text.encode()
    check(e, script, reference(e))
    assert max(map(len, script.text.splitlines())) <= 130
