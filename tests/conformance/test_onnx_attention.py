"""ONNX's own tests of its Attention operator: every case, every sample of the batch, every output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from attn_gui.compute.trace import trace
from tests.conformance.onnx_cases import FOLDERS, experiment_of, outputs_of, read


def test_all_cases_of_the_package_are_there() -> None:
    assert onnx.__version__ == "1.22.0"
    assert len(FOLDERS) == 64


def test_the_cases_ask_for_everything() -> None:
    cases = [read(folder) for folder in FOLDERS]
    asked = {name for case in cases for name in case.outputs}
    assert asked == {"Y", "present_key", "present_value", "qk_matmul_output"}
    modes = {case.attributes.get("qk_matmul_output_mode", 0) for case in cases if "qk_matmul_output" in case.outputs}
    assert modes == {0, 1, 2, 3}


@pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])
def test_attention(folder: Path) -> None:
    case = read(folder)
    for batch in range(case.batches):
        found = outputs_of(case, trace(experiment_of(case, batch)))
        assert found.keys() == case.outputs.keys()
        for name, expected in case.outputs.items():
            assert found[name].dtype == expected.dtype
            if name.startswith("present"):
                np.testing.assert_array_equal(found[name], expected[batch], err_msg=name)
            else:
                # the recorded figures are themselves rounded after every step, in the precision of the case
                close = 8 * float(np.finfo(expected.dtype).eps)
                np.testing.assert_allclose(found[name], expected[batch], rtol=close, atol=close, err_msg=name)
