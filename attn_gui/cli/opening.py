"""The session that the arguments say."""

from __future__ import annotations

import argparse

from attn_gui.cli.reporting import shown
from attn_gui.files import session
from attn_gui.files.tensors import headless
from attn_gui.model.session import Session


def session_of(options: argparse.Namespace) -> Session:
    """The example, the session in a file, or the one that is proposed for tensors, at the layer that is meant."""
    if options.example is not None:
        return options.example
    if headless.is_tensors(options.file):
        opened = shown("reading", headless.session_from(options.file, choices_of(options)))
    else:
        opened = session.load(options.file)
    return opened if options.layer is None else headless.at_layer(options.file, opened, options.layer)


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
