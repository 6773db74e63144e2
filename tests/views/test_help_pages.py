"""The pages of the help: every link leads somewhere, and searching finds what stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.files import examples
from attn_gui.paths import resources
from attn_gui.views.help.formula_object import TYPE, FormulaObject
from attn_gui.views.help.links import ACTION, DRAWER, action_of, page_and_anchor
from attn_gui.views.help.pages import START, Page, find, groups, pages
from attn_gui.views.help.topics import PARTS, TOPICS
from attn_gui.views.help.typeset import typeset
from attn_gui.views.main_window import MainWindow
from attn_gui.views.theme import THEMES
from tests.views.window_helpers import karina_window


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


def anchors(name: str) -> set[str]:
    return {section.anchor for section in pages()[name].sections}


def links() -> list[tuple[str, str]]:
    return [(page.name, link) for page in pages().values() for link in page.links]


def test_every_page_is_in_the_contents() -> None:
    files = {path.stem for path in (resources() / "help").glob("*.md")}
    assert {page.name for _, inside in groups() for page in inside} == files - {START}


def test_the_contents_call_pages_by_their_titles() -> None:
    named = re.findall(r"\[([^\]]+)\]\((\w[\w-]*)\.md\)", pages()[START].markdown)
    assert all(pages()[name].title == text for text, name in named)


@pytest.mark.parametrize(("page", "link"), [(page, link) for page, link in links() if page_and_anchor(link)])
def test_a_link_to_a_page_leads_to_a_heading_that_is_there(page: str, link: str) -> None:
    there = page_and_anchor(link)
    assert there is not None
    name = there[0] or page
    assert name in pages() and (not there[1] or there[1] in anchors(name))


def test_every_other_link_leads_to_a_drawer_or_an_action(window: MainWindow) -> None:
    others = [(page, link) for page, link in links() if page_and_anchor(link) is None]
    assert others
    for menu in window.menuBar().findChildren(QMenu):
        menu.aboutToShow.emit()
    lost = [
        (page, link)
        for page, link in others
        if not link.startswith((DRAWER, ACTION)) or action_of(window.menuBar(), list(window.docks), link) is None
    ]
    assert lost == []


def test_every_topic_is_a_page_and_a_heading_of_it() -> None:
    for link in (*TOPICS.values(), *PARTS.values()):
        there = page_and_anchor(link)
        assert there is not None and there[0] in pages(), link
        assert not there[1] or there[1] in anchors(there[0]), link


@pytest.mark.parametrize("name", list(pages()))
def test_a_page_says_something_and_is_short(name: str) -> None:
    words = sum(len(section.text.split()) for section in pages()[name].sections)
    assert 60 <= words <= 700, words


@pytest.mark.parametrize("name", list(pages()))
def test_headings_are_found_in_the_document_as_in_the_page(qtbot: QtBot, name: str) -> None:
    document = QTextDocument()
    placed = typeset(document, pages()[name], THEMES["light"], 10.0, as_text=True)
    assert set(placed) == anchors(name)
    assert not re.search("[\ue000-\uf8ff$]|\\*\\*", document.toPlainText())


def test_searching_puts_headings_first_and_wants_every_word() -> None:
    first = find("causal")[0]
    assert (first.page.name, first.section.anchor) == ("masks", "causal")
    assert find("cache aligned")
    for found in find("cache aligned"):
        text = f"{found.section.heading} {found.section.text}".casefold()
        assert "cache" in text and "aligned" in text
    assert find("no such word anywhere") == [] and find("  ") == []


def test_formulas_are_searched_as_they_are_read() -> None:
    assert "attention" in {found.page.name for found in find("raw/√d_k")}
    assert "attention" in {found.page.name for found in find("tanh(scaled/c)")}


def test_the_numbers_of_the_pages_are_those_that_are_computed() -> None:
    result = trace(examples.load("karina").experiment)
    the = 3
    assert result.stage("Q", head=0)[1].tolist() == [0, 1] and result.stage("K", head=0)[the].tolist() == [1, 1]
    raw, scaled, weight = (float(result.stage(name, head=0)[1, the]) for name in ("raw", "scaled", "N"))
    assert (raw, round(scaled, 4), round(weight, 4)) == (1.0, 0.7071, 0.2226)
    text = pages()["attention"].markdown
    assert "0.7071" in text and "0.2226" in text and "dot product is 1," in text
    assert round(131_072**2 / 1e9) == 17
    first = next(s for s in pages()["window"].sections if s.anchor == "the-sentence").text
    share = np.asarray(result.stage("N", head=0))[1, 0]
    assert f"karina {share:.0%}" in first


def test_a_formula_of_letters_makes_its_line_no_higher(qtbot: QtBot) -> None:
    """It stands on the baseline of the words around it and not in the middle of a line of its own height."""
    heights = []
    for text in (
        "# Title\n\nA word and another",
        "# Title\n\nA word $X$ another",
        "# Title\n\nA $\\frac{a}{b}$",
    ):
        document = QTextDocument()
        document.documentLayout().registerHandler(TYPE, FormulaObject(document))
        typeset(document, Page("page", "Title", text, ()), THEMES["light"], 10.0, as_text=False)
        document.setTextWidth(400)
        block = document.begin().next()
        document.documentLayout().blockBoundingRect(block)
        heights.append(block.layout().lineAt(0).height())
    plain, letters, fraction = heights
    assert abs(letters - plain) <= 1 and fraction > plain + 4
