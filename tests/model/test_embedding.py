"""Embedding: the session holds the arrays, of which it knew only where they lie."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np

from attn_gui.files.session import load, save
from attn_gui.model.embedding import bytes_elsewhere, embedded
from attn_gui.model.experiment import Experiment
from attn_gui.model.origin import Origin
from attn_gui.model.session import NamedExperiment, Session


def origin(folder: Path) -> Origin:
    return Origin(str(folder / "attn.npy"), "sha256:0", {}, {"N": "np.load('attn.npy')"})


def test_every_array_is_in_the_file_and_the_experiments_are_the_same(tmp_path: Path) -> None:
    N, Q = np.full((2, 40, 40), 0.025, np.float32), np.ones((2, 40, 3))
    first = Experiment.from_weights(N)
    plain = NamedExperiment("plain", Experiment.from_tokens(["a"], [[1.0]]))
    one = NamedExperiment("one", first, origin=origin(tmp_path))
    two = NamedExperiment("two", Experiment.from_qkv(Q, Q, Q), original=first, origin=origin(tmp_path))
    session = Session((one, plain, two), 2, {"decimals": 3})
    # shared by both, N counts once; Q, K and V are one array, or three
    assert bytes_elsewhere(session) in (N.nbytes + Q.nbytes, N.nbytes + 3 * Q.nbytes)
    made = embedded(session)
    assert [n.origin for n in made.experiments] == [None] * 3
    assert [n.experiment for n in made.experiments] == [n.experiment for n in session.experiments]
    assert made.experiments[1] is plain
    assert (made.current, made.view) == (2, {"decimals": 3})
    assert bytes_elsewhere(made) == 0
    save(made, tmp_path / "x.attn")
    with zipfile.ZipFile(tmp_path / "x.attn") as zipped:
        assert "attn.npy" not in json.dumps(json.loads(zipped.read("session.json")))
    again = load(tmp_path / "x.attn")
    np.testing.assert_array_equal(again.experiments[0].experiment.source.parts()["N"], N)
    assert again.experiments[2].original is not None
