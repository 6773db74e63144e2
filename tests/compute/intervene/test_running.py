"""A model run with changes, against the model itself and against hooks on its own modules."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

os.environ["HF_HUB_OFFLINE"] = "1"
transformers = pytest.importorskip("transformers")

from attn_gui.compute.capture.errors import CaptureError  # noqa: E402
from attn_gui.compute.capture.opening import OpenedModel  # noqa: E402
from attn_gui.compute.intervene.running import Intervened  # noqa: E402
from attn_gui.model.captured import CapturedModel  # noqa: E402
from attn_gui.model.errors import ExperimentError  # noqa: E402
from attn_gui.model.experiment import Experiment  # noqa: E402
from attn_gui.model.intervention import (  # noqa: E402
    Action,
    ChangeMask,
    ChangeTemperature,
    Embeddings,
    Forbid,
    Guesses,
    ReplaceBy,
    Site,
    SwitchOff,
)
from attn_gui.model.masks import Causal, MaskRule  # noqa: E402
from attn_gui.model.sources import GivenQKV  # noqa: E402
from attn_gui.model.table import Table  # noqa: E402
from attn_gui.model.tokens import TokenSequence  # noqa: E402
from attn_gui.model.variant import Variant  # noqa: E402

HEADS, LAYERS, WIDTH, VOCABULARY = 4, 2, 16, 30
IDS = ((5, 7, 9, 11, 3), (4, 8, 2, 0, 0))
PAD = ((False,) * 5, (False, False, False, True, True))


class Words:
    """A tokenizer as far as it is asked for the names of tokens."""

    all_special_tokens = ()

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [f"w{token}" for token in ids]


def made(kind: str, implementation: str = "sdpa") -> Any:
    torch.manual_seed(1)
    if kind == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=VOCABULARY, n_embd=WIDTH, n_head=HEADS, n_layer=LAYERS, n_positions=16, bos_token_id=0,
            eos_token_id=0,
        )  # fmt: skip
        model = transformers.GPT2LMHeadModel(config)
    elif kind == "llama":
        config = transformers.LlamaConfig(
            vocab_size=VOCABULARY, hidden_size=WIDTH, num_attention_heads=HEADS, num_key_value_heads=2,
            num_hidden_layers=LAYERS, intermediate_size=32, max_position_embeddings=16,
        )  # fmt: skip
        model = transformers.LlamaForCausalLM(config)
    elif kind == "t5":
        config = transformers.T5Config(
            vocab_size=VOCABULARY, d_model=WIDTH, d_kv=4, num_heads=HEADS, num_layers=LAYERS, d_ff=32
        )
        model = transformers.T5ForConditionalGeneration(config)
    else:
        config = transformers.BertConfig(
            vocab_size=VOCABULARY, hidden_size=WIDTH, num_attention_heads=HEADS, num_hidden_layers=LAYERS,
            intermediate_size=32, max_position_embeddings=16,
        )  # fmt: skip
        model = (transformers.BertForMaskedLM if kind == "masked" else transformers.BertModel)(config)
    model.set_attn_implementation(implementation)
    # far from the even weights of a fresh model, so that a change shows
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.eval()


def intervened(kind: str, implementation: str = "sdpa", path: Path = Path("/models/tiny")) -> Intervened:
    model = made(kind, implementation)
    two = kind == "t5"
    opened = OpenedModel(model, Words(), path, type(model).__name__, two, kind != "bert")
    targets = ((0, 6, 7), (0, 9, 1)) if two else ()
    captured = CapturedModel(
        "/models/tiny", type(model).__name__, implementation, ("a", "b"), (), IDS, PAD, PAD, targets,
        tuple((False,) * 3 for _ in targets), tuple((False,) * 3 for _ in targets),
    )  # fmt: skip
    return Intervened(opened, captured)


def plainly(runner: Intervened) -> torch.Tensor:
    """What the model gives when it is called as anybody would call it."""
    inputs = {"input_ids": torch.tensor(IDS), "attention_mask": (~torch.tensor(PAD)).long()}
    if runner.opened.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.tensor(runner.captured.target_ids)
    with torch.no_grad():
        out = runner.opened.model(**inputs)
    return out.logits if runner.opened.has_guesses else out.last_hidden_state


ATTENTIONS = {
    "gpt2": ("transformer.h.1.attn", "c_proj"),
    "llama": ("model.layers.1.self_attn", "o_proj"),
    "t5": ("decoder.block.1.layer.1.EncDecAttention", "o"),
    "masked": ("bert.encoder.layer.1.attention.self", "../output.dense"),
    "bert": ("encoder.layer.1.attention.self", "../output.dense"),
}


def w_o(model: Any, kind: str) -> nn.Module:
    """The module that multiplies the joined heads with W_O."""
    path, projection = ATTENTIONS[kind]
    while projection.startswith("../"):
        path, projection = path.rpartition(".")[0], projection[3:]
    return model.get_submodule(f"{path}.{projection}")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    before = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    yield
    transformers.logging.set_verbosity(before)


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", ATTENTIONS)
def test_without_actions_the_output_is_the_plain_one_bit_for_bit(kind: str, implementation: str) -> None:
    runner = intervened(kind, implementation)
    plain = plainly(runner)
    assert torch.equal(runner.output(()), plain)
    outcome = runner.outcome(())
    assert outcome.same
    assert torch.equal(plainly(runner), plain), "nothing stays behind in the model"


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", ATTENTIONS)
def test_a_head_that_is_off_is_its_slice_before_w_o_set_to_zero(kind: str, implementation: str) -> None:
    runner = intervened(kind, implementation)
    size, heads = WIDTH // HEADS, (0, 3)

    def zero(module: nn.Module, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        joined = args[0].clone()
        for head in heads:
            joined[..., head * size : (head + 1) * size] = 0
        return (joined, *args[1:])

    hook = w_o(runner.opened.model, kind).register_forward_pre_hook(zero)
    expected = plainly(runner)
    hook.remove()
    after = runner.output([Action((Site(ATTENTIONS[kind][0]),), SwitchOff(), heads)])
    assert torch.equal(after, expected)
    assert not torch.equal(after, runner.output(()))


@pytest.mark.parametrize("kind", ["gpt2", "llama", "bert"])
def test_a_mask_and_temperature_that_are_the_models_own_change_next_to_nothing(kind: str) -> None:
    """The weights that are worked out here are the model's: GQA, rotary positions, mask, scale."""
    runner = intervened(kind)
    own = Causal() if kind != "bert" else MaskRule()
    site = Site(ATTENTIONS[kind][0])
    actions = [Action((site,), ChangeMask(own)), Action((site,), ChangeTemperature(1.0))]
    tokens = ~torch.tensor(PAD)
    np.testing.assert_allclose(runner.output(actions)[tokens], runner.output(())[tokens], rtol=1e-4, atol=1e-5)


def test_a_pair_that_is_forbidden_is_no_longer_seen() -> None:
    """In the last layer alone its query changes; and it no longer matters what stood at the key."""
    runner = intervened("gpt2")
    pair = [Action((Site(ATTENTIONS["gpt2"][0]),), Forbid(3, 1), text=0)]
    before, after = runner.output(()), runner.output(pair)
    differs = (before != after).any(dim=-1)
    assert differs.nonzero().tolist() == [[0, 3]]
    every = [
        Action((Site(f"transformer.h.{layer}.attn"),), Forbid(query, 1), text=0)
        for layer in range(LAYERS)
        for query in range(2, 5)
    ]
    other = intervened("gpt2")
    other._inputs["input_ids"][0, 1] = 22
    places = [0, 2, 3, 4]
    assert torch.equal(runner.output(every)[0, places], other.output(every)[0, places])
    assert not torch.equal(runner.output(())[0, places], other.output(())[0, places])


def test_the_odds_are_the_softmax_of_the_logits() -> None:
    runner = intervened("gpt2")
    outcome = runner.outcome([Action((Site(ATTENTIONS["gpt2"][0]),), SwitchOff(), (1,))])
    assert isinstance(outcome.result, Guesses) and not outcome.result.masked and not outcome.same
    assert [len(text) for text in outcome.result.texts] == [5, 3], "padding guesses nothing"
    z, w = plainly(runner).double().numpy(), runner.output(outcome.actions).double().numpy()
    for text, places in enumerate(outcome.result.texts):
        for odds in places:
            p, q = (np.exp(x[text, odds.place]) / np.exp(x[text, odds.place]).sum() for x in (z, w))
            np.testing.assert_allclose(odds.before, p[list(odds.ids)], rtol=1e-9)
            np.testing.assert_allclose(odds.after, q[list(odds.ids)], rtol=1e-9)
            assert odds.divergence == pytest.approx(float((p * np.log(p / q)).sum()), rel=1e-9)
            assert {int(p.argmax()), int(q.argmax())} <= set(odds.ids)
            assert odds.at == f"w{IDS[text][odds.place]}"
            assert odds.tokens == tuple(f"w{i}" for i in odds.ids)
            larger = np.maximum(odds.before, odds.after)
            assert np.all(np.diff(larger) <= 0)
    assert isinstance(intervened("masked").outcome(()).result, Guesses)
    assert intervened("masked").outcome(()).result.masked  # type: ignore[union-attr]
    seq = intervened("t5").outcome(()).result
    assert isinstance(seq, Guesses) and [len(text) for text in seq.texts] == [3, 3]


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_an_encoder_gives_cosines_of_pooled_embeddings(pooling: str, tmp_path: Path) -> None:
    """Pooled as sentence-transformers writes it beside a model."""
    if pooling == "first":
        (tmp_path / "1_Pooling").mkdir()
        said = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(said))
    runner = intervened("bert", path=tmp_path)
    outcome = runner.outcome([Action((Site(ATTENTIONS["bert"][0]),), SwitchOff(), (0, 1))])
    assert isinstance(outcome.result, Embeddings) and outcome.result.pooling == pooling
    pooled = []
    for hidden in (plainly(runner), runner.output(outcome.actions)):
        states = hidden.double().numpy()
        kept = [states[0], states[1, :3]]
        pooled.append([s.mean(axis=0) if pooling == "mean" else s[0] for s in kept])

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    before, after = pooled
    for i in range(2):
        assert outcome.result.moved[i] == pytest.approx(cosine(before[i], after[i]), abs=1e-12)
        for j in range(2):
            assert outcome.result.before[i, j] == pytest.approx(cosine(before[i], before[j]), abs=1e-12)
            assert outcome.result.after[i, j] == pytest.approx(cosine(after[i], after[j]), abs=1e-12)
    assert outcome.result.moved.max() < 0.9999


def test_what_is_shown_in_the_window_replaces_what_the_heads_give() -> None:
    """An experiment with the call's own Q, K, V and scale changes next to nothing; an edited one does what it says."""
    runner = intervened("bert")
    model, seen = runner.opened.model, {}
    module = model.get_submodule(ATTENTIONS["bert"][0])
    for name in ("query", "key", "value"):
        getattr(module, name).register_forward_hook(lambda m, a, out, name=name: seen.update({name: out}))
    before = runner.output(())
    Q, K, V = (
        seen[name][0].reshape(5, HEADS, -1).transpose(0, 1).contiguous().numpy() for name in ("query", "key", "value")
    )
    tokens = TokenSequence(tuple("abcde"), Table.of(np.zeros((5, 1))))
    shown = Experiment(tokens, GivenQKV(Q, K, V), Variant.MULTI_HEAD_SELF, HEADS, HEADS)
    site = Site(ATTENTIONS["bert"][0])
    same = runner.output([Action((site,), ReplaceBy("shown", shown), text=0)])
    np.testing.assert_allclose(same, before, rtol=1e-4, atol=1e-5)
    nothing = Experiment(tokens, GivenQKV(Q, K, np.zeros_like(V)), Variant.MULTI_HEAD_SELF, HEADS, HEADS)
    emptied = runner.output([Action((site,), ReplaceBy("shown", nothing), (1,), text=0)])
    assert torch.equal(emptied, runner.output([Action((site,), SwitchOff(), (1,), text=0)]))


def test_what_does_not_fit_is_refused_and_the_model_runs_on() -> None:
    runner = intervened("gpt2")
    with pytest.raises(CaptureError, match=r"GPT2LMHeadModel has no attention transformer\.h\.9\.attn"):
        runner.output([Action((Site("transformer.h.9.attn"),), SwitchOff(), (0,))])
    with pytest.raises(CaptureError, match="runs 2×"):
        runner.output([Action((Site(ATTENTIONS["gpt2"][0], 1),), SwitchOff(), (0,))])
    with pytest.raises(ExperimentError, match="a head from 1 to 4"):
        runner.output([Action((Site(ATTENTIONS["gpt2"][0]),), SwitchOff(), (4,))])
    assert torch.equal(runner.output(()), plainly(runner))
    other = CapturedModel("/models/tiny", "", ids=((VOCABULARY,),), pad=((False,),))
    with pytest.raises(CaptureError, match="is not the model that was captured"):
        Intervened(runner.opened, other)


def test_closing_the_steps_stops_and_leaves_the_model_as_it_was() -> None:
    runner = intervened("gpt2")
    begun: list[int] = []

    def slowly(module: nn.Module, args: object) -> None:
        begun.append(1)
        time.sleep(0.2)

    hooks = [block.register_forward_pre_hook(slowly) for block in runner.opened.model.transformer.h]
    steps = runner.steps([Action((Site(ATTENTIONS["gpt2"][0]),), SwitchOff(), (0,))])
    while not begun:
        next(steps)
    steps.close()

    def followed() -> Generator[float, None, None]:
        outcome = yield from runner.steps(())
        assert outcome.same

    parts = list(followed())
    assert parts == sorted(parts) and 0 <= parts[0] <= parts[-1] <= 1
    assert len(begun) <= 1 + 2 * LAYERS, "what was closed went no further than its next attention"
    for hook in hooks:
        hook.remove()
    assert torch.equal(runner.output(()), plainly(runner))
