"""Weights from files: state dicts of torch (``.pt``, ``.pth``) and ``.safetensors``.

A file is looked at first, by its directory and headers alone, and numbers are read only once every size was found to
be true. Nothing is unpickled but by ``torch.load(weights_only=True)``, and only what was read through before.
"""

ENDINGS = (".pt", ".pth", ".safetensors")
