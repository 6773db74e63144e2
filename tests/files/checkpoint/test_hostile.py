"""Files that are broken or mean harm: refused in words, nothing run, nothing large allocated."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch import nn

from attn_gui.files.checkpoint.opening import load, look, open_weights
from attn_gui.files.errors import FileError

MOST_ALLOCATED = 20_000_000
Edit = Callable[[bytes], bytes]


@pytest.fixture
def good(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    path = tmp_path / "good.pt"
    torch.save(nn.MultiheadAttention(4, 2).state_dict(), path)
    return path


def repacked(good: Path, method: int = ZIP_STORED, add: tuple[str, bytes] | None = None, **edits: Edit | None) -> Path:
    """The archive with members edited (``data_pkl``, ``data_0``), or left out (None), or added."""
    path = good.with_name("bad.pt")
    with ZipFile(good) as before, ZipFile(path, "w", method) as after:
        for info in before.infolist():
            own = info.filename.partition("/")[2]
            edit = edits.get(own.replace(".", "_").replace("/", "_"), bytes)
            if edit is not None:
                after.writestr(info.filename, edit(before.read(info)))
        if add is not None:
            after.writestr(*add)
    return path


def refused(path: Path) -> str:
    """The message, after nothing large was allocated on the way to it."""
    tracemalloc.start()
    try:
        with pytest.raises(FileError) as caught:
            open_weights(path, heads=2)
        assert tracemalloc.get_traced_memory()[1] < MOST_ALLOCATED
    finally:
        tracemalloc.stop()
    assert str(path) in str(caught.value)
    return str(caught.value)


def pickled(*steps: bytes) -> bytes:
    return b"\x80\x02" + b"".join(steps) + b"."


def word(text: str) -> bytes:
    return b"X" + len(text).to_bytes(4, "little") + text.encode()


def test_the_untouched_archive_opens(good: Path) -> None:
    assert open_weights(repacked(good), heads=2).heads == 2


class Mine(torch.Tensor):
    """A tensor as somebody may have extended it."""


class Harm:
    """Unpickling it makes a file."""

    def __init__(self, trace: Path, through: Any = os.mkdir) -> None:
        self._trace, self._through = trace, through

    def __reduce__(self) -> Any:
        return self._through, (str(self._trace),)


@pytest.mark.parametrize("protocol", [2, 4])
def test_code_in_a_pickle_is_named_and_not_run(tmp_path: Path, protocol: int) -> None:
    harm = tmp_path / "harmed"
    path = tmp_path / "bad.pt"
    torch.save({"in_proj_weight": torch.ones(6, 2), "x": Harm(harm)}, path, pickle_protocol=protocol)
    assert f"{os.mkdir.__module__}.mkdir" in refused(path)
    assert not harm.exists()


def test_a_whole_module_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "module.pt"
    torch.save(nn.MultiheadAttention(4, 2), path)
    message = refused(path)
    assert "torch.nn.modules.activation.MultiheadAttention" in message
    assert "state_dict()" in message


def test_a_name_that_torch_itself_would_allow_is_refused_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "size.pt"
    torch.save({"shape": torch.Size([2])}, path)
    assert "torch.Size" in refused(path)


def test_the_forms_before_the_zip_are_refused_with_the_reason(tmp_path: Path) -> None:
    harm = tmp_path / "harmed"
    path = tmp_path / "legacy.pt"
    torch.save({"x": Harm(harm)}, path, _use_new_zipfile_serialization=False)
    assert "a bare pickle, as torch before 1.6" in refused(path)
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        tar.addfile(tarfile.TarInfo("sys_info"), io.BytesIO())
    assert "tar file of torch before 0.1.10" in refused(path)
    assert not harm.exists()


def test_another_protocol_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "p4.pt"
    torch.save({"q.weight": torch.ones(2, 2)}, path, pickle_protocol=4)
    assert "protocol 4" in refused(path)


def test_torchscript_is_refused_as_code(good: Path) -> None:
    assert "TorchScript" in refused(repacked(good, add=("good/code/x.py", b"import os")))


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "an empty file"), (b"PK\x03\x04", "damaged"), (b"hello", "another kind"), (b"\x80", "pickle")],
)
def test_what_is_no_archive_at_all(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(content)
    assert message in refused(path)


def test_a_folder_and_a_name_that_is_not_there(tmp_path: Path) -> None:
    assert "a folder" in refused(tmp_path)
    assert "does not exist" in refused(tmp_path / "nowhere.pt")


def test_cut_off_anywhere(good: Path) -> None:
    whole = good.read_bytes()
    path = good.with_name("cut.pt")
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        refused(path)


@given(st.integers(0, 10_000), st.integers(0, 255))
@settings(max_examples=200)
def test_any_changed_byte_is_refused_or_harmless(tmp_path_factory: pytest.TempPathFactory, at: int, value: int) -> None:
    folder = tmp_path_factory.mktemp("byte")
    path = folder / "good.pt"
    torch.save({f"{n}.weight": torch.arange(4.0).reshape(2, 2) for n in "qkv"}, path)
    data = bytearray(path.read_bytes())
    data[at % len(data)] = value
    path.write_bytes(data)
    tracemalloc.start()
    try:
        open_weights(path)
    except FileError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < MOST_ALLOCATED


# data.pkl of nn.MultiheadAttention(4, 2): storages of 48, 12, 16 and 4 numbers, shapes (12, 4), (12,), (4, 4), (4,)
SHAPE, STRIDE = b"K\x0cK\x04\x86", b"K\x04K\x01\x86"
GIANT = b"J\xff\xff\xff\x7f"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (SHAPE, GIANT + b"K\x04\x86", "within their storage of 48 numbers"),
        (SHAPE, GIANT + GIANT + b"\x86", "within their storage of 48 numbers"),
        (SHAPE, b"J\xff\xff\xff\xffK\x04\x86", "within their storage"),
        (STRIDE, b"K\x00K\x00\x86", ""),
        (STRIDE, GIANT + b"K\x01\x86", "within their storage"),
        (STRIDE, b"J\xfe\xff\xff\xffK\x01\x86", "within their storage"),
        (b"QK\x00", b"QK\x01", "within their storage"),
        (b"QK\x00", b"QJ\xff\xff\xff\xff", "within their storage"),
        (b"K\x30t", GIANT + b"t", "8,589,934,588 bytes in data/0, as data.pkl says, received 192"),
        (b"K\x30t", b"K\x31t", "196 bytes in data/0"),
        (b"X\x01\x00\x00\x000", b"X\x01\x00\x00\x009", "data/9"),
        (word("in_proj_bias"), word("bias_k"), "bias_k: expected shape (1, 1, width)"),
        (b"FloatStorage", b"HalfStorage\n", "damaged"),
        (b"_rebuild_tensor_v2", b"_rebuild_tensor_v9", "torch._utils._rebuild_tensor_v9"),
        (b"OrderedDict", b"defaultdict", "collections.defaultdict"),
        (b"\x85q", b"\x87q", "damaged"),
    ],
)
def test_a_pickle_that_says_what_is_not_so(good: Path, old: bytes, new: bytes, message: str) -> None:
    def edit(data: bytes) -> bytes:
        assert old in data
        return data.replace(old, new, 1)

    if message:
        assert message in refused(repacked(good, data_pkl=edit))
    else:  # the same numbers over and over, as many as are there
        assert (open_weights(repacked(good, data_pkl=edit), heads=2).weights.W_Q.array() >= -1).all()


def test_few_numbers_that_are_said_to_be_many_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "expanded.pt"
    torch.save({f"{n}.weight": torch.ones(1).expand(50_000, 50_000) for n in "qkv"}, path)
    assert "save it before it is expanded" in refused(path)
    torch.save({f"{n}.weight": torch.ones(1).expand(8_000, 8_000) for n in "qkv"}, path)
    assert "q.weight: expected an expanded tensor of at most 33,554,432 numbers" in refused(path)


def test_members_that_are_not_as_they_were_declared(good: Path) -> None:
    assert "192 bytes in data/0, as data.pkl says, received 191" in refused(repacked(good, data_0=lambda d: d[:-1]))
    assert "data/0, received a file without" in refused(repacked(good, data_0=None))
    assert "without data.pkl" in refused(repacked(good, data_pkl=None))
    assert "stored as it is" in refused(repacked(good, ZIP_DEFLATED))
    assert "../up" in refused(repacked(good, add=("good/data/../up", b"")))
    assert "elsewhere" in refused(repacked(good, add=("elsewhere/data/7", b"")))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_entry_given_twice(good: Path) -> None:
    assert "one entry of this name" in refused(repacked(good, add=("good/data.pkl", b"\x80\x02}.")))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pickled(b"}", word("a"), b"K\x01s", word("a"), b"K\x02s"), "a: expected one tensor of this name"),
        (pickled(b"}", word("a.b"), b"K\x01s", word("a"), b"}", word("b"), b"K\x02ss"), "a.b: expected one tensor"),
        (pickled(b"]"), "received a list"),
        (pickled(b"}"), "received no tensor"),
        (pickled(b"}q\x00", word("a"), b"h\x00s"), "dicts deep"),
        (pickled(b"}", word("a"), b"}}K\x00ss"), "a key that is a dict"),
        (pickled(b"cposix\nsystem\n", word("true"), b"\x85R"), "posix.system"),
        (pickled(b"iposix\nsystem\n"), "posix.system"),
        (b"\x80\x04\x8c\x05posix\x8c\x06system\x93.", "posix.system"),
        (pickled(b"c__builtin__\neval\n"), "__builtin__.eval"),
        (pickled(b"ctorch._utils\n_rebuild_tensor_v2\n)R"), "a call of torch._utils._rebuild_tensor_v2"),
        (pickled(b"ccollections\nOrderedDict\n)\x81"), "NEWOBJ"),
        (pickled(b"K\x01Q"), "damaged"),
        (pickled(b"h\x07"), "damaged"),
        (pickled(b"t"), "damaged"),
        (pickled(b"(."), "damaged"),
        (pickled(b"X\xff\xff\xff\x7fabc"), "damaged"),
        (b"", "damaged"),
        (b"\x80\x02}", "damaged"),
    ],
)
def test_pickles_written_by_hand(good: Path, data: bytes, message: str) -> None:
    assert message in refused(repacked(good, data_pkl=lambda before: data))


def test_dicts_within_dicts_do_not_grow_without_end(good: Path) -> None:
    """Ten dicts that each hold the one before ten times: ten to the tenth names in a hundred bytes or so."""
    data = b"}" + word("x") + b"K\x01s"
    for level in range(10):
        entries = b"".join(word(f"{k}") + b"h" + bytes([level]) for k in range(10))
        data += b"q" + bytes([level]) + b"0}(" + entries + b"u"
    assert "names" in refused(repacked(good, data_pkl=lambda before: pickled(data.replace(b"0}(", b"}("))))


DEEP = b")" + b"\x85" * 200_000
# what holds itself a thousand times over, in sixteen steps
WIDE = b")q\x00" + b"".join(b"(" + (b"h" + bytes([n])) * 1000 + b"tq" + bytes([n + 1]) for n in range(16))
NESTED = [
    (b"}" + DEEP + b"K\x01s", "dicts whose keys are words or numbers, received a key that is a tuple"),
    (b"}(" + DEEP + b"K\x01u", "a key that is a tuple"),
    (WIDE + b"}h\x10K\x01s", "a key that is a tuple"),
    (b"}]K\x01s", "a key that is a list"),
    (b"}ctorch\nFloatStorage\nK\x01s", "a key that is a Python object"),
    # torch would give each entry of a list of pairs to a dict
    (b"ccollections\nOrderedDict\n)R](" + DEEP + b"K\x01\x86eb", "attributes of another object"),
    (b"}" + word("x") + DEEP + b"s", "received no tensor"),
    (b"}" + word("x") + b"]" + DEEP + b"as", "received no tensor"),
    (b"}" + word("x") + b"]" * 200_000 + b"a" * 199_999 + b"s", "received no tensor"),
    (b"}N" * 100_000 + b"}" + b"s" * 100_000, "received no tensor"),
    (b"(" + word("storage") + DEEP + word("0") + word("cpu") + b"K\x01tQ", "damaged"),
    (b"ctorch._utils\n_rebuild_tensor_v2\n(" + DEEP + b"K\x00K\x01\x85K\x01\x85tR", "damaged"),
    (b"ctorch._utils\n_rebuild_tensor_v2\n" + DEEP + b"R", "a call of torch._utils._rebuild_tensor_v2"),
    (DEEP + DEEP + b"R", "damaged"),
    (DEEP + DEEP + b"\x93", "damaged"),
    (DEEP + word("x") + b"\x93", "damaged"),
    (DEEP, "received a tuple"),
]
LOOK = """
import sys
from attn_gui.files.checkpoint.opening import look
for path in sys.argv[1:]:
    try:
        look(path)
    except ValueError as error:
        print(type(error).__name__, error)
"""


def test_what_is_nested_without_end_is_refused(good: Path) -> None:
    """In a process of its own: one that runs out of the stack would take the tests with it."""
    paths = []
    for number, (steps, _) in enumerate(NESTED):
        edited = repacked(good, data_pkl=partial(lambda steps, before: pickled(steps), steps))
        paths.append(edited.rename(good.with_name(f"{number}.pt")))
    ran = subprocess.run([sys.executable, "-c", LOOK, *map(str, paths)], capture_output=True, text=True, timeout=200)
    assert ran.returncode == 0, ran.stderr[-2000:]
    said = ran.stdout.splitlines()
    for (_, words), line in zip(NESTED, said, strict=True):
        assert line.startswith("FileError ") and words in line


def test_a_tensor_beside_what_is_nested_deep_still_opens(good: Path) -> None:
    """Torch reads it as well: building it and letting it go takes no stack."""
    script = (
        "import sys; from attn_gui.files.checkpoint.opening import open_weights; "
        "print(open_weights(sys.argv[1], heads=2).widths)"
    )

    def edit(data: bytes) -> bytes:
        return data[:-1] + word("x") + DEEP + b"s."

    path = repacked(good, data_pkl=edit)
    ran = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=100)
    assert ran.stdout.strip() == "(4, 4, 4)", ran.stderr[-2000:]


def test_a_tensor_of_absurdly_many_axes(good: Path) -> None:
    giant = b"\x8a\xff" + b"\xff" * 254 + b"\x7f"
    edits = b"(" + giant + b"q\x63" + b"h\x63" * 100_000 + b"t"
    message = refused(repacked(good, data_pkl=lambda data: data.replace(SHAPE, edits, 1).replace(STRIDE, edits, 1)))
    assert "tensors of at most 64 axes, received 100,001" in message


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr", "to_sparse_csc"])
def test_a_sparse_tensor_is_refused_with_what_to_do(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "sparse.pt"
    torch.save({f"{n}.weight": getattr(torch.eye(2), layout)() for n in "qkv"}, path)
    assert "received a sparse tensor: save tensor.to_dense() in its place" in refused(path)


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor", "ignore:The PyTorch API of nested tensors")
def test_other_tensors_that_are_no_block_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "other.pt"
    parameter = nn.Parameter(torch.ones(2, 2))
    parameter.owner = "somebody"  # type: ignore[attr-defined]

    quantized = torch.quantize_per_tensor(torch.ones(2, 2), 0.1, 0, torch.qint8)
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    for tensor, words in (
        (quantized, "a quantized tensor: save tensor.dequantize()"),
        (nested, "a nested tensor"),
        (torch.ones(2, 2, device="meta"), "a tensor on the device meta, which has no numbers"),
        (parameter, "a parameter with attributes of its own"),
        (torch.ones(2, 2).as_subclass(Mine), "a tensor of another class"),
    ):
        torch.save({"q.weight": tensor}, path)
        assert words in refused(path)


@pytest.mark.parametrize("digits", ["9" * 5000, "9" * 300, "2147483648", "0" * 5000 + "9" * 10])
def test_a_number_of_heads_that_nobody_has(tmp_path: Path, digits: str) -> None:
    state = {f"{n}.weight": torch.ones(2, 2) for n in "qkv"}
    torch.save(state | {"num_heads": digits}, tmp_path / "a.pt")
    save_file(state, tmp_path / "a.safetensors", {"num_heads": digits})
    for ending in ("pt", "safetensors"):
        path = tmp_path / f"a.{ending}"
        assert "num_heads: expected a number of heads of at most 2147483647, received" in refused(path)


def test_a_number_of_heads_with_zeros_before_it(tmp_path: Path) -> None:
    torch.save({f"{n}.weight": torch.ones(2, 2) for n in "qkv"} | {"num_heads": "0" * 5000 + "2"}, tmp_path / "a.pt")
    assert look(tmp_path / "a.pt").said_heads == 2


def test_a_config_of_a_number_that_nobody_can_read_says_nothing(good: Path) -> None:
    (good.parent / "config.json").write_text(f'{{"num_attention_heads": {"9" * 5000}}}')
    assert look(good).said_heads is None


@pytest.mark.parametrize("ending", ["pt", "safetensors"])
def test_complex_numbers_are_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    state = {f"{n}.weight": torch.ones(2, 2, dtype=torch.complex64) for n in "qkv"}
    if ending == "pt":
        torch.save(state, path)
    else:
        save_file(state, path)
    assert "q.weight: expected floating-point numbers, received complex64" in refused(path)


# safetensors


def packed(header: Any, numbers: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + numbers


def entry(shape: list[Any], start: int, stop: int, dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


GOOD = {f"{n}.weight": entry([1, 1], 4 * k, 4 * k + 4) for k, n in enumerate("qkv")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a file cut off"),
        (b"\x02", "a file cut off"),
        (packed(GOOD, bytes(12), 2**63), "a length of 9,223,372,036,854,775,808"),
        (packed(GOOD, bytes(12), 1), "a length of 1"),
        (packed(GOOD, bytes(11)), "12 bytes of numbers, as the header says, received 11 bytes"),
        (packed(GOOD, bytes(13)), "received 13 bytes"),
        (packed(b'{"a":' * 50_000), "nested too deep"),
        (packed(b"[]"), "an object"),
        (packed(b'{"q.weight": NaN}'), "NaN"),
        (packed(GOOD | {"q.weight": entry([10**9, 10**9], 0, 4)}, bytes(12)), "bytes, for shape"),
        (packed(GOOD | {"q.weight": entry([-1, -1], 0, 4)}, bytes(12)), "sides of 0 or more"),
        (packed(GOOD | {"q.weight": entry([10**4000, 10**4000], 0, 4)}, bytes(12)), "a whole number of 64 bits"),
        (packed(GOOD | {"q.weight": entry([2**62] * 64, 0, 4)}, bytes(12)), "bytes, for shape"),
        (packed(GOOD | {"q.weight": entry([2**62] * 1000, 0, 4)}, bytes(12)), "at most 64 axes"),
        (packed(GOOD | {"q.weight": entry([1, 1], 0, 10**4000)}, bytes(12)), "a whole number of 64 bits"),
        (packed(b'{"a": ' + b"[" * 700 + b"]" * 700 + b"}"), "an object, received a list"),
        (packed(GOOD | {"q.weight": entry([1, 1], 0, 4, "X99")}, bytes(12)), "X99"),
        (packed(GOOD | {"q.weight": entry([1, 1], 4, 8)}, bytes(12)), "from byte 0 on, received from byte 4 on"),
        (packed(GOOD | {"q.weight": entry([1, 1], 8, 4)}, bytes(12)), "data_offsets"),
        (packed(GOOD | {"q.weight": {"shape": [1]}}, bytes(12)), "dtype"),
        (packed(b'{"a": %s, "a": %s}' % ((json.dumps(entry([1], 0, 4)).encode(),) * 2), bytes(4)), "a: expected one"),
        (packed({"a": entry([1], 0, 4)}, bytes(4)), "only a"),
    ],
)
def test_safetensors_that_say_what_is_not_so(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    assert message in refused(path)


def test_a_good_header_by_hand_opens(tmp_path: Path) -> None:
    path = tmp_path / "good.safetensors"
    path.write_bytes(packed(GOOD, bytes(12)))
    assert open_weights(path).widths == (1, 1, 1)


def test_a_file_that_changes_after_it_was_looked_at(good: Path) -> None:
    checkpoint = look(good)
    torch.save({"q.weight": torch.ones(2, 2)}, good)
    with pytest.raises(FileError, match="a file that has changed"):
        load(checkpoint, checkpoint.modules[0], 2)
