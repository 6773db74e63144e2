"""``attn-gui info``, ``scores`` and ``diagnose``."""

from __future__ import annotations

import argparse

from attn_gui.cli.computing import computing, device_named
from attn_gui.cli.opening import choices_of, of_tensors, session_of
from attn_gui.cli.reporting import say, shown
from attn_gui.files import tensor_file
from attn_gui.files.scores_csv import LayerScores, scores_csv, write_scores
from attn_gui.files.summary import summary
from attn_gui.files.tensors import headless
from attn_gui.model.counted import counted

NO_MATCH = 3


def run_info(options: argparse.Namespace) -> int:
    if of_tensors(options):
        lines = iter(shown("looking", headless.described(options.file, choices_of(options), options.layer)))
    else:
        lines = summary(session_of(options))
    for line in lines:
        say(line)
    return 0


def run_scores(options: argparse.Namespace) -> int:
    from attn_gui.compute.head_scores import layer_scores

    device, experiments = device_named(options.device), session_of(options).experiments
    with computing(device):
        found = shown("scoring", layer_scores([named.experiment for named in experiments], device))
    layers = [LayerScores(n.name, n.place, scores.values) for n, scores in zip(experiments, found, strict=True)]
    if options.csv is None:
        for line in scores_csv(layers).decode().splitlines():
            say(line)
        return 0
    write_scores(options.csv, layers)
    heads = sum(len(layer.values) for layer in layers)
    say(f"{counted(heads, 'head')} in {counted(len(layers), 'layer')} scored, written to {options.csv}")
    return 0


def run_diagnose(options: argparse.Namespace) -> int:
    from attn_gui.compute.diagnose import diagnose_steps

    asked = tensor_file.read(options.file, {told.name: told.role and told.role.value for told in options.read})
    question = asked.question(softcap=options.softcap, bases=options.base)
    device = device_named(options.device)
    with computing(device):
        diagnosis = shown("trying", diagnose_steps(question, device))
    for line in str(diagnosis).splitlines():
        say(line)
    if asked.others:
        say(f"- Not looked at: {', '.join(asked.others)}.")
    return 0 if diagnosis.matches else NO_MATCH
