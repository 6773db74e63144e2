"""A file of more weights than there is memory: what is in sight is shown, and little memory taken."""

from __future__ import annotations

import sys

import pytest

from tests.bench.layers import own_memory


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured by what Linux tells of a process")
def test_a_sparse_file_of_8_gib() -> None:
    found = own_memory()
    assert found.value < 1000
    heads = int(found.told[0].split()[0])
    assert 20 < heads < 300  # of 1,024
