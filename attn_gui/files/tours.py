"""The tours that ship with the program, and the small experiments with each example."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from attn_gui.files import examples
from attn_gui.files.errors import FileError
from attn_gui.files.tour_settings import place_of, scene_after
from attn_gui.files.tour_text import Section, sections
from attn_gui.model.tour import Claim, Passage, Question, Scene, Step, Tour, Try
from attn_gui.model.trace import Head
from attn_gui.paths import resources

QUESTIONS = "Questions"
# what a text may name a number of: a cell, or what is worked out for a tour alone
OF_CELLS = ("N", "A", "raw")
OTHERS = ("output", "sum", "share", "entropy", "gradient", "spread", "exp")
_CLAIM = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


@dataclass(frozen=True)
class Listed:
    """A tour by its title and what it is about, before anything of it is read."""

    path: Path
    title: str
    summary: str


@cache
def listed() -> tuple[Listed, ...]:
    """The tours in the order of their files' names."""
    found = ((path, sections(path)[0]) for path in sorted((resources() / "tours").glob("*.md")))
    return tuple(Listed(path, first.title, first.text.replace("`", "")) for path, first in found)


def load(path: Path) -> Tour:
    """The tour in ``path``. Raises FileError with the line and what was expected there."""
    first, *rest = sections(path)
    steps: list[Step] = []
    questions: list[Question] = []
    scene: Scene | None = None
    asking = False
    for section in rest:
        if section.level == 2 and section.title == QUESTIONS:
            asking = True
            if section.settings:
                scene = scene_after(path, section.settings, scene)  # what the questions are asked of
            continue
        if section.level != (3 if asking else 2):
            expected = "“### ” and a question" if asking else "“## ” and the title of a step"
            raise FileError(path, f"line {section.line}", expected, f"“{section.title}”")
        if not section.paragraphs:
            raise FileError(path, f"line {section.line}", "a text under the heading", "none")
        if asking:
            questions.append(_question(path, section, scene))
        else:
            scene = scene_after(path, section.settings, scene)
            steps.append(Step(section.title, _passage(path, section.line, section.text, scene), scene))
    if not steps:
        raise FileError(path, f"line {first.line}", "steps, each under “## ” and its title", "none")
    return Tour(first.title, first.text, tuple(steps), tuple(questions))


@cache
def tries(example: str) -> tuple[Try, ...]:
    """The experiments to try with the example of that name; none without a file of them.

    They stand beside it: ``karina.md`` for ``karina.json``.
    """
    path = resources() / "examples" / f"{dict(zip(examples.names(), examples.file_names(), strict=True))[example]}.md"
    if not path.is_file():
        return ()
    _, *rest = sections(path)
    named = examples.load(example)
    shipped = Scene(named, *((named.focus[0], named.focus[1:]) if named.focus else ()))
    made = []
    for section in rest:
        if section.level != 2 or not section.paragraphs or not section.settings:
            expected = "“## ”, what to do, what comes of it, and the settings"
            raise FileError(path, f"line {section.line}", expected, f"“{section.title}”")
        scene = scene_after(path, section.settings, shipped)
        made.append(Try(section.title, _passage(path, section.line, section.text, scene), scene))
    return tuple(made)


def _question(path: Path, section: Section, last: Scene | None) -> Question:
    asked = scene_after(path, (), last)
    if last is not None:
        asked = replace(asked, instrument=last.instrument)
    tried = scene_after(path, section.settings, last)
    return Question(
        _passage(path, section.line, section.title, asked),
        _passage(path, section.line, section.text, tried),
        asked,
        tried,
    )


def _passage(path: Path, line: int, text: str, scene: Scene) -> Passage:
    pieces: list[str | Claim] = []
    end = 0
    for match in _CLAIM.finditer(text):
        pieces.append(text[end : match.start()])
        pieces.append(_claim(path, line, match[1], match[2], scene))
        end = match.end()
    pieces.append(text[end:])
    return Passage(tuple(piece for piece in pieces if piece))


def _claim(path: Path, line: int, text: str, what: str, scene: Scene) -> Claim:
    """``N was cat in 2`` is the weight of a query for a key in a head, by default the one that is looked at."""
    before, of = (True, what.removeprefix("before ")) if what.startswith("before ") else (False, what)
    kind, *words = of.split()
    if kind not in OF_CELLS + OTHERS:
        expected = f"one of {', '.join(OF_CELLS + OTHERS)} behind “[{text}](”"
        raise FileError(path, f"under line {line}", expected, f"“{kind}”")
    place: tuple[Head, int, int] | None = None
    if kind in OF_CELLS and not before:
        head: Head = scene.head
        if len(words) == 4 and words[2] == "in":
            head = "mean" if words[3] == "mean" else int(words[3]) - 1
        place = (head, *place_of(path, line, scene, words[0], words[1]))
    return Claim(text, what, place)
