"""A model whose attentions are looked at computes what it computes alone, and is as before afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import transformers

from attn_gui import CaptureError, capture
from attn_gui.compute.capture.following import check_follows
from attn_gui.compute.capture.inputs import inputs_of
from attn_gui.compute.capture.interface import Call, attending
from attn_gui.compute.capture.opening import OpenedModel
from tests.compute.capture.agreeing import check_weights, eager_weights
from tests.compute.capture.tiny import byte_level_tokenizer

TEXTS = ["The animal didn't cross the street", "The cat"]


def logits(opened: OpenedModel) -> torch.Tensor:
    arguments = inputs_of(opened.model, opened.tokenizer, TEXTS, None).arguments
    with torch.no_grad():
        return opened.model(**arguments).logits


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_logits_stay_the_same_bit_for_bit(gpt2: OpenedModel, implementation: str) -> None:
    gpt2.model.set_attn_implementation(implementation)
    alone = logits(gpt2)
    calls: list[Call] = []

    def look(call: Call) -> tuple[torch.Tensor, torch.Tensor | None]:
        calls.append(call)
        return call.output()

    with attending(gpt2.model, look):
        assert torch.equal(logits(gpt2), alone)
    assert torch.equal(logits(gpt2), alone)
    assert [call.module for call in calls] == [f"transformer.h.{n}.attn" for n in range(3)]
    assert {call.implementation for call in calls} == {implementation}
    assert gpt2.model.config._attn_implementation == implementation


def test_what_the_tap_gives_is_what_the_model_goes_on_with(gpt2: OpenedModel) -> None:
    alone = logits(gpt2)
    with attending(gpt2.model, lambda call: (torch.zeros_like(call.output()[0]), None)):
        assert not torch.allclose(logits(gpt2), alone)


def test_other_arguments_can_be_tried(gpt2: OpenedModel) -> None:
    alone = logits(gpt2)
    with attending(gpt2.model, lambda call: replace(call, query=call.query * 0.5).output()):
        halved = logits(gpt2)
    with attending(gpt2.model, lambda call: call.with_options(scaling=call.scale * 0.5).output()):
        rescaled = logits(gpt2)
    assert torch.allclose(halved, rescaled, atol=1e-4) and not torch.allclose(halved, alone, atol=1e-2)


def test_training_goes_on_as_before(gpt2: OpenedModel) -> None:
    gpt2.model.train()
    gpt2.model.transformer.h[1].eval()
    before = [module.training for module in gpt2.model.modules()]
    capture(gpt2.model, gpt2.tokenizer, TEXTS)
    assert [module.training for module in gpt2.model.modules()] == before
    assert not any(module._forward_pre_hooks for module in gpt2.model.modules())


def test_a_fault_on_the_way_leaves_the_model_as_it_was(gpt2: OpenedModel) -> None:
    alone = logits(gpt2)

    def stop(part: float) -> None:
        if part > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        capture(gpt2.model, gpt2.tokenizer, TEXTS, report=stop)
    assert gpt2.model.config._attn_implementation == "sdpa"
    assert torch.equal(logits(gpt2), alone)
    assert len(capture(gpt2.model, gpt2.tokenizer, TEXTS).experiments) == 6


def test_two_at_once_are_refused(gpt2: OpenedModel) -> None:
    with attending(gpt2.model, Call.output), pytest.raises(CaptureError, match="being run already"):
        capture(gpt2.model, gpt2.tokenizer, TEXTS)
    assert gpt2.model.config._attn_implementation == "sdpa"


def test_attentions_without_a_mask_to_read_are_refused(gpt2: OpenedModel) -> None:
    gpt2.model.config._attn_implementation = "flex_attention"
    with pytest.raises(CaptureError, match="GPT2LMHeadModel attends by flex_attention"):
        capture(gpt2.model, gpt2.tokenizer, TEXTS)


def test_what_is_no_model_of_transformers_is_refused() -> None:
    with pytest.raises(CaptureError, match="Linear is not a model of transformers"):
        capture(torch.nn.Linear(2, 2), None, "a")


def test_models_that_read_no_text_are_refused() -> None:
    config = transformers.ViTConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    with pytest.raises(CaptureError, match="ViTModel reads pixel_values and no text"):
        capture(transformers.ViTModel(config), None, "a")


def test_a_target_without_a_decoder_is_refused(gpt2: OpenedModel) -> None:
    with pytest.raises(CaptureError, match="has no decoder"):
        capture(gpt2.model, gpt2.tokenizer, "a", target="b")


@pytest.mark.parametrize(
    ("kind", "said", "start"),
    [
        ("T5ForConditionalGeneration", {"decoder_start_token_id": 2, "pad_token_id": 0}, 2),
        ("T5ForConditionalGeneration", {"pad_token_id": 1}, 1),
        ("T5Model", {"decoder_start_token_id": 2}, 2),
    ],
)
def test_a_config_that_knows_no_first_token_is_no_hindrance(kind: str, said: dict[str, int], start: int) -> None:
    """The files of T5 say with what its decoder starts, and that of its configs has no bos_token_id at all."""
    tokenizer = byte_level_tokenizer()
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 2, "num_heads": 2, "vocab_size": len(tokenizer)}
    config = transformers.T5Config(**sizes, **said)
    assert not hasattr(config, "bos_token_id")
    torch.manual_seed(0)
    model = getattr(transformers, kind)(config).eval()
    first = inputs_of(model, tokenizer, TEXTS, None).arguments["decoder_input_ids"][:, 0]
    assert first.tolist() == [start, start]
    session = capture(model, tokenizer, TEXTS)
    model.set_attn_implementation("eager")
    check_weights(session, eager_weights(model, tokenizer, TEXTS, None), len(TEXTS))


def test_the_first_token_is_the_one_that_the_model_would_generate_from() -> None:
    tokenizer = byte_level_tokenizer()
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2, "vocab_size": len(tokenizer)}
    model = transformers.T5ForConditionalGeneration(transformers.T5Config(**sizes, pad_token_id=0)).eval()
    model.generation_config.decoder_start_token_id = 3
    assert inputs_of(model, tokenizer, "The cat", None).arguments["decoder_input_ids"][0, 0] == 3


def test_an_encoder_that_attends_by_itself_is_refused() -> None:
    tokenizer = byte_level_tokenizer()
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2, "vocab_size": len(tokenizer)}
    model = transformers.LongT5Model(transformers.LongT5Config(**sizes, decoder_start_token_id=0))
    with pytest.raises(CaptureError, match="The encoder of LongT5Model computes its attention by itself"):
        capture(model, tokenizer, "The cat")


def test_whatever_a_model_raises_is_told(gpt2: OpenedModel) -> None:
    gpt2.model.transformer.ln_f.weight = torch.nn.Parameter(torch.zeros(3))
    with pytest.raises(CaptureError, match="GPT2LMHeadModel could not read this: its own computation") as caught:
        capture(gpt2.model, gpt2.tokenizer, TEXTS)
    assert "shape" in str(caught.value.__cause__), "for whoever looks into the model"
    assert gpt2.model.config._attn_implementation == "sdpa"


@pytest.mark.parametrize("change", [lambda given: given * 1.1, lambda given: given.flip(2), lambda given: given[:, :2]])
def test_an_attention_that_does_more_than_it_tells_is_refused(gpt2: OpenedModel, change: object) -> None:
    def check(call: Call) -> tuple[torch.Tensor, torch.Tensor | None]:
        output, weights = call.output()
        check_follows(call, output)
        with pytest.raises(CaptureError, match=r"GPT2Attention does more .* transformer\.h\.\d\.attn"):
            check_follows(call, change(output))  # type: ignore[operator]
        return output, weights

    with attending(gpt2.model, check):
        logits(gpt2)


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_an_attention_of_several_calls_is_refused_by_name(implementation: str) -> None:
    """DiffLlama attends once for each half of its values, and takes one half of its heads from the other."""
    tokenizer = byte_level_tokenizer()
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.DiffLlamaConfig(**sizes, num_key_value_heads=2, vocab_size=len(tokenizer), pad_token_id=2)
    model = transformers.DiffLlamaForCausalLM(config).eval()
    model.set_attn_implementation(implementation)
    arguments = inputs_of(model, tokenizer, TEXTS, None).arguments
    with torch.no_grad():
        alone = model(**arguments).logits
    with pytest.raises(CaptureError, match=r"^DiffLlamaForCausalLM attends several times .*layers\.0\.self_attn"):
        capture(model, tokenizer, TEXTS[0])
    with torch.no_grad():
        assert torch.equal(model(**arguments).logits, alone), "it is as before"
