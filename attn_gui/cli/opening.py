"""The session that the arguments say."""

from __future__ import annotations

import argparse
from pathlib import Path

from attn_gui.cli.reporting import shown
from attn_gui.files import session
from attn_gui.files.tensors import headless
from attn_gui.model.session import Session


def session_of(options: argparse.Namespace) -> Session:
    """The example, the session in a file, or the one that is proposed for tensors; of its layers those that are meant.

    Raises FileError.
    """
    batch = options.batch
    if options.example is not None:
        opened = options.example
    elif headless.is_tensors(options.file):
        # which item of the batch is read
        opened, batch = shown("reading", headless.session_from(options.file, choices_of(options))), None
    else:
        opened = session.load(options.file)
    where = options.file or Path(opened.named.name)
    if options.layer is not None:
        opened = headless.at_layer(where, opened, options.layer)
    return opened if batch is None else headless.at_batch(where, opened, batch)


def choices_of(options: argparse.Namespace) -> headless.Choices:
    """What is said of a file of tensors."""
    return headless.Choices(
        options.batch,
        options.heads,
        options.kv_heads,
        options.mask_means,
        options.tokens,
        tuple(options.read),
        tuple(options.axes),
    )
