"""The notation of tours: Markdown with headings, paragraphs, and blocks of settings.

::

    ## A step

    What it says, with a number such as [22%](N is the) that names what it is the number of.

    ```set
    example: karina
    select: is the
    ```

A block under “## Questions” says what the questions are asked of; without one it is what the last step shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from attn_gui.files.errors import FileError, cannot_read

FENCE, SET = "```", "```set"


@dataclass(frozen=True)
class Setting:
    """``key: value`` of a block, and the line that it stands in."""

    line: int
    key: str
    value: str


@dataclass
class Section:
    """A heading of a level (1 for #), the paragraphs under it and its settings, in their order."""

    line: int
    level: int
    title: str
    paragraphs: list[str] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n\n".join(self.paragraphs)


def sections(path: Path) -> list[Section]:
    """The sections of a file, which begins with its only heading of level 1. Raises FileError with the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise cannot_read(path, error) from error
    except UnicodeDecodeError as error:
        raise FileError(path, f"byte {error.start}", "text in UTF-8", "something else") from error
    found = list(_sections(path, lines))
    if not found:
        raise FileError(path, "line 1", "“# ” and a title", "an empty file")
    return found


def _sections(path: Path, lines: list[str]) -> Iterator[Section]:
    section: Section | None = None
    in_block, paragraph = 0, False
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if in_block:
            if stripped == FENCE:
                in_block = 0
            elif stripped and section is not None:
                section.settings.append(_setting(path, number, stripped))
        elif stripped == SET and section is not None:
            in_block, paragraph = number, False
        elif stripped.startswith(FENCE):
            raise FileError(path, f"line {number}", f"“{SET}” under a heading", f"“{stripped}”")
        elif stripped.startswith("#"):
            if section is not None:
                yield section
            section, paragraph = _heading(path, number, stripped, first=section is None), False
        elif not stripped:
            paragraph = False
        elif section is None:
            raise FileError(path, f"line {number}", "“# ” and a title", f"“{stripped}”")
        elif paragraph:
            section.paragraphs[-1] += f" {stripped}"
        else:
            section.paragraphs.append(stripped)
            paragraph = True
    if in_block:
        raise FileError(path, f"line {in_block}", f"“{FENCE}” at the end of the block", "the end of the file")
    if section is not None:
        yield section


def _heading(path: Path, number: int, line: str, *, first: bool) -> Section:
    marks, _, title = line.partition(" ")
    level = len(marks)
    if marks.strip("#") or not title.strip() or (level == 1) != first or level > 3:
        expected = "“# ” and the title of it all" if first else "“## ” or “### ” and a heading"
        raise FileError(path, f"line {number}", expected, f"“{line}”")
    return Section(number, level, title.strip())


def _setting(path: Path, number: int, line: str) -> Setting:
    key, colon, value = line.partition(":")
    if not colon or not key.strip() or not value.strip():
        raise FileError(path, f"line {number}", "“key: value”", f"“{line}”")
    return Setting(number, key.strip(), value.strip())
