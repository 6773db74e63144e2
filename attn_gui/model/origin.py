"""Origin: where the arrays of an experiment came from, so that a session can get them again instead of storing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attn_gui.model.errors import ExperimentError

LONGEST_PATH = 4096


@dataclass(frozen=True, eq=False)
class Origin:
    """The file that the arrays of an experiment were read from, and how.

    path: of the file or folder, as it was opened (absolute).
    digest: what tells whether it is still the same: ``sha256:..`` of the whole, or ``sha256-parts:..`` of the size and
    256 evenly spaced parts of 64 KiB, for what is larger than 256 MB; of a folder, of all files together.
    reading: plain JSON, everything needed to get the arrays again (:mod:`attn_gui.model.tensors.plain`).
    expressions: the source expression of each array by its stage (``{"N": "np.load('attn.npy')[12]"}``), whose further
    indices are [head, query, key].
    """

    path: str
    digest: str
    reading: Mapping[str, Any]
    expressions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 < len(self.path) <= LONGEST_PATH:
            raise ExperimentError("origin path", f"1 to {LONGEST_PATH:,} characters", f"{len(self.path):,}")
        if not self.digest.startswith(("sha256:", "sha256-parts:")):
            raise ExperimentError("origin digest", "sha256:.. or sha256-parts:..", repr(self.digest[:40]))
