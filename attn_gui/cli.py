"""The commands without a window: ``attn-gui export``, ``info``, ``scores``, ``diagnose`` and ``mark``.

The exit code is 0, or 1 for a file that cannot be read or written or a computation that cannot be done, or 2 for
arguments that make no sense; of ``diagnose`` 3 where nothing matches. Errors are one line on stderr.
"""

from __future__ import annotations

import argparse
import errno
import math
import os
import re
import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO, TypeVar, get_args

from attn_gui import __version__
from attn_gui.files import examples, session, tensor_file
from attn_gui.files.errors import FileError
from attn_gui.files.exercise_files import ENDING, given_again
from attn_gui.files.export import FORMS, export_folder, folder_for
from attn_gui.files.export_parts import Pooled, Top, Window, check_part, export_part, part_name
from attn_gui.files.export_size import experiment_bytes, part_bytes, stage_bytes
from attn_gui.files.layout import distinct_stages_of
from attn_gui.files.marks_csv import MarkedFile, marks_csv, remarks_on, with_doubles, write_marks
from attn_gui.files.regular import is_folder, is_there
from attn_gui.files.scores_csv import LayerScores, scores_csv, write_scores
from attn_gui.files.summary import summary
from attn_gui.files.tensors import headless
from attn_gui.model.counted import counted
from attn_gui.model.errors import ExperimentError, HiddenStage, NoTorch, readable_bytes
from attn_gui.model.mask_import import Meaning
from attn_gui.model.precision import Precision
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head, Trace

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

PROGRAM = "attn-gui"
# bytes from which on what an export writes is told beforehand
LARGE = 100_000_000
NO_MATCH = 3

Result = TypeVar("Result")


class Failure(Exception):
    """A command that cannot be carried out; the message is for the person."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        # argparse would keep to itself that help or version could not be written
        if message and (file is not None or sys.stderr is not None):
            (file or sys.stderr).write(message)


def main(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    return flushed(_run(arguments))


def parsed(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace | int:
    """The arguments, or the exit code where there is nothing more to do: help was asked for, or they make no sense."""
    try:
        return parser.parse_args(arguments)
    except SystemExit as leaving:  # argparse has said why
        return int(leaving.code or 0)
    except OSError as error:
        return _not_printed(error)


def flushed(code: int) -> int:
    """The exit code, which is ``code`` unless standard output cannot be written."""
    # here, since what cannot be written at the very end is complained about by Python itself
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        return _not_printed(error)
    return code


def _run(arguments: list[str]) -> int:
    options = parsed(_parser(), arguments)
    if isinstance(options, int):
        return options
    try:
        return COMMANDS[options.command](options)
    except OSError as error:  # files raise FileError: this is the standard output
        return _not_printed(error)
    except (Failure, FileError, HiddenStage, MemoryError, NoTorch) as error:
        _complain(str(error) or "not enough memory")
        return 1
    except KeyboardInterrupt:
        _complain("stopped; files written before are whole")
        return 130


def _parser() -> argparse.ArgumentParser:
    made = Parser(prog=PROGRAM, description="Attention without a window.")
    made.add_argument("--version", action="version", version=f"attn_gui {__version__}")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    export = commands.add_parser("export", help="compute a session's current experiment and write it to a folder")
    export.add_argument(
        "--out", type=folder_name, required=True, metavar="DIR", help="the folder; made if it is not there"
    )
    export.add_argument(
        "--stage",
        type=_stages,
        metavar="A,N,output",
        help="which stages, by comma: " + ", ".join(STAGES) + " (default: each that differs from the others)",
    )
    export.add_argument("--format", choices=FORMS, default="csv", help="one table a file, one cell a row, or NumPy")
    export.add_argument("--head", type=_head, help="of a part: a head, from 1, or mean (default: each)")
    parts = export.add_mutually_exclusive_group()
    parts.add_argument("--top", dest="part", type=_top, metavar="K", help="only the K largest of each query, as CSV")
    parts.add_argument("--pooled", dest="part", type=_pooled, metavar="SIZE", help="brought down to SIZE x SIZE blocks")
    parts.add_argument(
        "--window", dest="part", type=_window, metavar="Q1:Q2,K1:K2", help="only these queries and keys, from 1"
    )
    export.add_argument("--device", default="cpu", help="cpu, cuda:0, mps (default: cpu)")
    export.add_argument("--precision", choices=[p.value for p in Precision], help="default: the experiment's own")
    info = commands.add_parser("info", help="say what a session or a file of tensors holds")
    scores = commands.add_parser("scores", help="score every head of every layer, a line a head as CSV")
    scores.add_argument("--csv", type=file_name, metavar="SCORES.csv", help="where to write (default: standard output)")
    scores.add_argument("--device", default="cpu", help="cpu, cuda:0, mps (default: cpu)")
    diagnose = commands.add_parser("diagnose", help="find the convention that scores, weights or output follow")
    diagnose.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help=".npz or .safetensors with Q, K, V, perhaps mask, and any of scores, weights, output",
    )
    diagnose.add_argument("--softcap", type=_softcap, metavar="C", help="a softcap that is known")
    diagnose.add_argument(
        "--base", type=_base, action="append", default=[], metavar="B", help="of rotary positions, besides 10000"
    )
    diagnose.add_argument("--device", default="cpu", help="cpu, cuda:0, mps (default: cpu)")
    mark = commands.add_parser("mark", help="mark the answers to exercises, a line a student and stage")
    mark.add_argument("files", type=file_name, nargs="+", metavar="FILE.attn", help="answers, or folders of them")
    mark.add_argument("--csv", type=file_name, metavar="MARKS.csv", help="where to write (default: standard output)")
    mark.add_argument("--device", default="cpu", help="cpu, cuda:0, mps (default: cpu)")
    names = ", ".join(examples.file_names())
    for command in (export, info, scores):
        source = command.add_mutually_exclusive_group(required=True)
        source.add_argument(
            "file", nargs="?", type=file_name, metavar="FILE", help="a session (.attn), or tensors (.npy, a folder, …)"
        )
        source.add_argument("--example", type=_example, metavar="NAME", help=f"an example: {names}")
        _add_tensor_choices(command)
    return made


def _add_tensor_choices(command: argparse.ArgumentParser) -> None:
    command.add_argument("--layer", type=_place, metavar="N", help="of many layers which one, from 1")
    of = command.add_argument_group("of tensors", "what the file does not say by itself")
    of.add_argument("--batch", type=_place, metavar="N", help="which item of the batch, from 1 (default: the first)")
    of.add_argument("--heads", type=_heads, metavar="N", help="how many heads lie side by side")
    of.add_argument("--kv-heads", type=_heads, metavar="N", help="how many of keys and values, where these are fewer")
    of.add_argument(
        "--mask-means",
        choices=get_args(Meaning),
        help="what a mask of flags says where it is true (default: by its name, or what leaves each query a key)",
    )
    of.add_argument("--tokens", type=file_name, metavar="FILE", help="names, or a tokenizer.json for the file's ids")


def file_name(argument: str) -> Path:
    """A file's name from the command line."""
    if not argument.strip():
        raise argparse.ArgumentTypeError("expected the name of a file, received nothing")
    return Path(argument)


def folder_name(argument: str) -> Path:
    """A folder's name from the command line."""
    if not argument.strip():
        raise argparse.ArgumentTypeError("expected the name of a folder, received nothing (. is this folder)")
    return Path(argument)


def _stages(argument: str) -> list[str]:
    names = [name.strip() for name in argument.split(",")]
    for name in names:
        if name not in STAGES:
            raise argparse.ArgumentTypeError(f"expected some of {', '.join(STAGES)}, received {name!r}")
    return list(dict.fromkeys(names))


def _head(argument: str) -> Head:
    return "mean" if argument == "mean" else _counted(argument, "a head") - 1


def _place(argument: str) -> int:
    return _counted(argument, "a number") - 1


def _heads(argument: str) -> int:
    return _counted(argument, "how many heads")


def _top(argument: str) -> Top:
    return Top(_counted(argument, "how many"))


def _pooled(argument: str) -> Pooled:
    return Pooled(_counted(argument, "how many blocks"))


def _window(argument: str) -> Window:
    numbers = re.fullmatch(r"(\d{1,12}):(\d{1,12}),(\d{1,12}):(\d{1,12})", argument.replace(" ", ""))
    if numbers is None:
        raise argparse.ArgumentTypeError(f"expected queries and keys as 1:200,1:300, received {argument!r}")
    top, bottom, left, right = map(int, numbers.groups())
    return Window((top - 1, bottom), (left - 1, right))


def _counted(argument: str, what: str) -> int:
    if not argument.isascii() or not argument.isdigit() or len(argument) > 12 or int(argument) < 1:
        raise argparse.ArgumentTypeError(f"expected {what}, 1 or more, received {argument!r}")
    return int(argument)


def _softcap(argument: str) -> float:
    number = float(argument)  # argparse says what a ValueError means
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"expected a finite number above 0, received {argument!r}")
    return number


def _base(argument: str) -> float:
    number = float(argument)
    if not 1 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"expected a finite number, 1 or more, received {argument!r}")
    return number


def _example(name: str) -> Session:
    try:
        return examples.load_session(name)
    except FileError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _session(options: argparse.Namespace) -> Session:
    if options.example is not None:
        return options.example
    if headless.is_tensors(options.file):
        opened = _shown("reading", headless.session_from(options.file, _choices(options)))
    else:
        opened = session.load(options.file)
    return opened if options.layer is None else headless.at_layer(options.file, opened, options.layer)


def _choices(options: argparse.Namespace) -> headless.Choices:
    return headless.Choices(options.batch, options.heads, options.kv_heads, options.mask_means, options.tokens)


def _export(options: argparse.Namespace) -> int:
    named = _session(options).named
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
    trace = _trace(named, options.device)
    _shown("writing", export_folder(trace, named, options.out, stages, options.format))
    _say(f"{named.name}: {', '.join(stages)} written to {options.out}")
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
    trace = _trace(named, options.device)
    with folder_for([name for *_, name in files], options.out):
        for stage, head, name in files:
            steps = export_part(
                trace, stage, head, options.out / name, options.part, long_form=options.format == "csv-long"
            )
            _shown(f"writing {name}", steps)
    _say(f"{named.name}: {', '.join(name for *_, name in files)} written to {options.out}")
    return 0


def _tell_size(size: int) -> None:
    """Tell beforehand of files that a person may want to think about."""
    if size >= LARGE and sys.stderr is not None:
        print(f"{PROGRAM}: about {readable_bytes(size)} are to be written", file=sys.stderr)


def _trace(named: NamedExperiment, device: str) -> Trace:
    from attn_gui.compute.devices import unsupported
    from attn_gui.compute.trace import trace

    device = _device(device)
    reason = unsupported(device, named.experiment.precision)
    if reason is not None:
        raise Failure(f"cannot compute on {device}: {reason}")
    with _computing(device):
        return trace(named.experiment, device)


def _device(device: str) -> str:
    """torch's name of ``device``; raises Failure where it is not there."""
    from attn_gui.compute.devices import devices

    known = {entry.name: entry.reason for entry in devices()}
    # torch's name for the first of its devices
    device = "cuda:0" if device == "cuda" and "cuda:0" in known else device
    there = ", ".join(name for name, missing in known.items() if missing is None)
    missing = known.get(device, known.get(device.partition(":")[0]) or "there is no such device")
    if missing:
        raise Failure(f"cannot compute on {device}: {missing}; there is {there}")
    return device


@contextmanager
def _computing(device: str) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, AssertionError) as error:  # torch: a device that fails, no memory left
        raise Failure(f"cannot compute on {device}: {str(error).splitlines()[0]}") from error


def _diagnose(options: argparse.Namespace) -> int:
    from attn_gui.compute.diagnose import diagnose_steps

    asked = tensor_file.read(options.file)
    question = asked.question(softcap=options.softcap, bases=options.base)
    device = _device(options.device)
    with _computing(device):
        diagnosis = _shown("trying", diagnose_steps(question, device))
    for line in str(diagnosis).splitlines():
        _say(line)
    if asked.others:
        _say(f"- Not looked at: {', '.join(asked.others)}.")
    return 0 if diagnosis.matches else NO_MATCH


def _info(options: argparse.Namespace) -> int:
    if options.example is None and headless.is_tensors(options.file):
        lines = iter(_shown("looking", headless.described(options.file, _choices(options), options.layer)))
    else:
        lines = summary(_session(options))
    for line in lines:
        _say(line)
    return 0


def _mark(options: argparse.Namespace) -> int:
    device = _device(options.device)
    paths = _answers(options.files)
    # what a shell makes of --csv answers/*.attn
    if options.csv is not None and (options.csv.suffix.casefold() == ENDING or options.csv in paths):
        raise Failure(f"--csv {options.csv}: expected a name for the marks, received one of answers")
    files = []
    for done, path in enumerate(paths, start=1):
        files.append(_marked(path, device))
        if not files[-1].marks:
            _complain(f"{path}: {'; '.join(files[-1].remarks)}")
        _show_part("marking", done / len(paths))
    _show_part("marking", None)
    files = with_doubles(files)
    if options.csv is not None:
        write_marks(options.csv, files)
        marked = sum(bool(file.marks) for file in files)
        _say(f"{marked} of {len(files)} files marked, written to {options.csv}")
    else:
        for line in marks_csv(files).decode().splitlines():
            _say(line)
    return 0 if all(file.marks for file in files) else 1


def _answers(given: list[Path]) -> list[Path]:
    """The files that ``given`` says: a folder stands for those in it, and * and ? for names where no shell does it."""
    found: list[Path] = []
    for path in given:
        if is_folder(path):
            meant = _inside(path)
        elif not is_there(path) and any(mark in path.name for mark in "*?["):
            meant = sorted(path.parent.glob(path.name))
        else:
            meant = [path]
        if not meant:
            raise Failure(f"there is no {ENDING} file in {path}")
        found += meant
    return list(dict.fromkeys(found))


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix.casefold() == ENDING)
    except OSError as error:
        raise Failure(f"{folder} cannot be read: {error.strerror}") from error


def _marked(path: Path, device: str) -> MarkedFile:
    """The marks of a file, or why it has none."""
    from attn_gui.compute.marking import mark

    try:
        handed_in = session.load(path)
        named = next((n for n in (handed_in.named, *handed_in.experiments) if n.exercise is not None), None)
        if named is None or named.exercise is None:
            return MarkedFile(path, remarks=("not an exercise",))
        exercise, given = named.exercise, given_again(named)
        too_large = exercise.too_large(named.experiment)
        if too_large is not None:
            return MarkedFile(path, exercise.student, remarks=(f"{too_large} is too large for an exercise",))
        with _computing(device):
            marks, _ = mark(exercise, named.experiment if given is None else given, device)
        return MarkedFile(path, exercise.student, marks, tuple(remarks_on(handed_in, named, given, marks)))
    except FileError as error:
        at = f"{error.where}: " if error.where else ""
        return MarkedFile(path, remarks=(f"{at}expected {error.expected}, received {error.received}",))
    except (Failure, ExperimentError, MemoryError) as error:
        return MarkedFile(path, remarks=(str(error) or "not enough memory",))


def _scores(options: argparse.Namespace) -> int:
    from attn_gui.compute.head_scores import layer_scores

    device, experiments = _device(options.device), _session(options).experiments
    with _computing(device):
        found = _shown("scoring", layer_scores([named.experiment for named in experiments], device))
    layers = [LayerScores(n.name, n.place, scores.values) for n, scores in zip(experiments, found, strict=True)]
    if options.csv is None:
        for line in scores_csv(layers).decode().splitlines():
            _say(line)
        return 0
    write_scores(options.csv, layers)
    heads = sum(len(layer.values) for layer in layers)
    _say(f"{counted(heads, 'head')} in {counted(len(layers), 'layer')} scored, written to {options.csv}")
    return 0


COMMANDS = {"export": _export, "info": _info, "scores": _scores, "diagnose": _diagnose, "mark": _mark}


def _shown(what: str, steps: Generator[float, None, Result]) -> Result:
    """Run ``steps`` to their end, with the part done on stderr where a person is looking; what they return."""
    with closing(steps):
        while True:
            try:
                done = next(steps)
            except StopIteration as finished:
                result: Result = finished.value
                break
            _show_part(what, done)
    _show_part(what, None)
    return result


def _show_part(what: str, done: float | None) -> None:
    """How far a long work is, where a person is looking; None clears the line."""
    if _is_looked_at(sys.stderr):
        line = "\r" + " " * (len(what) + 6) + "\r" if done is None else f"\r{what} {done:4.0%} "
        print(line, end="", file=sys.stderr, flush=True)


def _is_looked_at(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _say(line: str) -> None:
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    # a console of a narrow encoding shows ? for what it lacks
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "replace").decode(encoding))


def _not_printed(error: OSError) -> int:
    # whoever closed a pipe has read enough, and is told nothing
    if not isinstance(error, BrokenPipeError):
        _complain(f"standard output cannot be written: {error.strerror}")
    if sys.stdout is not None:
        # what is left in the buffer goes nowhere, rather than failing once more as Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _complain(message: str) -> None:
    # printing to None would be printing to stdout
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"{PROGRAM}: {' '.join(message.splitlines())}", file=sys.stderr)
