"""torch: an Experiment in, a Trace out."""

import os

# read by torch at its first allocation: large tensors lie in huge pages (Linux), which on some machines halves the time
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

from attn_gui import torch_loading

torch_loading.load()
