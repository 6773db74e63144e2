"""Writes stages of a Trace to files: CSV in matrix or long form, or NPZ. What is written is what was computed."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, get_args
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from attn_gui.files import npy
from attn_gui.files.atomic import replacing, write_bytes
from attn_gui.files.csv_matrix import BLOCK_CELLS, ReadRows, row_blocks, write_long, write_matrix
from attn_gui.files.errors import FileError, cannot_write
from attn_gui.files.experiment_json import to_plain
from attn_gui.files.json_text import dumps
from attn_gui.files.layout import Layout, layout
from attn_gui.model.session import NamedExperiment
from attn_gui.model.stage_shape import FROM_OUTPUTS
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head, Trace

Steps = Generator[float, None, None]
Form = Literal["csv", "csv-long", "npz"]
FORMS: tuple[Form, ...] = get_args(Form)

EXPERIMENT_FILE = "experiment.json"
METADATA_FILE = "export.json"
# numbers of one array: the JSON of more could not be read again
MOST_WRITTEN_OUT = 1 << 24


def file_name(stage: str, head: Head | None, form: Form) -> str:
    """What a file of one stage is called: ``A_head1.csv``, ``A_mean.csv``, ``A_long.csv`` (all heads), ``A.npz``."""
    ending = {"csv": ".csv", "csv-long": "_long.csv", "npz": ".npz"}[form]
    return f"{stage}{ending}" if head is None else f"{stage}_{_head_name(head)}{ending}"


def export_stage(trace: Trace, stage: str, head: Head | None, path: str | Path, form: Form) -> Steps:
    """Write one stage of one head, of their mean (n_q x n_k stages only) or, with None, of all heads to one file.

    Yields the part done, 0 to 1; closing the generator leaves ``path`` as it was. The matrix form holds one table, so
    for a stage per head it needs a head unless there is only one. NPZ holds ``stage`` for a stage without heads and
    ``stage/head1``, ... otherwise. Raises FileError; ValueError for a head that the form or the stage cannot have.
    """
    path = Path(path)
    if stage in FROM_OUTPUTS:
        for _ in trace.passes():
            yield 0.0
    tables = list(_tables(trace, stage, head))
    table = layout(trace.experiment, stage)
    precision = trace.experiment.precision
    if form == "npz":
        yield from _write_npz(path, stage, table, tables, np.dtype(precision.numpy))
    elif form == "csv-long":
        yield from write_long(path, table, [(name.removeprefix("head"), read) for name, read in tables], precision)
    elif len(tables) == 1:
        yield from write_matrix(path, table, tables[0][1], precision)
    else:
        raise ValueError(f"the matrix form holds one head: choose one of {len(tables)}, or the long form")


def export_folder(
    trace: Trace, named: NamedExperiment, directory: str | Path, stages: Sequence[str], form: Form
) -> Steps:
    """Write the experiment and ``stages`` of all heads into a folder, which is made if it is not there.

    experiment.json holds the experiment, export.json what :func:`metadata` says; then a file per stage, in matrix form
    per stage and head. Each file is replaced whole; others in the folder are left alone. Yields the part done, 0 to 1.
    Raises FileError; as :func:`folder_for`.
    """
    folder = Path(directory)
    jobs = [(stage, head) for stage in stages for head in _heads_of_files(trace, stage, form)]
    files = [file_name(stage, head, form) for stage, head in jobs]
    sizes = [layout(trace.experiment, stage).cells for stage, _ in jobs]
    done = 0
    for _ in trace.passes():
        yield 0.0
    with folder_for([EXPERIMENT_FILE, METADATA_FILE, *files], folder):
        write_bytes(folder / EXPERIMENT_FILE, dumps(to_plain(named, _written_out)))
        write_bytes(folder / METADATA_FILE, dumps(metadata(trace, jobs, form)))
        for (stage, head), name, size in zip(jobs, files, sizes, strict=True):
            with closing(export_stage(trace, stage, head, folder / name, form)) as parts:
                for part in parts:
                    yield (done + part * size) / max(1, sum(sizes))
            done += size


def _written_out(array: NDArray[Any]) -> Any:
    """What stands for an array in the experiment's JSON: of one too large to be read from there again, its measures."""
    if array.size <= MOST_WRITTEN_OUT:
        return array
    return {"shape": list(array.shape), "dtype": array.dtype.name}


@contextmanager
def folder_for(files: Sequence[str], folder: Path) -> Iterator[None]:
    """Makes ``folder``, with those above it, where it is not there, for ``files`` to be written into it.

    If one of them cannot be written, what was not there before is removed again. Raises FileError.
    """
    new_folders = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    new_files = [folder / name for name in files if not os.path.lexists(folder / name)]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(folder, error) from error
        yield
    except (FileError, MemoryError):
        for path in new_files:
            with suppress(OSError):
                path.unlink()
        for path in new_folders:
            # others may have put something there meanwhile
            with suppress(OSError):
                path.rmdir()
        raise


def metadata(trace: Trace, jobs: Sequence[tuple[str, Head | None]], form: Form) -> dict[str, Any]:
    """What the numbers of an export are, as values for :func:`~attn_gui.files.json_text.dumps`.

    Precision, device, the files with their shapes, and per head the queries (from 1) that may attend to no key and the
    sums of the rows of N.
    """
    heads = range(trace.experiment.heads)
    summed = () if "N" in trace.experiment.hidden else heads
    return {
        "format": "attn-export",
        "version": 2,
        "precision": trace.experiment.precision.value,
        "device": trace.device,
        "form": form,
        "files": [_described(trace, stage, head, form) for stage, head in jobs],
        "fully_masked_rows": {_head_name(head): _fully_masked_rows(trace, head) for head in heads},
        "row_sums": {_head_name(head): np.asarray(trace.row_sums(head), dtype=np.float64) for head in summed},
    }


def _described(trace: Trace, stage: str, head: Head | None, form: Form) -> dict[str, Any]:
    table = layout(trace.experiment, stage)
    of = {"file": file_name(stage, head, form), "stage": stage, "head": None if head is None else _head_name(head)}
    return of | {"rows": len(table.rows), "columns": len(table.columns)}


def _fully_masked_rows(trace: Trace, head: int) -> list[int]:
    return [i + 1 for i in np.flatnonzero(trace.empty_rows(head)).tolist()]


def _heads_of_files(trace: Trace, stage: str, form: Form) -> list[int] | list[None]:
    if form == "csv" and STAGES[stage].per_head:
        return list(range(trace.experiment.heads))
    return [None]


def _head_name(head: Head) -> str:
    return "mean" if head == "mean" else f"head{head + 1}"


def _tables(trace: Trace, stage: str, head: Head | None) -> Iterator[tuple[str, ReadRows]]:
    """The tables of a stage by the name of their head, ``""`` where it has none."""
    if not STAGES[stage].per_head:
        whole = trace.stage(stage)
        yield "", lambda rows: whole[rows]
        return
    heads: list[Head] = list(range(trace.experiment.heads)) if head is None else [head]
    for each in heads:
        yield _head_name(each), _reader(trace, stage, each)


def _reader(trace: Trace, stage: str, head: Head) -> ReadRows:
    if STAGES[stage].square:
        matrix = trace.matrix(stage, head)
        return lambda rows: matrix.block(rows, slice(0, matrix.shape[1]))
    if head == "mean":
        raise ValueError(f"{stage} has no mean over heads: choose one head or all")
    values = trace.stage(stage, head)
    return lambda rows: values[rows]


def _write_npz(
    path: Path, stage: str, table: Layout, tables: Sequence[tuple[str, ReadRows]], dtype: np.dtype[Any]
) -> Steps:
    shape = (len(table.rows), len(table.columns))
    with replacing(path, durable=False) as file, ZipFile(file, "w") as zipped:
        for index, (head, read) in enumerate(tables):
            name = f"{stage}/{head}.npy" if head else f"{stage}.npy"
            blocks = (read(rows) for rows in row_blocks(table, BLOCK_CELLS))
            # closed before the zip file, also when this generator is closed half way
            with closing(npy.write(zipped, name, dtype, shape, blocks)) as written:
                for cells in written:
                    yield (index + cells / max(1, table.cells)) / len(tables)
