"""Models that the tests of this folder share."""

from __future__ import annotations

from pathlib import Path

import pytest

from attn_gui.compute.capture.opening import OpenedModel, open_model
from tests.compute.capture.tiny import TINY, save


@pytest.fixture(scope="session")
def gpt2_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(TINY["gpt2"], tmp_path_factory.mktemp("gpt2"))


@pytest.fixture
def gpt2(gpt2_folder: Path) -> OpenedModel:
    return open_model(gpt2_folder)
