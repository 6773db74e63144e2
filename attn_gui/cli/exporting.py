"""``attn-gui export``."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from attn_gui.cli.computing import traced
from attn_gui.cli.errors import Failure
from attn_gui.cli.opening import session_of
from attn_gui.cli.reporting import PROGRAM, say, shown
from attn_gui.files.export import export_folder, folder_for
from attn_gui.files.export_parts import check_part, export_part, part_name
from attn_gui.files.export_size import experiment_bytes, part_bytes, stage_bytes
from attn_gui.files.layout import distinct_stages_of
from attn_gui.model.counted import counted
from attn_gui.model.errors import HiddenStage, readable_bytes
from attn_gui.model.precision import Precision
from attn_gui.model.session import NamedExperiment
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head

# bytes from which on what an export writes is told beforehand
LARGE = 100_000_000


def run_export(options: argparse.Namespace) -> int:
    named = session_of(options).named
    if options.precision is not None:
        named = replace(named, experiment=replace(named.experiment, precision=Precision(options.precision)))
    stages = options.stage or distinct_stages_of(named.experiment)
    for stage in stages:
        if stage in named.experiment.hidden:
            raise HiddenStage(stage)
        if stage not in stages_of(named.experiment):
            raise Failure(f"“{named.name}” has no stage {stage}; it has {', '.join(stages_of(named.experiment))}")
    if options.part is not None:
        return _export_parts(options, named)
    if options.head is not None:
        raise Failure("--head is of a part: --top, --pooled or --window")
    e, form = named.experiment, options.format
    size = sum(stage_bytes(e, stage, e.heads if STAGES[stage].per_head else 1, form) for stage in stages)
    _tell_size(size + experiment_bytes(e))
    trace = traced(named, options.device)
    shown("writing", export_folder(trace, named, options.out, stages, options.format))
    say(f"{named.name}: {', '.join(stages)} written to {options.out}")
    return 0


def _export_parts(options: argparse.Namespace, named: NamedExperiment) -> int:
    e = named.experiment
    stages = options.stage or ["N"]
    heads: list[Head] = list(range(e.heads)) if options.head is None else [options.head]
    if options.format == "npz":
        raise Failure("parts are written as CSV")
    for stage in stages:
        if not STAGES[stage].square:
            raise Failure(f"{stage} has no parts: it is no stage of queries x keys")
    if heads != ["mean"] and heads[-1] >= e.heads:  # type: ignore[operator]
        raise Failure(f"“{named.name}” has {counted(e.heads, 'head')}, and no head {options.head + 1}")
    try:
        check_part(e, options.part)
    except ValueError as error:
        raise Failure(str(error)) from error
    files = [(stage, head, part_name(stage, head, options.part)) for stage in stages for head in heads]
    _tell_size(part_bytes(e, options.part) * len(files))
    trace = traced(named, options.device)
    with folder_for([name for *_, name in files], options.out):
        for stage, head, name in files:
            steps = export_part(
                trace, stage, head, options.out / name, options.part, long_form=options.format == "csv-long"
            )
            shown(f"writing {name}", steps)
    say(f"{named.name}: {', '.join(name for *_, name in files)} written to {options.out}")
    return 0


def _tell_size(size: int) -> None:
    """Tell beforehand of files that a person may want to think about."""
    if size >= LARGE and sys.stderr is not None:
        print(f"{PROGRAM}: about {readable_bytes(size)} are to be written", file=sys.stderr)
