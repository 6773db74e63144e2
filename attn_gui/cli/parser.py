"""The commands and their options."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from attn_gui import __version__
from attn_gui.cli import arguments
from attn_gui.cli.parsing import Parser, file_name, folder_name
from attn_gui.cli.reporting import PROGRAM
from attn_gui.files import examples, tensor_file
from attn_gui.files.export import FORMS
from attn_gui.model.mask_import import Meaning
from attn_gui.model.precision import Precision
from attn_gui.model.stages import STAGES
from attn_gui.model.tensors.axes import Axis


def parser() -> argparse.ArgumentParser:
    """The parser of all of them."""
    made = Parser(prog=PROGRAM, description="Attention without a window.")
    made.add_argument("--version", action="version", version=f"attn_gui {__version__}")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    export = commands.add_parser("export", help="compute a session's current experiment and write it to a folder")
    export.add_argument(
        "--out", type=folder_name, required=True, metavar="DIR", help="the folder; made if it is not there"
    )
    export.add_argument(
        "--stage",
        type=arguments.stages,
        metavar="A,N,output",
        help="which stages, by comma: " + ", ".join(STAGES) + " (default: each that differs from the others)",
    )
    export.add_argument("--format", choices=FORMS, default="csv", help="one table a file, one cell a row, or NumPy")
    export.add_argument("--head", type=arguments.head, help="of a part: a head, from 1, or mean (default: each)")
    parts = export.add_mutually_exclusive_group()
    parts.add_argument(
        "--top", dest="part", type=arguments.top, metavar="K", help="only the K largest of each query, as CSV"
    )
    parts.add_argument(
        "--pooled", dest="part", type=arguments.pooled, metavar="SIZE", help="brought down to SIZE x SIZE blocks"
    )
    parts.add_argument(
        "--window",
        dest="part",
        type=arguments.window,
        metavar="Q1:Q2,K1:K2",
        help="only these queries and keys, from 1",
    )
    export.add_argument("--device", default="cpu", help="cpu, cuda:0, mps (default: cpu)")
    export.add_argument("--precision", choices=[p.value for p in Precision], help="default: the experiment's own")
    info = commands.add_parser("info", help="say what a session or a file of tensors holds")
    scores = commands.add_parser("scores", help="score every head of every layer, a line a head as CSV")
    scores.add_argument("--csv", type=file_name, metavar="SCORES.csv", help="where to write (default: standard output)")
    scores.add_argument("--device", default="cpu", help="cpu, cuda:0, mps (default: cpu)")
    diagnose = commands.add_parser("diagnose", help="find the convention that scores, weights or output follow")
    diagnose.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help=".npz or .safetensors with Q, K, V, perhaps mask, and any of scores, weights, output",
    )
    diagnose.add_argument("--softcap", type=arguments.softcap, metavar="C", help="a softcap that is known")
    diagnose.add_argument(
        "--base",
        type=arguments.base,
        action="append",
        default=[],
        metavar="B",
        help="of rotary positions, besides 10000",
    )
    diagnose.add_argument(
        "--read",
        type=arguments.said_part,
        action=arguments.TellingParts,
        default=[],
        metavar="ROLE=NAME",
        help=f"what an array is, whatever it is called: {', '.join([*tensor_file.NAMES, arguments.NOTHING])}",
    )
    diagnose.add_argument("--device", default="cpu", help="cpu, cuda:0, mps (default: cpu)")
    mark = commands.add_parser("mark", help="mark the answers to exercises, a line a student and stage")
    mark.add_argument("files", type=file_name, nargs="+", metavar="FILE.attn", help="answers, or folders of them")
    mark.add_argument("--csv", type=file_name, metavar="MARKS.csv", help="where to write (default: standard output)")
    mark.add_argument("--device", default="cpu", help="cpu, cuda:0, mps (default: cpu)")
    names = ", ".join(examples.file_names())
    for command in (export, info, scores):
        source = command.add_mutually_exclusive_group(required=True)
        source.add_argument(
            "file",
            nargs="?",
            type=file_name,
            metavar="FILE",
            help="a session (.attn), or tensors (.npy, a folder, …)",
        )
        source.add_argument("--example", type=arguments.example, metavar="NAME", help=f"an example: {names}")
        _add_tensor_choices(command)
    return made


def _add_tensor_choices(command: argparse.ArgumentParser) -> None:
    command.add_argument("--layer", type=arguments.place, metavar="N", help="of many layers which one, from 1")
    of = command.add_argument_group("of tensors", "what the file does not say by itself")
    of.add_argument(
        "--batch", type=arguments.place, metavar="N", help="which item of the batch, from 1 (default: the first)"
    )
    of.add_argument("--heads", type=arguments.heads, metavar="N", help="how many heads lie side by side")
    of.add_argument(
        "--kv-heads", type=arguments.heads, metavar="N", help="how many of keys and values, where these are fewer"
    )
    of.add_argument(
        "--mask-means",
        choices=get_args(Meaning),
        help="what a mask of flags says where it is true (default: by its name, or what leaves each query a key)",
    )
    of.add_argument(
        "--read",
        type=arguments.said,
        action=arguments.Telling,
        default=[],
        metavar="ROLE=NAME",
        help=f"what a tensor is, by its name in info: {', '.join(arguments.ROLES)} (=NAME may go where there is one)",
    )
    of.add_argument(
        "--axes",
        type=arguments.said_axes,
        action=arguments.Telling,
        default=[],
        metavar="AXES=NAME",
        help="what its axes count, as head,query,key: " + ", ".join(Axis),
    )
    of.add_argument(
        "--tokens",
        type=file_name,
        metavar="FILE",
        help="names, or a list of them for each item of the batch, or a tokenizer.json for the file's ids",
    )
