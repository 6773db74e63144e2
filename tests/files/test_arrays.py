"""Arrays that other programs wrote come back as they were, and what is none is refused with its place."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from attn_gui.files import arrays as arrays_module
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
        ("a.csv", b"1,0\n1,1e999\n", "line 2, column 2: expected a number, true or false, received '1e999'"),
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


def npy(header: bytes, numbers: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    length = len(header).to_bytes(2 if version == b"\x01\x00" else 4, "little")
    return b"\x93NUMPY" + version + length + header + numbers


@pytest.mark.parametrize("version", [b"\x01\x00", b"\x02\x00", b"\x03\x00"])
@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }          \n",
        b"{'fortran_order': False, 'shape': (1, 2), 'descr': '<f4'}\n",
        b'{"shape":(1,2),"descr":"<f4","fortran_order":False}',
        b"{ 'descr' : '<f4' ,\n 'fortran_order' : False , 'shape' : ( 1 , 2 , ) , }",
    ],
)
def test_headers_as_other_programs_write_them(tmp_path: Path, header: bytes, version: bytes) -> None:
    numbers = np.array([[1.5, -2.5]], "<f4")
    (tmp_path / "a.npy").write_bytes(npy(header, numbers.tobytes(), version))
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), numbers)
    np.testing.assert_array_equal(arrays_in(tmp_path / "a.npy")[""], numbers)


def test_a_header_of_python_2(tmp_path: Path) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1L, 2L), }"
    (tmp_path / "a.npy").write_bytes(npy(header, bytes(8)))
    assert arrays_in(tmp_path / "a.npy")[""].shape == (1, 2)


WHOLE = b"{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), }"
SHAPE = b"(2, 2)"
NEGATIVE = "a shape with sides of 0 or more, received shape"


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (b"(" * 9000, "another header, or a damaged one"),
        (b"{'descr': '|b1', 'shape': (5,5)", "another header"),
        (b"{'descr': '|b1', 'shape': (5,5)}", "another header"),
        (b"'''abc", "another header"),
        (b"  x\n y\n", "another header"),
        (b"-" * 5000 + b"1", "another header"),
        (b"[" * 5000 + b"]" * 5000, "another header"),
        (b"", "another header"),
        (b"{", "another header"),
        (WHOLE + b" " * 70_000, "another header"),
        (WHOLE.replace(SHAPE, b"(4)"), "another header"),
        (WHOLE.replace(SHAPE, b"(2, 2"), "another header"),
        (WHOLE.replace(SHAPE, b"(,)"), "another header"),
        (WHOLE.replace(SHAPE, b"(2,, 2)"), "another header"),
        (WHOLE.replace(SHAPE, b"(2, 2.0)"), "another header"),
        (WHOLE.replace(SHAPE, b"(2, __import__('os').getpid())"), "another header"),
        (WHOLE.replace(SHAPE, b"(2, %s)" % (b"9" * 5000)), "another header"),
        (WHOLE.replace(SHAPE, b"'<f8'"), "another header"),
        (WHOLE.replace(b"False", b"0"), "another header"),
        (WHOLE.replace(b"}", b"'shape': (2, 2)}"), "another header"),
        (WHOLE.replace(b"'|b1'", b"[('a', '<f4')]"), "another header"),
        (WHOLE.replace(SHAPE, b"(-5, 5)"), f"{NEGATIVE} (-5, 5)"),
        (WHOLE.replace(SHAPE, b"(-2, -2)"), f"{NEGATIVE} (-2, -2)"),
        (WHOLE.replace(SHAPE, b"(0, 999999999999999999, 9)"), "0 bytes of numbers, for shape"),
        (WHOLE.replace(SHAPE, b"(%s)" % (b"1, " * 70 + b"4")), "a shape that numpy can hold"),
        (WHOLE.replace(b"|b1", b"<c8"), "numbers or flags, received complex numbers, numpy type <c8"),
        (WHOLE.replace(b"|b1", b"<>f8"), "numbers or flags, received numpy type <>f8"),
        (WHOLE.replace(b"|b1", b"f4,f4"), "numbers or flags, received numpy type f4,f4"),
        (WHOLE.replace(b"|b1", b"\xff"), "numbers or flags, received numpy type"),
    ],
)
def test_damaged_headers_are_refused_in_words(tmp_path: Path, header: bytes, reason: str) -> None:
    content = npy(header, bytes(4), b"\x02\x00")
    (tmp_path / "a.npy").write_bytes(content)
    with ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("mask.npy", content)
    for name in ("a.npy", "a.npz"):
        with pytest.raises(FileError) as caught:
            arrays_in(tmp_path / name)
        assert reason in str(caught.value)


@shared_folder
@given(st.integers(0, 130), st.binary(max_size=40))
def test_any_damage_is_refused_or_harmless(tmp_path: Path, at: int, other: bytes) -> None:
    np.save(tmp_path / "whole.npy", np.arange(6.0).reshape(2, 3))
    data = bytearray((tmp_path / "whole.npy").read_bytes())
    data[at : at + len(other)] = other
    (tmp_path / "a.npy").write_bytes(data)
    with suppress(FileError):
        assert arrays_in(tmp_path / "a.npy")[""].nbytes <= len(data)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_array_given_twice_is_refused(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "a.npz", "w") as archive:
        for value in (b"\x00", b"\x01"):
            archive.writestr("mask.npy", npy(WHOLE, value * 4))
    with pytest.raises(FileError, match=r"mask\.npy: expected one array of this name, received several"):
        arrays_in(tmp_path / "a.npz")


def test_packed_numbers_that_were_damaged(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", mask=np.random.RandomState(0).standard_normal(200))
    data = (tmp_path / "a.npz").read_bytes()
    for at in range(60, 600, 7):
        (tmp_path / "b.npz").write_bytes(data[:at] + b"\xff\xff\xff\xff" + data[at + 4 :])
        with pytest.raises(FileError):
            arrays_in(tmp_path / "b.npz")


def test_sizes_over_the_limit_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "a.npy").open("wb") as file:
        file.truncate((1 << 30) + 1)
    with pytest.raises(FileError, match="at most 1,073,741,824 bytes, received 1,073,741,825 bytes"):
        arrays_in(tmp_path / "a.npy")
    (tmp_path / "a.npy").unlink()
    np.savez_compressed(tmp_path / "a.npz", a=np.zeros(1000), b=np.zeros(1000))
    monkeypatch.setattr(arrays_module, "MAX_BYTES", 16_252)
    with pytest.raises(FileError, match=r"at most 16\.25 kB of arrays, received 16\.26 kB"):
        arrays_in(tmp_path / "a.npz")


def test_no_memory_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(*arguments: Any) -> Any:
        raise MemoryError

    np.save(tmp_path / "a.npy", np.ones(3))
    monkeypatch.setattr(arrays_module.npy, "read", too_much)
    with pytest.raises(FileError, match="arrays that fit in memory"):
        arrays_in(tmp_path / "a.npy")


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
