"""Exports hold what the trace holds, cell by cell, in every form."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from attn_gui.compute.trace import trace
from attn_gui.files import csv_matrix, csv_reader, experiment_json, export
from attn_gui.files.errors import FileError
from attn_gui.files.export import FORMS, Form, export_folder, export_stage, file_name
from attn_gui.files.layout import distinct_stages_of, layout
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, MaskRule, Term
from attn_gui.model.painted import Painted
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment
from attn_gui.model.sources import FromTokens
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.trace import Trace
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights
from tests.files.strategies import differences

QUERIES = ("the", "the", "=1+1", 'a "b", c')
KEYS = ("clé", "ключ", "שלום", "k,\r\n", "👩‍👩‍👧")


def cross(precision: Precision = Precision.FLOAT32) -> Experiment:
    """4 queries, 5 keys, 4 heads on 2 kv heads, every size different; the first query may attend to nothing."""
    random = np.random.RandomState(0)
    weights = Weights.of(
        random.standard_normal((6, 12)),
        random.standard_normal((7, 6)),
        random.standard_normal((7, 4)),
        random.standard_normal((8, 9)),
    )
    return Experiment(
        TokenSequence.of(QUERIES, random.standard_normal((4, 6)), ("noun", *[None] * 5)),
        FromTokens(weights),
        Variant.MULTI_HEAD_CROSS,
        heads=4,
        kv_heads=2,
        context=TokenSequence.of(KEYS, random.standard_normal((5, 7))),
        rule=Causal(),
        painted=Painted().with_cells([(0, 0)], allowed=False),
        precision=precision,
    )


def with_every_stage(precision: Precision = Precision.FLOAT32) -> Experiment:
    """:func:`cross` with positions, norm and bias, and values of their own."""
    scoring = Scoring(softcap=20.0, biases=(ALiBi(),), position=Sinusoidal(), qk_norm=RMSNorm())
    values = TokenSequence.of(KEYS, np.random.RandomState(1).standard_normal((5, 7)))
    return replace(cross(precision), values=values, scoring=scoring)


@pytest.fixture(params=list(Precision))
def traced(request: pytest.FixtureRequest) -> Trace:
    return trace(with_every_stage(request.param))


def write_all(traced: Trace, stage: str, head: int | None, path: Path, form: Form) -> None:
    steps = list(export_stage(traced, stage, head, path, form))
    assert steps == sorted(steps)
    assert steps[-1] == 1


def rounded(values: np.ndarray, precision: Precision) -> np.ndarray:
    if precision is Precision.BFLOAT16:
        return torch.tensor(values).to(torch.bfloat16).float().numpy()
    return values.astype(precision.numpy)


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_reads_back_from_every_form(traced: Trace, stage: str, tmp_path: Path) -> None:
    e = traced.experiment
    whole = traced.stage(stage)
    labels = layout(e, stage)
    heads: list[int | None] = list(range(e.heads)) if STAGES[stage].per_head else [None]
    for head in heads:
        path = tmp_path / file_name(stage, head, "csv")
        write_all(traced, stage, head, path, "csv")
        table = csv_reader.read(path)
        assert (table.rows, table.columns) == (labels.rows, labels.columns)
        np.testing.assert_array_equal(rounded(table.values, e.precision), traced.stage(stage, head))

    write_all(traced, stage, None, tmp_path / "long.csv", "csv-long")
    table = csv_reader.read(tmp_path / "long.csv")
    assert table.heads == (("1", "2", "3", "4") if STAGES[stage].per_head else ("",))
    np.testing.assert_array_equal(rounded(table.values, e.precision).reshape(whole.shape), whole)

    write_all(traced, stage, None, tmp_path / "a.npz", "npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        names = [f"{stage}/head{h + 1}" for h in range(4)] if STAGES[stage].per_head else [stage]
        assert arrays.files == names
        found = np.stack([arrays[name] for name in names]).reshape(whole.shape)
    assert found.dtype == e.precision.numpy
    np.testing.assert_array_equal(found, whole)


def test_labels_of_every_stage() -> None:
    e = cross()
    assert layout(e, "N").rows == QUERIES
    assert layout(e, "N").columns == KEYS
    assert layout(e, "X").columns == ("noun", "x2", "x3", "x4", "x5", "x6")
    assert (layout(e, "K").row_kind, layout(e, "K").rows, layout(e, "K").columns) == ("key", KEYS, ("k1", "k2", "k3"))
    assert layout(e, "concat").columns[:3] == ("head1_o1", "head1_o2", "head2_o1")
    assert layout(e, "output").columns == tuple(f"o{i}" for i in range(1, 10))
    e = with_every_stage()
    for stage in STAGES:
        assert trace(e).stage(stage).shape[-2:] == (len(layout(e, stage).rows), len(layout(e, stage).columns))


def test_masked_cells_are_minus_infinity(tmp_path: Path) -> None:
    write_all(trace(cross()), "A_masked", 0, tmp_path / "a.csv", "csv")
    lines = (tmp_path / "a.csv").read_bytes().decode().splitlines()
    assert next(line for line in lines if line.startswith("the,")) == "the,-inf,-inf,-inf,-inf,-inf"


def test_the_mean_over_heads(traced: Trace, tmp_path: Path) -> None:
    list(export_stage(traced, "N", "mean", tmp_path / file_name("N", "mean", "csv"), "csv"))
    expected = traced.matrix("N", "mean").block(slice(0, 4), slice(0, 5))
    table = csv_reader.read(tmp_path / "N_mean.csv")
    np.testing.assert_array_equal(rounded(table.values, traced.experiment.precision), expected)
    list(export_stage(traced, "N", "mean", tmp_path / "long.csv", "csv-long"))
    assert csv_reader.read(tmp_path / "long.csv").heads == ("mean",)
    list(export_stage(traced, "N", "mean", tmp_path / "N.npz", "npz"))
    assert np.load(tmp_path / "N.npz").files == ["N/mean"]


def test_heads_that_cannot_be_exported(tmp_path: Path) -> None:
    traced = trace(cross())
    path = tmp_path / "a.csv"
    with pytest.raises(ValueError, match="choose one of 4, or the long form"):
        list(export_stage(traced, "N", None, path, "csv"))
    with pytest.raises(ValueError, match="Q has no mean"):
        list(export_stage(traced, "Q", "mean", path, "csv"))
    assert not path.exists()


def test_one_head_needs_no_choice(tmp_path: Path) -> None:
    traced = trace(Experiment.from_tokens(["a", "b"], np.eye(2)))
    write_all(traced, "N", None, tmp_path / "N.csv", "csv")
    found = csv_reader.read(tmp_path / "N.csv").values
    np.testing.assert_array_equal(found.astype(np.float32), traced.stage("N", 0))


@pytest.mark.parametrize("form", FORMS)
def test_a_cancelled_export_leaves_the_file(tmp_path: Path, form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((csv_matrix, "BLOCK_CELLS"), (csv_matrix, "LONG_BLOCK_CELLS"), (export, "BLOCK_CELLS")):
        monkeypatch.setattr(module, name, 5)
    path = tmp_path / "a"
    path.write_bytes(b"old")
    steps = export_stage(trace(cross()), "N", 1, path, form)
    assert (next(steps), next(steps)) == (0.25, 0.5)
    steps.close()
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["a"]


def test_what_a_folder_holds(traced: Trace, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    folder.mkdir(parents=True)
    (folder / "other.txt").write_text("mine")
    (folder / "output.csv").write_text("old")
    named = NamedExperiment("A name", traced.experiment, "A note")
    steps = list(export_folder(traced, named, folder, ["A", "N", "output"], "csv"))
    assert steps == sorted(steps)
    assert steps[-1] == 1
    names = [f"{stage}_head{h}.csv" for stage in "AN" for h in range(1, 5)] + ["output.csv"]
    assert {path.name for path in folder.iterdir()} == {"experiment.json", "export.json", "other.txt", *names}
    assert (folder / "other.txt").read_text() == "mine"
    assert differences(experiment_json.read(folder / "experiment.json"), named) == []
    about = json.loads((folder / "export.json").read_bytes())
    assert (about["precision"], about["device"], about["form"]) == (traced.experiment.precision.value, "cpu", "csv")
    assert about["fully_masked_rows"] == {f"head{h + 1}": [1] for h in range(4)}
    assert about["row_sums"] == {f"head{h + 1}": traced.row_sums(h).tolist() for h in range(4)}
    assert about["row_sums"]["head3"][0] == 0
    assert [entry["file"] for entry in about["files"]] == names
    for entry in about["files"]:
        assert csv_reader.read(folder / entry["file"]).values.shape == (entry["rows"], entry["columns"])


def test_rows_that_are_masked_in_some_heads_only() -> None:
    nothing = Combined((Term(MaskRule(), negated=True, heads=(1,)),))
    e = Experiment.from_tokens("ab", np.eye(2), heads=2, rule=nothing)
    assert export.metadata(trace(e), [], "csv")["fully_masked_rows"] == {"head1": [], "head2": [1, 2]}


@pytest.mark.parametrize(("form", "names"), [("csv-long", ["N_long.csv", "X_long.csv"]), ("npz", ["N.npz", "X.npz"])])
def test_other_forms_have_one_file_per_stage(tmp_path: Path, form: Form, names: list[str]) -> None:
    e = cross()
    list(export_folder(trace(e), NamedExperiment("n", e), tmp_path / "out", ["X", "N"], form))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [*names, "experiment.json", "export.json"]


def test_a_cancelled_folder_holds_whole_files_only(tmp_path: Path) -> None:
    e = cross()
    steps = export_folder(trace(e), NamedExperiment("n", e), tmp_path / "out", ["N"], "csv")
    next(steps)
    next(steps)
    steps.close()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "N_head1.csv",
        "experiment.json",
        "export.json",
    ]
    csv_reader.read(tmp_path / "out" / "N_head1.csv")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    e = cross()
    for target in (tmp_path / "file", tmp_path / "file" / "inside"):
        with pytest.raises(FileError, match="folder"):
            list(export_folder(trace(e), NamedExperiment("n", e), target, ["N"], "csv"))
    assert (tmp_path / "file").read_bytes() == b"mine"


def test_which_stages_there_are() -> None:
    assert stages_of(with_every_stage()) == tuple(STAGES)
    e = cross()
    assert "scaled" not in distinct_stages_of(e)
    assert {"A_masked", "head_output", "concat"} <= set(distinct_stages_of(e))
    assert "scaled" in distinct_stages_of(replace(e, scoring=Scoring(softcap=5.0)))
    own = Experiment.from_tokens(["a", "b"], np.eye(2))
    assert distinct_stages_of(own) == ("X", "Q", "K", "V", "raw", "A", "N", "output")
    given = Experiment.from_qkv(np.ones((2, 3, 4)), np.ones((2, 5, 4)), np.ones((2, 5, 2)))
    assert distinct_stages_of(given) == ("Q", "K", "V", "raw", "A", "N", "head_output", "output")
    assert layout(given, "output").columns == ("o1", "o2", "o3", "o4")


@pytest.mark.parametrize(
    "e",
    [cross(), with_every_stage(), Experiment.from_tokens(["a", "b"], np.eye(2))],
    ids=["cross", "every stage", "self"],
)
def test_stages_that_are_left_out_are_the_same_as_others(e: Experiment) -> None:
    traced = trace(e)
    others = [traced.stage(stage) for stage in distinct_stages_of(e)]
    for stage in set(stages_of(e)) - set(distinct_stages_of(e)):
        values = traced.stage(stage)
        assert any(np.array_equal(values.ravel(), other.ravel()) for other in others), stage
