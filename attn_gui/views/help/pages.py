"""The pages of the help, their sections, and finding words in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from attn_gui.paths import resources
from attn_gui.views.help.mathematics.linear import linear
from attn_gui.views.help.mathematics.parsing import parsed

START = "index"
FORMULA = re.compile(r"\$\$(?P<alone>[^$]+)\$\$|\$(?P<inline>[^$]+)\$")
_HEADING = re.compile(r"^(#{1,6}) +(.+)$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(<?([^)>]+)>?\)")
_EXCERPT = 72


@dataclass(frozen=True)
class Section:
    """A heading, its anchor within the page, and the text below it as one reads it."""

    heading: str
    anchor: str
    text: str


@dataclass(frozen=True)
class Page:
    """``name`` is that of its file, without the ending; ``markdown`` its text."""

    name: str
    title: str
    markdown: str
    sections: tuple[Section, ...]

    @property
    def links(self) -> list[str]:
        """Where its links go."""
        return [target for _, target in _LINK.findall(self.markdown)]


@dataclass(frozen=True)
class Found:
    """A section that holds every word looked for."""

    page: Page
    section: Section
    excerpt: str


@cache
def pages() -> dict[str, Page]:
    """Every page by its name, in the order in which the first one names them."""
    folder = resources() / "help"
    there = {path.stem: _read(path.stem, path.read_text("utf-8")) for path in sorted(folder.glob("*.md"))}
    named = [link.partition("#")[0].removesuffix(".md") for link in there[START].links if ".md" in link]
    return {name: there[name] for name in dict.fromkeys([START, *named, *there])}


@cache
def groups() -> list[tuple[str, list[Page]]]:
    """The pages below each heading of the first one."""
    start = pages()[START]
    parts = _HEADING.split(start.markdown)
    found: list[tuple[str, list[Page]]] = []
    for title, text in zip(parts[2::3], parts[3::3], strict=True):
        names = [target.removesuffix(".md") for _, target in _LINK.findall(text) if target.endswith(".md")]
        if names:
            found.append((title, [pages()[name] for name in names]))
    return found


def find(words: str) -> list[Found]:
    """The sections that hold all of ``words``: first those with them in the heading, then by how often."""
    wanted = words.casefold().split()
    if not wanted:
        return []
    ranked: list[tuple[int, int, Found]] = []
    for page in pages().values():
        for section in page.sections:
            heading, text = section.heading.casefold(), section.text.casefold()
            if not all(word in heading or word in text for word in wanted):
                continue
            in_heading = sum(word in heading for word in wanted)
            often = sum(text.count(word) for word in wanted)
            ranked.append((-in_heading, -often, Found(page, section, _excerpt(section.text, wanted[0]))))
    return [found for *_, found in sorted(ranked, key=lambda entry: entry[:2])]


def anchor_of(heading: str) -> str:
    """``What a cell shows`` is at ``what-a-cell-shows``."""
    return re.sub(r"[^\w]+", "-", heading.casefold()).strip("-")


def _read(name: str, markdown: str) -> Page:
    parts = _HEADING.split(markdown)
    sections = tuple(
        Section(heading, anchor_of(heading), _plain(text))
        for heading, text in ((_plain(h), t) for h, t in zip(parts[2::3], parts[3::3], strict=True))
    )
    return Page(name, sections[0].heading, markdown, sections)


def _plain(markdown: str) -> str:
    text = FORMULA.sub(lambda match: linear(parsed(match["alone"] or match["inline"])), markdown)
    text = _LINK.sub(r"\1", text)
    text = re.sub(r"^\|[-| :]+\|$", "", text, flags=re.MULTILINE)
    return " ".join(re.sub(r"[*`|]|^[-#>]+ ", " ", text, flags=re.MULTILINE).split())


def _excerpt(text: str, word: str) -> str:
    at = max(0, text.casefold().find(word))
    start = 0 if at < _EXCERPT // 2 else text.rfind(" ", 0, at - _EXCERPT // 3) + 1
    piece = text[start : start + _EXCERPT]
    end = piece if start + _EXCERPT >= len(text) else piece[: piece.rfind(" ")] + " …"
    return ("… " if start else "") + end
