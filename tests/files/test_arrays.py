"""Arrays that other programs wrote come back as they were, and what is none is refused with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from attn_gui.files.arrays import arrays_in
from attn_gui.files.csv_matrix import write_matrix
from attn_gui.files.errors import FileError
from attn_gui.files.layout import Layout
from attn_gui.model.precision import Precision

dtypes = st.sampled_from(["?", "i1", "u1", "<i4", ">i8", "<f2", "<f4", ">f8"])
shapes = arrays.array_shapes(min_dims=1, max_dims=4, max_side=5)
shared_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@shared_folder
@given(dtypes.flatmap(lambda dtype: arrays.arrays(dtype, shapes)), st.booleans())
def test_npy_and_npz_come_back(tmp_path: Path, array: NDArray[Any], fortran: bool) -> None:
    array = np.asfortranarray(array) if fortran else array
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "a.npz", mask=array, other=np.ones(2))
    np.savez_compressed(tmp_path / "c.npz", mask=array)
    for name, key in (("a.npy", ""), ("a.npz", "mask"), ("c.npz", "mask")):
        back = arrays_in(tmp_path / name)[key]
        assert back.dtype == array.dtype
        np.testing.assert_array_equal(back, array)
    assert list(arrays_in(tmp_path / "a.npz")) == ["mask", "other"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1,0\n0,1\n", [[1.0, 0.0], [0.0, 1.0]]),
        ("0\t-inf\r\n0\t0\r\n", [[0.0, -np.inf], [0.0, 0.0]]),
        ("\ufeff1;0.5\n2;-3e2\n\n", [[1.0, 0.5], [2.0, -300.0]]),
        ("1\n2", [[1.0], [2.0]]),
    ],
)
def test_plain_tables(tmp_path: Path, text: str, wanted: list[list[float]]) -> None:
    (tmp_path / "a.csv").write_bytes(text.encode())
    back = arrays_in(tmp_path / "a.csv")[""]
    assert back.dtype == np.float64
    np.testing.assert_array_equal(back, wanted)


def test_words_are_flags(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("True,false\nFALSE,true\n")
    back = arrays_in(tmp_path / "a.csv")[""]
    assert back.dtype == bool
    assert back.tolist() == [[True, False], [False, True]]


def test_what_the_program_itself_writes(tmp_path: Path) -> None:
    values = np.array([[0.25, 0.75], [1.0, 0.0]])
    layout = Layout("query", "key", ("a", "b"), ("a", "b"))
    list(write_matrix(tmp_path / "N.csv", layout, lambda rows: values[rows], Precision.FLOAT64))
    np.testing.assert_array_equal(arrays_in(tmp_path / "N.csv")[""], values)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.csv", b"1,0\n1\n", "line 2: expected 2 cells, as in the first row, received 1"),
        ("a.csv", b"1,0\n1,x\n", "line 2, column 2: expected a number, true or false, received 'x'"),
        ("a.csv", b"", "expected rows of numbers or flags, received an empty file"),
        ("a.csv", b"1,\xff\n", "expected UTF-8 text"),
        ("a.npy", b"not an array", "expected a numpy array"),
        ("a.npz", b"not a zip file", "expected a zip file that is whole"),
        ("a.txt", b"1,0\n", "expected a name that ends with .npy, .npz, .csv"),
    ],
)
def test_what_is_no_array_is_refused_at_its_place(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError) as caught:
        arrays_in(tmp_path / name)
    assert reason in str(caught.value)


def test_nothing_is_unpickled_and_no_size_is_believed(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(FileError, match="an array of numbers or flags"):
        arrays_in(tmp_path / "objects.npy")
    np.save(tmp_path / "text.npy", np.array(["a"]))
    with pytest.raises(FileError, match="an array of numbers or flags"):
        arrays_in(tmp_path / "text.npy")
    np.save(tmp_path / "whole.npy", np.ones((3, 3)))
    whole = (tmp_path / "whole.npy").read_bytes()
    for cut in (whole[:-8], whole.replace(b"(3, 3)", b"(9, 9)"), whole + b"more"):
        (tmp_path / "cut.npy").write_bytes(cut)
        with pytest.raises(FileError, match="bytes of numbers"):
            arrays_in(tmp_path / "cut.npy")
    np.save(tmp_path / "flags.npy", np.ones((2, 2), bool))
    (tmp_path / "flags.npy").write_bytes((tmp_path / "flags.npy").read_bytes()[:-1] + b"\x07")
    with pytest.raises(FileError, match="0 or 1 in each byte"):
        arrays_in(tmp_path / "flags.npy")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="a name that does not exist"):
        arrays_in(tmp_path / "gone.npy")
