"""The node tests of ONNX's Attention operator, as experiments.

They come with the onnx package, which reads them; what the operator means is written in its schema
(``onnx.defs.get_schema("Attention").doc``), opset 24.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from attn_gui.model.edits import set_column
from attn_gui.model.experiment import Experiment
from attn_gui.model.mask_import import all_of, mask_of
from attn_gui.model.masks import Causal, MaskRule, Padding
from attn_gui.model.masks.prefix_lm import PrefixLM
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.trace import Trace

NODES = Path(onnx.__file__).parent / "backend/test/data/node"
FOLDERS = sorted(p for p in NODES.glob("test_attention*") if not p.name.endswith("_expanded"))

INPUTS = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
OUTPUTS = ("Y", "present_key", "present_value", "qk_matmul_output")
ATTRIBUTES = {"is_causal", "scale", "softcap", "q_num_heads", "kv_num_heads", "qk_matmul_output_mode"}
# qk_matmul_output, by its mode: after the product with its scale, after the softcap, after the mask, after the softmax
STAGE_OF_MODE = ("scaled", "capped", "A_masked", "N")

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """The attributes of an Attention node, and its inputs and outputs by the names of the schema."""

    name: str
    attributes: dict[str, Any]
    inputs: dict[str, Array]
    outputs: dict[str, Array]

    @property
    def batches(self) -> int:
        return len(self.inputs["Q"])

    @property
    def flat(self) -> bool:
        """Whether heads lie side by side in the last of 3 axes, and not on an axis of their own."""
        return self.inputs["Q"].ndim == 3


def read(folder: Path) -> Case:
    """The case in ``folder``: model.onnx with one node, and test_data_set_0."""
    model = onnx.load(folder / "model.onnx")
    [node] = model.graph.node
    assert node.op_type == "Attention"
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert attributes.keys() <= ATTRIBUTES, "an attribute that experiment_of does not know"
    assert [each.name for each in folder.iterdir() if each.is_dir()] == ["test_data_set_0"]
    data = folder / "test_data_set_0"
    # a node leaves an optional input out by an empty name; the graph and the files count those that are there
    given, made = [n for n in node.input if n], [n for n in node.output if n]
    assert given == [i.name for i in model.graph.input] and made == [o.name for o in model.graph.output]
    assert set(given) <= set(INPUTS) and set(made) <= set(OUTPUTS)
    files = {f"{kind}_{k}.pb" for kind, names in (("input", given), ("output", made)) for k in range(len(names))}
    assert {each.name for each in data.iterdir()} == files
    return Case(
        folder.name,
        attributes,
        {name: _tensor(data / f"input_{k}.pb") for k, name in enumerate(given)},
        {name: _tensor(data / f"output_{k}.pb") for k, name in enumerate(made)},
    )


def experiment_of(case: Case, batch: int) -> Experiment:
    """One sample of the batch as an experiment."""
    at = case.attributes
    Q, K, V = (_heads(case, name)[batch] for name in "QKV")  # [heads, n, size]
    past = 0
    if "past_key" in case.inputs:
        past = case.inputs["past_key"].shape[2]
        K = np.concatenate([case.inputs["past_key"][batch], K], axis=1)
        V = np.concatenate([case.inputs["past_value"][batch], V], axis=1)
    masked, bias = _mask(case, batch, (Q.shape[0], Q.shape[1], K.shape[1]))
    rules = [masked]
    if at.get("is_causal"):
        # aligned with the first present key: the cache is open to every query
        rules.append(PrefixLM(0) if past else Causal("top-left"))
    if "nonpad_kv_seqlen" in case.inputs:
        rules.append(Padding())
    e = Experiment.from_qkv(
        Q,
        K,
        V,
        past=past,
        rule=all_of(rules),
        # a softcap of 0 is none
        scoring=Scoring(at.get("scale"), at.get("softcap") or None, biases=() if bias is None else (bias,)),
        precision=Precision(Q.dtype.name),
    )
    if "nonpad_kv_seqlen" in case.inputs:
        padding = range(int(case.inputs["nonpad_kv_seqlen"][batch]), K.shape[1])
        e = set_column(e, "context" if e.variant.is_cross else "tokens", "pad", list(padding), True)
    return e


def outputs_of(case: Case, trace: Trace) -> dict[str, Array]:
    """The operator's outputs of one sample, by name, from the stages; those that the case records."""
    e = trace.experiment
    group = e.heads // e.kv_heads
    found = {
        "Y": trace.stage("output" if case.flat else "head_output"),
        "present_key": trace.stage("K")[::group],
        "present_value": trace.stage("V")[::group],
        "qk_matmul_output": trace.stage(STAGE_OF_MODE[case.attributes.get("qk_matmul_output_mode", 0)]),
    }
    return {name: found[name] for name in case.outputs}


def _heads(case: Case, name: str) -> Array:
    """Q, K or V, [batch, heads, n, size]."""
    array = case.inputs[name]
    if not case.flat:
        return array
    heads = case.attributes["q_num_heads" if name == "Q" else "kv_num_heads"]
    return array.reshape(*array.shape[:2], heads, -1).swapaxes(1, 2)


def _mask(case: Case, batch: int, shape: tuple[int, int, int]) -> tuple[MaskRule | None, Any]:
    """attn_mask for one sample of ``shape`` (heads, n_q, n_k), as mask and bias."""
    if "attn_mask" not in case.inputs:
        return None, None
    mask = case.inputs["attn_mask"]
    flags = mask.dtype == np.bool_
    # a mask may end before the keys do: what it does not reach is masked
    missing = [(0, 0)] * (mask.ndim - 1) + [(0, shape[2] - mask.shape[-1])]
    mask = np.pad(mask, missing, constant_values=False if flags else -np.inf)
    mask = np.broadcast_to(mask, (case.batches, *shape))[batch]
    return mask_of(mask, "allowed" if flags else "additive")


def _tensor(file: Path) -> Array:
    tensor = onnx.TensorProto()
    tensor.ParseFromString(file.read_bytes())
    return numpy_helper.to_array(tensor)
