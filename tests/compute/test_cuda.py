"""On a CUDA device: listed by its name, and in agreement with the CPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from attn_gui.compute import budget
from attn_gui.compute.devices import devices
from attn_gui.compute.picture import picture
from attn_gui.compute.reading import read_cell
from attn_gui.compute.trace import trace
from attn_gui.model.asks import PictureAsk
from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.errors import TooLarge
from attn_gui.model.experiment import Experiment
from attn_gui.model.initialise import initial_weights
from attn_gui.model.masks import Causal, Combined, MaskRule, Padding, SlidingWindow, Term, choosable
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.painted import Painted, Rectangle
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.table import Table

pytestmark = pytest.mark.cuda

UNPAINTED = Painted()
PER_HEAD = Combined((Term(Causal()), Term(SlidingWindow(5), heads=(1, 3)), Term(Padding(), "and", heads=(2,))))


def experiment(n: int, precision: Precision, rule: MaskRule, painted: Painted = UNPAINTED) -> Experiment:
    X = np.random.RandomState(1).standard_normal((n, 32))
    weights = initial_weights("linear", 32, 32, 4, seed=3, biases=True)
    e = Experiment.from_tokens([f"t{i}" for i in range(n)], X, weights, heads=4, precision=precision)
    pad = np.arange(n) % 5 == 4
    return Experiment(
        e.tokens.with_column("pad", pad), e.source, e.variant, 4, 4, rule=rule, painted=painted, precision=precision
    )


def test_each_device_is_listed() -> None:
    listed = [device for device in devices() if device.name.startswith("cuda")]
    assert [device.name for device in listed] == [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    for index, device in enumerate(listed):
        assert torch.cuda.get_device_properties(index).name in device.title
        assert device.reason is None


@pytest.mark.parametrize("precision", Precision)
@pytest.mark.parametrize("rule", [MaskRule(), Causal(), Padding(), SlidingWindow(3)], ids=lambda rule: rule.kind)
def test_a_trace_agrees_with_the_cpu(precision: Precision, rule: MaskRule) -> None:
    e = experiment(60, precision, rule, Painted((Rectangle(7, 8, 0, 60, False), Rectangle(0, 2, 30, 40, True))))
    here, there = trace(e), trace(e, "cuda:0")
    assert there.device == "cuda:0"
    close = 1e-12 if precision is Precision.FLOAT64 else 8 * precision.eps
    for name in stages_of(e):
        np.testing.assert_allclose(
            there.stage(name).astype(float), here.stage(name).astype(float), rtol=close, atol=close, err_msg=name
        )
    assert (there.stage("N")[:, 7] == 0).all()
    np.testing.assert_allclose(there.row_sums("mean"), here.row_sums("mean"), atol=close)
    for stage in ("A_masked", "N"):
        for head in (2, "mean"):
            request = PictureAsk(stage, head, size=(20, 25), diverging=stage != "N").request(e)
            mine, theirs = picture(here, request), picture(there, request)
            assert np.abs(mine.index.astype(int) - theirs.index).max() <= max(1, 4 * 253 * close)
            assert np.array_equal(mine.index >= 254, theirs.index >= 254)
    a, b = read_cell(here, 1, 9, 3), read_cell(there, 1, 9, 3)
    assert (a.allowed, a.scale) == (b.allowed, b.scale)
    assert pytest.approx(a.N, abs=close) == b.N


@pytest.mark.parametrize("rule", [*(rule() for rule in choosable()), PER_HEAD], ids=lambda rule: rule.kind)
def test_every_rule_masks_the_same_cells_there(rule: MaskRule) -> None:
    e = experiment(60, Precision.FLOAT32, rule)
    columns = {"segment": np.arange(60) // 7, "parent": (np.arange(60) + 1) // 2 - 1}
    tokens = e.tokens
    for name, values in columns.items():
        tokens = tokens.with_column(name, values)
    e = replace(e, tokens=tokens)
    here, there = trace(e).stage("A_masked"), trace(e, "cuda:0").stage("A_masked")
    assert np.array_equal(np.isneginf(here), np.isneginf(there))


@pytest.mark.parametrize("precision", [Precision.FLOAT64, Precision.FLOAT32, Precision.BFLOAT16])
@pytest.mark.parametrize("kind", sorted(Normaliser.kinds))
def test_every_scoring_agrees_with_the_cpu(precision: Precision, kind: str) -> None:
    random = np.random.RandomState(0)
    normaliser = Normaliser.of_kind(kind)()
    scoring = Scoring(
        softcap=20.0,
        biases=(
            ALiBi(),
            RelativeBuckets(random.standard_normal((8, 4)), 20),
            Additive(random.standard_normal((60, 60))),
        ),
        position=Sinusoidal(),
        qk_norm=RMSNorm(gain_q=random.uniform(1, 2, 8)),
        rotary=Frequencies("interleaved", scaling="yarn"),
        normaliser=normaliser,
        sinks=(0.5, -1.0, 2.0, 0.0) if normaliser.sinks else None,
    )
    row = Table.of(random.standard_normal((1, 32)))
    e = replace(experiment(60, precision, PER_HEAD), scoring=scoring, appended=(AppendedKey("bias", row, row),))
    here, there = trace(e), trace(e, "cuda:0")
    close = 1e-11 if precision is Precision.FLOAT64 else 16 * precision.eps
    for name in stages_of(e):
        np.testing.assert_allclose(
            there.stage(name).astype(float), here.stage(name).astype(float), rtol=close, atol=close, err_msg=name
        )


def test_a_large_trace_is_computed_in_blocks() -> None:
    e = experiment(1500, Precision.FLOAT32, Causal())
    here, there = trace(e), trace(e, "cuda")
    np.testing.assert_allclose(there.stage("output"), here.stage("output"), rtol=1e-4, atol=1e-5)
    raw = there.matrix("raw", 3)
    assert np.array_equal(raw.block(slice(700, 701), slice(0, 1500)), there.stage("raw", 3)[700:701])


def test_more_than_the_device_has_is_refused() -> None:
    free, _ = torch.cuda.mem_get_info(0)
    n = int((free / 4) ** 0.5) + 1000
    e = Experiment.from_qkv(np.ones((n, 1)), np.ones((n, 1)), np.ones((n, 1)))
    with pytest.raises(TooLarge):
        trace(e, "cuda:0")
    assert budget.available(torch.device("cuda:0")) <= free


def test_the_device_running_out_of_memory_is_said_by_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "check", lambda experiment, device: None)
    free, _ = torch.cuda.mem_get_info(0)
    n = int((free / 4) ** 0.5) + 1000
    e = Experiment.from_qkv(np.ones((n, 1)), np.ones((n, 1)), np.ones((n, 1)))
    before = torch.cuda.memory_allocated()
    with pytest.raises(torch.OutOfMemoryError):
        trace(e, "cuda:0")
    assert torch.cuda.memory_allocated() <= before + (64 << 20)
