"""A tour: steps that explain something, each with what the window shows meanwhile, and questions to try it on."""

from __future__ import annotations

from dataclasses import dataclass

from attn_gui.model.session import NamedExperiment
from attn_gui.model.trace import Head

# what of the window a step may point at, and the drawers that it may open, by name
PLACES = ("tokens", "scores", "weights", "output", "sentence", "why", "example", "variant", "heads", "mask", "more")
DRAWERS = ("weights", "stages", "heads", "scoring")


@dataclass(frozen=True)
class Instrument:
    """What a step brings with it that no part of the window shows: "saturation" (of d_k and scale) or "influence".

    scale: None for 1/sqrt(d_k).
    """

    kind: str
    d_k: int = 64
    scale: float | None = None


INSTRUMENTS = ("saturation", "influence")


@dataclass(frozen=True, eq=False)
class Scene:
    """What the window shows: an experiment, a head and a cell (query, key), and for a step alone what is pointed at,
    which drawer is open and which instrument stands beside the text.
    """

    named: NamedExperiment
    head: Head = 0
    cell: tuple[int, int] = (0, 0)
    highlight: str | None = None
    drawer: str | None = None
    instrument: Instrument | None = None


@dataclass(frozen=True)
class Claim:
    """A number that a text names, as it stands there, and what it is the number of: ``22%`` of ``N is the``.

    place: the head, query and key where it is to be seen; None where that is no cell of the present scene.
    """

    text: str
    what: str
    place: tuple[Head, int, int] | None


@dataclass(frozen=True)
class Passage:
    """A text in pieces, the numbers it names among them. Emphasis and paragraphs are Markdown."""

    pieces: tuple[str | Claim, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Claim))

    @property
    def text(self) -> str:
        return "".join(piece.text if isinstance(piece, Claim) else piece for piece in self.pieces)


@dataclass(frozen=True, eq=False)
class Step:
    title: str
    text: Passage
    scene: Scene


@dataclass(frozen=True, eq=False)
class Question:
    """asked: what is shown while one thinks about it; tried: what shows the answer, where that is something else."""

    text: Passage
    answer: Passage
    asked: Scene
    tried: Scene


@dataclass(frozen=True, eq=False)
class Tour:
    title: str
    summary: str
    steps: tuple[Step, ...]
    questions: tuple[Question, ...]

    def __len__(self) -> int:
        """How many places there are to stop at."""
        return len(self.steps) + len(self.questions)


@dataclass(frozen=True, eq=False)
class Try:
    """A small experiment with an example: what to do, and what comes of it, which ``scene`` shows."""

    action: str
    outcome: Passage
    scene: Scene
