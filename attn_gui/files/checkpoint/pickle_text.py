"""A state dict's pickle read as text: what it would build, without building it.

Instructions are walked over one by one (:func:`pickletools.genops`). Only those that torch.save writes for dicts of
tensors are known; a name from another module than those of tensors is refused, and is never looked up. A few bytes
can nest a million tuples: nothing here hashes, compares or prints what may hold others, nor lets through to torch what
it would hash.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from attn_gui.files.checkpoint.declared import ITEM_BYTES, MAX_AXES, Declared
from attn_gui.files.errors import FileError

ORDERED_DICT = "collections.OrderedDict"
UNTYPED = "torch.storage.UntypedStorage"
# with the fewest arguments that say what the tensor is
REBUILDS = {
    "torch._utils._rebuild_tensor": 4,
    "torch._utils._rebuild_tensor_v2": 4,
    "torch._utils._rebuild_tensor_v3": 7,
}
# what torch keeps of a tensor besides, at which place of the arguments
METADATA = {"torch._utils._rebuild_tensor_v2": 6, "torch._utils._rebuild_tensor_v3": 7}
PARAMETER = "torch._utils._rebuild_parameter"
STORAGES = {
    f"torch.{kind}Storage": dtype
    for kind, dtype in (
        ("Double", "float64"),
        ("Float", "float32"),
        ("Half", "float16"),
        ("BFloat16", "bfloat16"),
        ("Long", "int64"),
        ("Int", "int32"),
        ("Short", "int16"),
        ("Char", "int8"),
        ("Byte", "uint8"),
        ("Bool", "bool"),
        ("ComplexFloat", "complex64"),
        ("ComplexDouble", "complex128"),
    )
}
DTYPES = {f"torch.{name}": name for name in ITEM_BYTES}
KNOWN = {ORDERED_DICT, UNTYPED, PARAMETER, *REBUILDS, *STORAGES, *DTYPES}
# tensors that are not a block of numbers: what they are, and how they become one
OTHER_TENSORS = {
    "_rebuild_sparse_tensor": "a sparse tensor: save tensor.to_dense() in its place",
    "_rebuild_sparse_csr_tensor": "a sparse tensor: save tensor.to_dense() in its place",
    "_rebuild_qtensor": "a quantized tensor: save tensor.dequantize() in its place",
    "_rebuild_nested_tensor": "a nested tensor: save its parts, tensor.unbind(), by names of their own",
    "_rebuild_meta_tensor_no_storage": "a tensor on the device meta, which has no numbers: load the weights before",
    "_rebuild_device_tensor_from_numpy": "a tensor of another device: save tensor.cpu() in its place",
    "_rebuild_device_tensor_from_cpu_tensor": "a tensor of another device: save tensor.cpu() in its place",
    "_rebuild_wrapper_subclass": "a tensor of another class: save its numbers as a plain torch.Tensor",
    "_rebuild_from_type_v2": "a tensor of another class: save tensor.detach().as_subclass(torch.Tensor) in its place",
    "_rebuild_parameter_with_state": "a parameter with attributes of its own: save parameter.data in its place",
}
# of all tensors whose numbers repeat (strides of 0, windows that overlap), bytes once they are written out
MAX_REPEATED = 1 << 34
PROTOCOL = 2
WHERE = "data.pkl"


@dataclass(frozen=True)
class Storage:
    """Numbers in a member of their own, ``data/<key>``, of ``size`` bytes; dtype None where the tensor says it."""

    key: str
    size: int
    dtype: str | None


@dataclass(frozen=True)
class StoredTensor:
    """A tensor and where its numbers lie: from which of the storage's on, and how many it is to the next of an axis.

    negated, conjugated: whether what lies there is to be negated, or conjugated, which torch does when it is looked at.
    """

    declared: Declared
    storage: Storage
    offset: int
    strides: tuple[int, ...]
    negated: bool = False
    conjugated: bool = False

    @property
    def repeats(self) -> bool:
        """Whether it has more numbers than are stored."""
        return self.declared.size > self.storage.size // ITEM_BYTES[self.declared.dtype]


@dataclass(frozen=True)
class _Global:
    name: str


class _Mark:
    pass


_MARK = _Mark()


def read(path: Path, data: bytes) -> Any:
    """What the pickle describes: dicts, lists, tuples, words, numbers, and StoredTensor in the place of tensors.

    Raises FileError for anything else.
    """
    return _Reading(path).run(data)


class _Reading:
    """The stack and the memo of a pickle, holding descriptions only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._protocol = 0
        self._repeated = 0
        self._steps: dict[str, Callable[[Any], None]] = {
            "PROTO": self._proto,
            "FRAME": lambda argument: None,
            "GLOBAL": lambda argument: self._global(argument.replace(" ", ".", 1)),
            "INST": lambda argument: self._global(argument.replace(" ", ".", 1)),
            "STACK_GLOBAL": self._stack_global,
            "REDUCE": self._reduce,
            "BUILD": self._build,
            "BINPERSID": self._storage,
            "MARK": lambda argument: self._stack.append(_MARK),
            "TUPLE": lambda argument: self._stack.append(tuple(self._to_mark())),
            "TUPLE1": lambda argument: self._tuple(1),
            "TUPLE2": lambda argument: self._tuple(2),
            "TUPLE3": lambda argument: self._tuple(3),
            "EMPTY_TUPLE": lambda argument: self._stack.append(()),
            "EMPTY_LIST": lambda argument: self._stack.append([]),
            "EMPTY_DICT": lambda argument: self._stack.append({}),
            "NONE": lambda argument: self._stack.append(None),
            "NEWTRUE": lambda argument: self._stack.append(True),
            "NEWFALSE": lambda argument: self._stack.append(False),
            "APPEND": lambda argument: self._append([self._pop()]),
            "APPENDS": lambda argument: self._append(self._to_mark()),
            "SETITEM": lambda argument: self._set([self._stack.pop(-2), self._stack.pop()]),
            "SETITEMS": lambda argument: self._set(self._to_mark()),
            "MEMOIZE": lambda argument: self._put(len(self._memo)),
        }
        for name in ("BINPUT", "LONG_BINPUT"):
            self._steps[name] = self._put
        for name in ("BINGET", "LONG_BINGET"):
            self._steps[name] = lambda argument: self._stack.append(self._memo[argument])
        for name in ("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE"):
            self._steps[name] = self._stack.append

    def run(self, data: bytes) -> Any:
        stopped = False
        try:
            for opcode, argument, _ in pickletools.genops(data):
                stopped = opcode.name == "STOP"
                if not stopped:
                    self._step(opcode.name, argument)
            result = self._pop()
        except FileError:
            raise
        except (ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
            raise FileError(self._path, WHERE, "a whole pickle", f"a damaged one ({error})") from error
        if self._protocol != PROTOCOL:
            received = f"protocol {self._protocol}: save it anew without pickle_protocol"
            raise FileError(self._path, WHERE, f"a pickle of protocol {PROTOCOL}, torch.save's default", received)
        return result

    def _step(self, name: str, argument: Any) -> None:
        step = self._steps.get(name)
        if step is None:
            self._refuse("only what torch.save writes for a state_dict", f"the pickle instruction {name}")
        step(argument)

    def _refuse(self, expected: str, received: str) -> NoReturn:
        raise FileError(self._path, WHERE, expected, received)

    def _pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise ValueError("a mark where a value should be")
        return value

    def _to_mark(self) -> list[Any]:
        at = len(self._stack) - 1
        while self._stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise ValueError("no mark")
        values = self._stack[at + 1 :]
        del self._stack[at:]
        return values

    def _proto(self, protocol: int) -> None:
        self._protocol = protocol

    def _put(self, place: int) -> None:
        self._memo[place] = self._stack[-1]

    def _tuple(self, count: int) -> None:
        self._stack.append(tuple(reversed([self._pop() for _ in range(count)])))

    def _append(self, values: list[Any]) -> None:
        if not isinstance(self._stack[-1], list):
            raise ValueError("an append to what is no list")
        self._stack[-1].extend(values)

    def _set(self, values: list[Any]) -> None:
        target = self._stack[-1]
        if not isinstance(target, dict) or len(values) % 2:
            raise ValueError("an entry of what is no dict")
        for key, value in zip(values[::2], values[1::2], strict=True):
            # a tuple may hold others, so many that hashing it would run out of the stack, or of time
            if not isinstance(key, str | int | float | None):
                self._refuse("dicts whose keys are words or numbers", f"a key that is {_called(key)}")
            if key in target:
                raise FileError(self._path, str(key), "one tensor of this name", "several")
            target[key] = value

    def _global(self, name: str) -> None:
        if name not in KNOWN:
            module, _, own = name.rpartition(".")
            if module in ("torch._utils", "torch._tensor") and own in OTHER_TENSORS:
                self._refuse("tensors that are blocks of numbers", OTHER_TENSORS[own])
            received = f"{name}, which is not looked up: save the module's state_dict() alone"
            self._refuse("tensors, and no other Python objects", received)
        self._stack.append(_Global(name))

    def _stack_global(self, argument: None) -> None:
        name, module = self._pop(), self._pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise ValueError("a name that is no word")
        self._global(f"{module}.{name}")

    def _reduce(self, argument: None) -> None:
        arguments, called = self._pop(), self._pop()
        if not isinstance(called, _Global) or not isinstance(arguments, tuple):
            raise ValueError("a call of what is no name")
        if called.name == ORDERED_DICT and not arguments:
            self._stack.append({})
        elif called.name in REBUILDS and len(arguments) >= REBUILDS[called.name]:
            made = self._tensor(*arguments[:4], *arguments[6:7])
            self._stack.append(self._as_kept(made, arguments[METADATA.get(called.name, len(arguments)) :]))
        elif called.name == PARAMETER and arguments and isinstance(arguments[0], StoredTensor):
            self._stack.append(arguments[0])
        else:
            self._refuse("tensors alone", f"a call of {called.name} that torch.save does not write")

    def _build(self, state: None) -> None:
        # a state_dict's version numbers, kept as an attribute
        attributes = self._pop()
        if not isinstance(self._stack[-1], dict) or not isinstance(attributes, dict):
            self._refuse("tensors alone", "attributes of another object")

    def _storage(self, argument: None) -> None:
        said = self._pop()
        kinds = (str, _Global, str, str, int)
        if not isinstance(said, tuple) or tuple(map(type, said)) != kinds or said[0] != "storage":
            raise ValueError("a reference to what is no storage")
        kind, key, count = said[1].name, said[2], said[4]
        if kind not in STORAGES and kind != UNTYPED:
            raise ValueError(f"a storage of {kind}")
        dtype = STORAGES.get(kind)
        self._stack.append(Storage(key, count * (1 if dtype is None else ITEM_BYTES[dtype]), dtype))

    def _tensor(self, storage: Any, offset: Any, shape: Any, stride: Any, dtype: Any = None) -> StoredTensor:
        """The tensor that a rebuild would make; its shape and its place must lie within its storage."""
        if not isinstance(storage, Storage) or not isinstance(shape, tuple) or not isinstance(stride, tuple):
            raise ValueError("a tensor of something else")
        if type(offset) is not int or {*map(type, shape + stride)} - {int} or len(shape) != len(stride):
            raise ValueError("a tensor whose sizes are no numbers")
        if len(shape) > MAX_AXES:
            self._refuse(f"tensors of at most {MAX_AXES} axes", f"{len(shape):,}")
        name = storage.dtype if storage.dtype is not None else DTYPES.get(getattr(dtype, "name", ""))
        if name is None:
            raise ValueError("a tensor without a type")
        declared = Declared(shape, name)
        held = storage.size // ITEM_BYTES[name]
        last = offset + sum((side - 1) * step for side, step in zip(shape, stride, strict=True))
        inside = min(offset, *shape, *stride, 0) >= 0 and (declared.size == 0 or last < held)
        if not inside:
            self._refuse(f"tensors within their storage of {held:,} numbers", f"shape {shape}, stride {stride}")
        made = StoredTensor(declared, storage, offset, stride)
        if made.repeats:
            # a few bytes would become as many as somebody likes
            self._repeated += declared.size * ITEM_BYTES[name]
            if self._repeated > MAX_REPEATED:
                expected = f"expanded tensors of at most {MAX_REPEATED:,} bytes in all"
                self._refuse(expected, f"shape {shape} of {held:,} numbers: save it before it is expanded")
        return made

    def _as_kept(self, tensor: StoredTensor, said: tuple[Any, ...]) -> StoredTensor:
        """``tensor`` with what torch keeps of it besides."""
        kept = said[0] if said else None
        if kept is None:
            return tensor
        if not isinstance(kept, dict) or {*map(type, kept.values())} - {bool}:
            raise ValueError("a tensor with something else besides")
        unknown = next((name for name in kept if name not in ("neg", "conj")), None)
        if unknown is not None:
            self._refuse("tensors that are blocks of numbers", f"one with {str(unknown)!r} besides")
        negated, conjugated = kept.get("neg", False), kept.get("conj", False)
        dtype = tensor.declared.dtype
        if (negated and dtype == "bool") or (conjugated and not dtype.startswith("complex")):
            raise ValueError(f"numbers of {dtype} that are negated or conjugated")
        return replace(tensor, negated=negated, conjugated=conjugated)


def _called(value: Any) -> str:
    """What kind of thing ``value`` is, whatever it holds."""
    names = {_Global: "a Python object", Storage: "a storage", StoredTensor: "a tensor"}
    return names.get(type(value), f"a {type(value).__name__}")
