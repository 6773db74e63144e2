"""Controls built from what a part declares, one of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel
from pytestqt.qtbot import QtBot

from attn_gui.model.errors import ExperimentError
from attn_gui.model.parts import Part, array, choice, flag, number, numbers, whole, wholes
from attn_gui.views.context import Context
from attn_gui.views.number_field import NumberField
from attn_gui.views.part_fields import PartFields
from attn_gui.views.text_field import TextField
from attn_gui.views.whole_field import WholeField


@dataclass(frozen=True)
class Every(Part, family="trial"):
    kind: ClassVar[str] = "every"
    title: ClassVar[str] = "Every kind"
    count: int = whole(3, "Count", least=1, hint="How many")
    size: float = number(0.5, "Size", least=0.0, most=1.0)
    on: bool = flag(True, "switched on", hint="Or off")
    way: str = choice("up", "Way", {"up": "upwards", "down": "downwards"})
    places: tuple[int, ...] = wholes((1, 2), "Places")
    shares: tuple[float, ...] = numbers((), "Shares")
    cells: Any = array("Cells", (2,), optional=True)

    def check(self) -> None:
        if self.count == 13:
            raise ExperimentError("count", "no unlucky number", "13")


@dataclass(frozen=True)
class Other(Every):
    kind: ClassVar[str] = "other"
    title: ClassVar[str] = "Another"
    more: int = whole(0, "More")


class Owner:
    """Keeps the part that the fields hand over, and shows it to them, as a view does by way of the document."""

    def __init__(self, across: bool) -> None:
        self.steps: list[tuple[str, str | None]] = []
        self.refuse = False
        self.fields = PartFields(Every(), self.take, across=across)

    def take(self, part: Every, label: str, merge: str | None) -> None:
        if self.refuse:
            raise ExperimentError("trial", "something else", "this")
        self.steps.append((label, merge))
        self.fields.show_part(part)

    @property
    def part(self) -> Every:
        assert isinstance(self.fields.part, Every)
        return self.fields.part

    def __getitem__(self, name: str) -> Any:
        return self.fields.fields[name]

    def reason(self, name: str) -> str:
        label = self.fields._reasons[name]
        assert label.isVisible() == bool(label.text())
        return label.text()


@pytest.fixture(params=[True, False], ids=["across", "below"])
def owner(request: pytest.FixtureRequest, context: Context, qtbot: QtBot) -> Owner:
    made = Owner(request.param)
    qtbot.addWidget(made.fields)
    with qtbot.waitExposed(made.fields):
        made.fields.show()
    return made


def write(field: Any, text: str) -> None:
    field.setText(text)
    field.editingFinished.emit()


def test_each_kind_has_its_control_and_arrays_have_none(owner: Owner) -> None:
    kinds = {name: type(field) for name, field in owner.fields.fields.items()}
    assert kinds == {
        "count": WholeField,
        "size": NumberField,
        "on": QCheckBox,
        "way": QComboBox,
        "places": TextField,
        "shares": TextField,
    }
    assert owner["count"].accessibleName() == "Every kind: Count"
    assert owner["count"].toolTip() == "How many"
    assert owner["count"].minimum() == 1
    assert [owner["way"].itemText(k) for k in range(2)] == ["upwards", "downwards"]
    assert owner["places"].text() == "1, 2"
    labels = [label.text() for label in owner.fields.findChildren(QLabel) if label.objectName() == "muted"]
    assert labels == ["Count", "Size", "Way", "Places", "Shares"], "a check box is its own label"


def test_each_control_changes_its_parameter(owner: Owner) -> None:
    owner["count"].setValue(5)
    write(owner["size"], "0,25")
    owner["on"].click()
    owner["way"].activated.emit(1)
    write(owner["places"], "4; 5 6,7")
    write(owner["shares"], "0.5 1e-3")
    assert owner.part == Every(5, 0.25, False, "down", (4, 5, 6, 7), (0.5, 0.001))
    assert owner.steps[0] == ("Every kind: count", "trial every count")
    assert [merge for _, merge in owner.steps[1:]] == [None] * 5
    assert owner["places"].text() == "4, 5, 6, 7"
    write(owner["places"], "")
    assert owner.part.places == ()


def test_what_is_shown_is_no_change(owner: Owner) -> None:
    owner.fields.show_part(Every(9, 0.125, False, "down", (8,), (2.5,)))
    assert owner["count"].value() == 9
    assert owner["size"].text() == "0.125"
    assert not owner["on"].isChecked()
    assert owner["way"].currentText() == "downwards"
    assert (owner["places"].text(), owner["shares"].text()) == ("8", "2.5")
    write(owner["places"], "8 ")
    assert owner.steps == []


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("size", "2", "from 0 to 1, received 2"),
        ("size", "x", "'x' is not a number"),
        ("places", "1, 2.5", "'2.5' is not a whole number"),
        ("places", "1, -1", "each a whole number, 0 or more"),
        ("shares", "1, nan", "'nan' is not a finite number"),
    ],
)
def test_what_is_refused_stays_with_its_reason(owner: Owner, name: str, text: str, reason: str) -> None:
    before = owner.part
    write(owner[name], text)
    assert owner.part is before and owner.steps == []
    assert owner[name].text() == text
    assert reason in owner.reason(name)
    assert owner[name].accessibleDescription() == owner.reason(name)
    owner["count"].setValue(7)
    assert owner[name].text() == text, "another change leaves it alone"
    write(owner[name], {"size": "1", "places": "3", "shares": "1"}[name])
    assert owner.reason(name) == ""


def test_parameters_that_do_not_go_together_and_an_owner_that_refuses(owner: Owner) -> None:
    owner["count"].setValue(13)
    assert owner.part.count == 3
    assert owner.reason("count") == "⚠ Expected no unlucky number, received 13"
    owner["count"].setValue(12)
    assert owner.part.count == 12 and owner.reason("count") == ""
    owner.refuse = True
    owner["on"].click()
    assert owner.reason("on") == "⚠ Expected something else, received this"
    assert owner.part.on
    owner["way"].activated.emit(1)
    assert owner.reason("way") != ""


def test_a_number_larger_than_usual_is_shown_as_it_is(owner: Owner) -> None:
    owner.fields.show_part(Every(2**31 - 1))
    assert owner["count"].value() == 2**31 - 1


def test_another_part_has_fields_of_its_own_and_some_may_be_hidden(owner: Owner) -> None:
    owner.fields.show_part(Other())
    assert list(owner.fields.fields) == ["count", "size", "on", "way", "places", "shares", "more"]
    assert owner["more"].accessibleName() == "Another: More"
    owner.fields.show_part(Other(), hidden=("size", "more"))
    assert not owner["size"].isVisible() and owner["count"].isVisible()
    owner.fields.show_part(Other())
    assert owner["size"].isVisible()
    owner["more"].setValue(2)
    assert owner.part == Other(more=2)


def test_tab_goes_from_field_to_field(owner: Owner, qtbot: QtBot) -> None:
    owner.fields.activateWindow()
    owner["count"].setFocus()
    qtbot.waitUntil(owner["count"].hasFocus)
    reached = []
    for _ in range(6):
        focused = owner.fields.focusWidget()
        reached.append(next(name for name, field in owner.fields.fields.items() if field is focused))
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert reached == ["count", "size", "on", "way", "places", "shares"]


def type_over(qtbot: QtBot, field: Any, text: str) -> None:
    field.window().activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    field.selectAll()
    qtbot.keyClicks(field, text)


@pytest.mark.parametrize(("name", "text"), [("count", "9"), ("size", "0.25"), ("places", "7"), ("shares", "7")])
def test_what_is_typed_for_one_part_is_not_given_to_another(owner: Owner, qtbot: QtBot, name: str, text: str) -> None:
    type_over(qtbot, owner[name], text)
    owner.fields.show_part(Other())
    assert owner.steps == [] and owner.part == Other()
    type_over(qtbot, owner[name], text)
    owner.fields.show_part(Other(more=1))
    assert owner.steps == []
    qtbot.keyClick(owner[name], Qt.Key.Key_Return)
    assert owner.steps == [] and owner.part == Other(more=1)


@pytest.mark.parametrize(("name", "text"), [("count", "9"), ("size", "0.25"), ("places", "7")])
def test_escape_brings_the_value_back(owner: Owner, qtbot: QtBot, name: str, text: str) -> None:
    before = owner[name].text()
    type_over(qtbot, owner[name], text)
    qtbot.keyClick(owner[name], Qt.Key.Key_Escape)
    assert owner[name].text() == before
    qtbot.keyClick(owner[name], Qt.Key.Key_Return)
    assert owner.steps == []


@pytest.mark.parametrize(("name", "text"), [("size", "0.25"), ("places", "7")])
def test_what_was_refused_is_tried_again_only_by_enter(owner: Owner, qtbot: QtBot, name: str, text: str) -> None:
    owner.refuse = True
    type_over(qtbot, owner[name], text)
    qtbot.keyClick(owner[name], Qt.Key.Key_Return)
    assert owner.reason(name) == "⚠ Expected something else, received this"
    owner.refuse = False
    owner["on"].setFocus()
    assert owner.steps == [] and owner[name].text() == text
    owner[name].setFocus()
    qtbot.keyClick(owner[name], Qt.Key.Key_Return)
    assert len(owner.steps) == 1 and owner.reason(name) == ""


def test_many_parameters_stand_in_two_columns(context: Context, qtbot: QtBot) -> None:
    fields = PartFields(Every(), lambda part, label, merge: None, most=4)
    qtbot.addWidget(fields)
    with qtbot.waitExposed(fields):
        fields.show()

    def lines(*hidden: str) -> list[list[str]]:
        """The names of the fields in sight, line by line from left to right."""
        fields.show_part(Every(), hidden)
        fields.layout().activate()
        at = {name: field.geometry().center() for name, field in fields.fields.items() if name not in hidden}
        found: list[list[str]] = []
        for name in sorted(at, key=lambda name: at[name].y()):
            if found and abs(at[found[-1][0]].y() - at[name].y()) < 8:
                found[-1].append(name)
            else:
                found.append([name])
        return [sorted(line, key=lambda name: at[name].x()) for line in found]

    assert lines() == [["count", "size"], ["on", "way"], ["places", "shares"]]
    assert fields.columns == 2
    assert lines("count") == [["size", "on"], ["way", "places"], ["shares"]]
    assert lines("count", "on") == [["size"], ["way"], ["places"], ["shares"]]
    assert fields.columns == 1
