"""The session that the arguments say."""

from __future__ import annotations

import argparse
from pathlib import Path

from attn_gui.cli.errors import Misuse
from attn_gui.cli.reporting import shown
from attn_gui.files import session
from attn_gui.files.tensors import headless
from attn_gui.model.session import Session

# by the names of what is said with them
OF_TENSORS = {
    "heads": "--heads",
    "kv_heads": "--kv-heads",
    "mask_means": "--mask-means",
    "read": "--read",
    "axes": "--axes",
    "tokens": "--tokens",
}


def session_of(options: argparse.Namespace) -> Session:
    """The example, the session in a file, or the one that is proposed for tensors; of its layers those that are meant.

    Raises FileError, and Misuse where a session is said to be read as only tensors are.
    """
    if not of_tensors(options):
        check_of_session(options)
    batch = options.batch
    if options.example is not None:
        opened = options.example
    elif of_tensors(options):
        # which item of the batch is read
        opened, batch = shown("reading", headless.session_from(options.file, choices_of(options))), None
    else:
        opened = session.load(options.file)
    where = options.file or Path(opened.named.name)
    if options.layer is not None:
        opened = headless.at_layer(where, opened, options.layer)
    return opened if batch is None else headless.at_batch(where, opened, batch)


def of_tensors(options: argparse.Namespace) -> bool:
    """Whether the arguments say a file of tensors, and no session or example."""
    return options.example is None and headless.is_tensors(options.file)


def check_of_session(options: argparse.Namespace) -> None:
    """Raise Misuse where something is said that can be said of tensors alone."""
    said = [option for name, option in OF_TENSORS.items() if getattr(options, name)]
    if said:
        what = "an example" if options.file is None else f"{options.file}, which is a session"
        raise Misuse(f"{' and '.join(said)}: expected a file of tensors, received {what}")


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
