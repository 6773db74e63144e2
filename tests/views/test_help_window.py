"""The help beside the real window: F1 from several places, links, back and forward, finding, copying."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QTextBrowser, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.views.help.pages import find, pages
from attn_gui.views.help.topics import topic_of
from attn_gui.views.help.window import HelpWindow
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import karina_window, settle

ALT, CTRL, SHIFT = (
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
Key = Qt.Key


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made
        if made.menus.help.pages is not None:
            made.menus.help.pages.close()


@pytest.fixture
def shown(window: MainWindow, qtbot: QtBot) -> HelpWindow:
    window.menus.help.show_page("index.md")
    made = window.menus.help.pages
    assert made is not None
    qtbot.waitActive(made)
    return made


def at(help_window: HelpWindow) -> str:
    assert help_window.browser.page is not None
    return help_window.browser.page.name


def in_sight(help_window: HelpWindow, heading: str) -> bool:
    browser = help_window.browser
    position = browser.anchors[heading]
    cursor = QTextCursor(browser.document())
    cursor.setPosition(position)
    return 0 <= browser.cursorRect(cursor).top() < browser.viewport().height()


def press_f1(window: MainWindow, qtbot: QtBot, focus: QWidget) -> str:
    focus.window().activateWindow()
    focus.setFocus()
    qtbot.waitUntil(lambda: focus.hasFocus() or focus.isAncestorOf(QApplication.focusWidget()), timeout=5000)
    qtbot.keyClick(focus, Key.Key_F1)
    opened = window.menus.help.pages
    assert opened is not None and opened.isVisible()
    return at(opened)


def test_f1_opens_the_page_on_what_has_the_focus(window: MainWindow, qtbot: QtBot) -> None:
    formula = window.formula
    scoring = next(dock for dock in window.docks if dock.windowTitle() == "Scoring")
    scoring.show()
    settle(qtbot, window)
    inside = next(w for w in scoring.widget().findChildren(QWidget) if w.focusPolicy() & Qt.FocusPolicy.TabFocus)
    assert press_f1(window, qtbot, formula.tokens.table) == "tables"
    assert press_f1(window, qtbot, formula.scores.heatmap.plot) == "heatmaps"
    assert press_f1(window, qtbot, window.top_bar.masking.kind) == "masks"
    assert press_f1(window, qtbot, inside) == "scoring"
    assert press_f1(window, qtbot, window.top_bar.variant) == "window"


def test_f1_from_a_dialog_and_a_popup(window: MainWindow, qtbot: QtBot) -> None:
    window.files.export.trigger()
    dialog = window.files.dialog
    assert dialog is not None
    qtbot.waitActive(dialog)
    assert press_f1(window, qtbot, dialog.choices.form) == "export"
    dialog.close()
    window.more.open()
    assert topic_of(window.more.panel.decimals) == "numbers.md"
    qtbot.keyClick(window.more.panel.decimals, Key.Key_F1)
    opened = window.menus.help.pages
    assert opened is not None and at(opened) == "numbers"
    assert not window.more.panel.isVisible(), "a popup would lie over the page"


def test_what_belongs_to_nothing_has_the_start_page(qtbot: QtBot) -> None:
    lone = QWidget()
    qtbot.addWidget(lone)
    assert topic_of(lone) == topic_of(None) == "index.md"


def test_links_and_back_and_forward(shown: HelpWindow, qtbot: QtBot) -> None:
    assert not shown.back.isEnabled() and not shown.forward.isEnabled()
    shown.browser.followed.emit("masks.md#causal")
    assert at(shown) == "masks" and in_sight(shown, "causal")
    shown.browser.followed.emit("scoring.md")
    bar = shown.browser.verticalScrollBar()
    bar.setValue(200)
    qtbot.keyClick(shown.browser, Key.Key_Left, ALT)
    assert at(shown) == "masks" and shown.forward.isEnabled()
    qtbot.keyClick(shown.browser, Key.Key_Right, ALT)
    assert at(shown) == "scoring" and bar.value() == 200
    shown.back.trigger()
    shown.back.trigger()
    assert at(shown) == "index" and not shown.back.isEnabled()
    shown.open("glossary.md")
    assert not shown.forward.isEnabled()
    assert "Glossary" in shown.windowTitle() and shown.browser.accessibleName() == "Glossary"


def test_a_link_is_followed_by_keyboard(window: MainWindow, shown: HelpWindow, qtbot: QtBot) -> None:
    def follow(tabs: int) -> None:
        shown.browser.setFocus()
        for _ in range(tabs):
            qtbot.keyClick(shown.browser, Key.Key_Tab)
        qtbot.keyClick(shown.browser, Key.Key_Return)

    follow(1)
    assert at(shown) == "window"
    follow(1)
    assert window.more.panel.isVisible(), "the first link is to an action whose name has spaces"
    window.more.panel.close()


def test_links_open_drawers_and_do_actions(window: MainWindow, shown: HelpWindow, qtbot: QtBot) -> None:
    shown.open("drawer:Stages")
    stages = next(dock for dock in window.docks if dock.windowTitle() == "Stages")
    assert stages.isVisible() and not stages.visibleRegion().isEmpty()
    shown.open("drawer:Stages")
    assert stages.isVisible(), "a link shows; it does not hide"
    shown.open("action:Attention/Paint the mask")
    assert window.context.selection.painting
    window.context.selection.set_painting(False)
    heard: list[str] = []
    window.context.notices.said.connect(lambda notice: heard.append(notice.text))
    shown.open("action:Nowhere/Nothing")
    assert heard and at(shown) == "index"


def test_finding_in_the_page(shown: HelpWindow, qtbot: QtBot) -> None:
    shown.open("masks.md")
    qtbot.keyClick(shown.browser, Key.Key_F, CTRL)
    assert shown.find_bar.isVisible() and shown.find_bar.field.hasFocus()
    qtbot.keyClicks(shown.find_bar.field, "window")
    text = shown.browser.toPlainText().casefold()
    count = text.count("window")
    assert count > 2 and len(shown.browser.extraSelections()) == count
    assert shown.find_bar.found.text() == f"1 of {count}"
    qtbot.keyClick(shown.find_bar.field, Key.Key_Return)
    assert shown.find_bar.found.text() == f"2 of {count}"
    qtbot.keyClick(shown.find_bar.field, Key.Key_Return, SHIFT)
    qtbot.keyClick(shown.find_bar.field, Key.Key_Return, SHIFT)
    assert shown.find_bar.found.text() == f"{count} of {count}", "before the first comes the last"
    assert shown.browser.textCursor().selectedText().casefold() == "window"
    shown.find_bar.field.setText("no such thing")
    assert shown.find_bar.found.text() == "Not in this page" and not shown.find_bar.on.isEnabled()
    qtbot.keyClick(shown.find_bar.field, Key.Key_Escape)
    assert not shown.find_bar.isVisible() and shown.isVisible() and shown.browser.extraSelections() == []


def test_searching_all_pages(shown: HelpWindow, qtbot: QtBot) -> None:
    contents = shown.contents
    before = contents.list.count()
    qtbot.keyClick(shown.browser, Key.Key_K, CTRL)
    assert contents.field.hasFocus()
    qtbot.keyClicks(contents.field, "softcap")
    results = find("softcap")
    assert contents.list.count() == len(results) and contents.found.text() == f"{len(results)} places"
    qtbot.keyClick(contents.field, Key.Key_Return)
    assert at(shown) == results[0].page.name and in_sight(shown, results[0].section.anchor)
    assert shown.browser.extraSelections(), "the word is marked where it stands"
    contents.field.setText("nowhere to be found")
    assert contents.list.count() == 0 and "nowhere to be found" in contents.found.text()
    width, least = contents.width(), shown.layout().minimumSize().width()
    contents.field.setText("x" * 5000)
    QApplication.processEvents()
    assert contents.width() == width and shown.layout().minimumSize().width() == least, "it takes no room from the page"
    qtbot.keyClick(contents.field, Key.Key_Escape)
    assert contents.list.count() == before and shown.isVisible()


def test_formulas_are_copied_and_shown_as_text(shown: HelpWindow, qtbot: QtBot) -> None:
    shown.open("attention.md")
    shown.browser.selectAll()
    copied = shown.browser.selected_text()
    assert "scaled = raw/√d_k" in copied and "\ufffc" not in copied
    shown.browser.copy()
    assert "scaled = raw/√d_k" in QApplication.clipboard().text()
    assert "√" not in shown.browser.toPlainText(), "drawn, not written"
    shown.formulas.trigger()
    assert "scaled = raw/√d_k" in shown.browser.toPlainText()


def test_a_page_is_in_the_colours_of_the_theme(window: MainWindow, shown: HelpWindow, qtbot: QtBot) -> None:
    shown.open("scoring.md")
    for theme in ("light", "dark", "contrast"):
        window.context.settings.theme = theme
        QApplication.processEvents()
        image = shown.browser.viewport().grab().toImage()
        colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height() // 2)}
        look = window.context.look.theme
        assert {look.text, look.accent, look.field} <= colours, f"text, links and ground in {theme}"


def test_no_page_is_wider_than_the_window(shown: HelpWindow) -> None:
    shown.resize(shown.minimumSize().width() + 200, 500)
    for name in pages():
        shown.open(f"{name}.md")
        assert shown.browser.horizontalScrollBar().maximum() == 0, name


def test_text_is_made_larger_and_as_it_was(shown: HelpWindow, qtbot: QtBot) -> None:
    height = shown.browser.document().size().height()
    for _ in range(3):
        qtbot.keyClick(shown.browser, Key.Key_Plus, CTRL)
    assert shown.browser.document().size().height() > 1.1 * height
    qtbot.keyClick(shown.browser, Key.Key_0, CTRL)
    assert shown.browser.document().size().height() == height


def test_escape_closes_the_help_and_leaves_the_window(window: MainWindow, shown: HelpWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(shown.browser, Key.Key_Escape)
    assert not shown.isVisible() and window.isVisible()
    assert isinstance(shown.browser, QTextBrowser) and not shown.browser.openExternalLinks()
