"""transformers, imported when it is first needed, and kept from the network."""

from __future__ import annotations

import os
import sys
from typing import Any

from attn_gui.compute.capture.errors import CaptureError


def library() -> Any:
    """The package transformers; raises CaptureError, which says how to get it, where it is not installed."""
    if "transformers" not in sys.modules:
        # what opens files by itself needs no network, and says so where one is missing
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import transformers
    except ImportError as error:
        raise CaptureError(
            "Opening a model needs the package transformers, which is not installed: pip install 'attn_gui[models]'"
        ) from error
    return transformers
