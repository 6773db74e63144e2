"""Tensors from files: looked at first, by headers alone and a few numbers, then read a head at a time.

::

    contents = yield from looking.look([path])        # Contents; a generator that yields the part done
    reading = proposals.propose(contents)             # the person corrects it
    checks.problems(contents, reading)                # nothing, or sentences that name the axis
    previews = previewing.previews(contents, reading)    # of a mask: each meaning, allowed keys a row
    session = yield from opening.session_of(contents, reading)

``.npy``, ``.npz``, ``.safetensors``, ``.pt``, ``.pth``, ``.csv``, ``.tsv``, ``.json``, and folders with a file a layer.
Nothing is unpickled; nothing is allocated before a header was found to be true of the file; what is large stays in the
file and is mapped.
"""

ENDINGS = (".npy", ".npz", ".safetensors", ".pt", ".pth", ".csv", ".tsv", ".json")
