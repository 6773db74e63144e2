"""TokenActions: insert, duplicate, move and delete tokens and dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence

from attn_gui.model import edits, reshape
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.sources import were_given
from attn_gui.model.tokens import TokenSequence
from attn_gui.views import cell_ranges
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.context import Context
from attn_gui.views.token_model import NAME
from attn_gui.views.token_table import TokenTable

TOPIC = "tokens"


class TokenActions(QObject):
    """Works on the selection of the table in use, at first ``table``; each action is one undo step."""

    def __init__(self, context: Context, table: TokenTable, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._table = table
        self.add_token = self._action("&Add token", self._add_token, "A new token after the last", icon="+ token")
        self.insert_above = self._action(
            "Insert token abo&ve", lambda: self._insert(above=True), "New tokens above the selected", "Ctrl+Shift++"
        )
        self.insert_below = self._action(
            "Insert token &below", lambda: self._insert(above=False), "New tokens below the selected"
        )
        self.duplicate = self._action("Dupl&icate tokens", self._duplicate, "A copy of the selected tokens below them")
        self.move_up = self._action("Move tokens &up", lambda: self._move(-1), "One place up", "Alt+Up")
        self.move_down = self._action("Move tokens do&wn", lambda: self._move(1), "One place down", "Alt+Down")
        self.delete_tokens = self._action("&Delete tokens", self._delete, "The selected tokens", "Ctrl+-")
        self.add_dimension = self._action(
            "&Add dimension", self._add_dimension, "A new dimension after the last", icon="+ dim"
        )
        self.insert_left = self._action(
            "Insert dimension &left", lambda: self._insert_dimension(left=True), "New dimensions left of the selected"
        )
        self.insert_right = self._action(
            "Insert dimension &right",
            lambda: self._insert_dimension(left=False),
            "New dimensions right of the selected",
        )
        self.rename = self._action("Re&name dimension", self._rename, "Type a name; none means x1, x2, …")
        self.move_left = self._action(
            "&Move dimensions left", lambda: self._move_dimension(-1), "One place left", "Alt+Left"
        )
        self.move_right = self._action(
            "Mo&ve dimensions right", lambda: self._move_dimension(1), "One place right", "Alt+Right"
        )
        self.delete_dimensions = self._action("&Delete dimensions", self._delete_dimensions, "The selected dimensions")
        self._tips = {action: action.statusTip() for action in self._all}
        self._offered: tuple[object, ...] = ()
        self._refresh()

    @property
    def _all(self) -> list[QAction]:
        return [*self.for_tokens(), *self.for_dimensions()]

    def for_tokens(self) -> list[QAction]:
        return [
            self.add_token,
            self.insert_above,
            self.insert_below,
            self.duplicate,
            self.move_up,
            self.move_down,
            self.delete_tokens,
        ]

    def for_dimensions(self) -> list[QAction]:
        return [
            self.add_dimension,
            self.insert_left,
            self.insert_right,
            self.rename,
            self.move_left,
            self.move_right,
            self.delete_dimensions,
        ]

    def serve(self, table: TokenTable) -> None:
        """Be at hand in ``table``: in its context menu, by keys, and as its selection allows."""
        table.extra_actions += [*self.for_tokens()[1:], None, *self.for_dimensions()[1:]]
        table.addActions(self._all)
        table.selectionModel().selectionChanged.connect(self._refresh)
        table.tokens.figures_changed.connect(self._refresh)
        table.whole_rows_deleted.connect(self._delete)

    def use(self, table: TokenTable) -> None:
        """Work on ``table`` from now on."""
        self._table = table
        self._refresh()

    # tokens

    def _add_token(self) -> None:
        self._insert_at(self._count, 1)

    def _insert(self, *, above: bool) -> None:
        rows = self._rows()
        self._insert_at(rows[0].start if above else rows[-1].stop, sum(map(len, rows)))

    def _insert_at(self, at: int, count: int) -> None:
        taken = set(edits.sequence(self._experiment, self._table.side).tokens)
        names: list[str] = []
        number = self._count
        while len(names) < count:
            number += 1
            if f"token{number}" not in taken:
                names.append(f"token{number}")
        label = "Insert token" if count == 1 else f"Insert {count} tokens"
        if self._apply(label, lambda e: edits.insert_tokens(e, self._table.side, at, names)):
            self._table.select_block(CellRange(at, NAME, at + count - 1, NAME))
            self._table.setFocus()
            self._table.edit(self._table.tokens.index(at, NAME))

    def _duplicate(self) -> None:
        side, rows = self._table.side, [row for run in self._rows() for row in run]
        at = rows[-1] + 1

        def copied(e: Experiment) -> Experiment:
            of = edits.sequence(e, side)
            block = of.embeddings.array()[rows]
            grown = edits.insert_tokens(e, side, at, [of.tokens[row] for row in rows], block)
            places = range(at, at + len(rows))
            for name in of.columns:
                grown = edits.set_column(grown, side, name, places, _copied(of, name, rows, at))
            return grown

        if self._apply("Duplicate token" if len(rows) == 1 else f"Duplicate {len(rows)} tokens", copied):
            self._table.select_block(CellRange(at, NAME, at + len(rows) - 1, self._last_column))

    def _move(self, by: int) -> None:
        (run,), around = self._rows(), cell_ranges.around(self._table.selected)
        start = run.start + by
        label = f"Move token{'s' if len(run) > 1 else ''} {'up' if by < 0 else 'down'}"
        if self._apply(label, lambda e: edits.move_tokens(e, self._table.side, run.start, len(run), start)):
            self._table.select_block(CellRange(start, around.left, start + len(run) - 1, around.right))

    def _delete(self) -> None:
        rows = [row for run in self._rows() for row in run]
        if len(rows) == self._count:
            self._context.notices.error(
                "At least 1 token must be left. To clear numbers, select them without the tokens' names.", TOPIC
            )
            return
        label = "Delete token" if len(rows) == 1 else f"Delete {len(rows)} tokens"
        column = max(NAME, self._table.currentIndex().column())
        if self._apply(label, lambda e: edits.delete_tokens(e, self._table.side, rows)):
            self._table.go_to(min(rows[0], self._count - 1), column)

    # dimensions

    def _add_dimension(self) -> None:
        self._insert_dimension_at(self._table.tokens.width, 1)

    def _insert_dimension(self, *, left: bool) -> None:
        columns = self._dimensions()
        self._insert_dimension_at(columns[0] if left else columns[-1] + 1, len(columns))

    def _insert_dimension_at(self, at: int, count: int) -> None:
        width = self._table.tokens.width
        order = [*range(at), *[None] * count, *range(at, width)]
        label = "Insert dimension" if count == 1 else f"Insert {count} dimensions"
        if self._rearrange(label, order, range(at, at + count)):
            silent = self._without_effect(at)
            if silent:
                name = edits.sequence(self._experiment, self._table.side).dimension_name(at)
                self._context.notices.info(
                    f"The rows of {silent} for {name} are 0: it has no effect until you fill them in (Projections).",
                    TOPIC,
                )

    def _tell_scale(self, before: int) -> None:
        """Say that all scores changed, where it is because heads are of another size than ``before``."""
        e = self._experiment
        if e.d_k != before and e.scoring.scale is None:
            self._context.notices.info(f"d_k is now {e.d_k}, so scores are divided by √{e.d_k}.", TOPIC)

    def _without_effect(self, dimension: int) -> str:
        """The matrices that read a dimension, if its rows in them are all zero; else nothing."""
        weights, names = self._experiment.weights, reshape.projecting(self._experiment, self._table.side)
        tables = [weights.get(name) for name in names] if weights is not None else []
        if not tables or any(table is None or table.rows(dimension, dimension + 1).any() for table in tables):
            return ""
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

    def _rename(self) -> None:
        self._table.rename_dimension(self._table.currentIndex().column())

    def _move_dimension(self, by: int) -> None:
        columns, width = self._dimensions(), self._table.tokens.width
        first, count = columns[0], len(columns)
        rest = [d for d in range(width) if d not in columns]
        order = [*rest[: first + by], *columns, *rest[first + by :]]
        label = f"Move dimension{'s' if count > 1 else ''} {'left' if by < 0 else 'right'}"
        self._rearrange(label, order, range(first + by, first + by + count))

    def _delete_dimensions(self) -> None:
        columns = self._dimensions()
        order = [d for d in range(self._table.tokens.width) if d not in columns]
        if not order:
            self._context.notices.error("At least 1 dimension must be left.", TOPIC)
            return
        at = min(columns[0], len(order) - 1)
        label = "Delete dimension" if len(columns) == 1 else f"Delete {len(columns)} dimensions"
        self._rearrange(label, order, range(at, at + 1))

    def _rearrange(self, label: str, order: Sequence[int | None], select: range) -> bool:
        """Rearrange the dimensions and select those that are then at ``select``, in the selected rows."""
        rows, d_k = self._rows() or [range(1)], self._experiment.d_k
        done = self._apply(label, lambda e: reshape.rearrange_dimensions(e, self._table.side, order))
        if done:
            self._table.select_block(CellRange(rows[0].start, select.start + 1, rows[-1].stop - 1, select.stop))
            self._tell_scale(d_k)
        return done

    # what they work on

    @property
    def _experiment(self) -> Experiment:
        return self._context.document.experiment

    @property
    def _count(self) -> int:
        return self._table.tokens.rowCount()

    @property
    def _last_column(self) -> int:
        return self._table.tokens.columnCount() - 1

    def _rows(self) -> list[range]:
        return cell_ranges.row_runs(self._table.selected)

    def _dimensions(self) -> list[int]:
        """Selected dimensions, from 0, ascending."""
        runs = cell_ranges.column_runs(self._table.selected)
        return [column - 1 for run in runs for column in run if 1 <= column <= self._table.tokens.width]

    def _apply(self, label: str, change: Callable[[Experiment], Experiment]) -> bool:
        self._table.reason.withdraw()
        try:
            changed = change(self._experiment)
        except ExperimentError as error:
            self._context.notices.error(str(error), TOPIC)
            return False
        self._context.notices.withdraw(TOPIC)
        self._context.document.apply(label, changed)
        return True

    def _refresh(self) -> None:
        """Offer what the selection allows; of the rest say why not."""
        rows, given = self._rows(), were_given(self._experiment.source)
        columns = [] if given else self._dimensions()
        count, width, current = self._count, self._table.tokens.width, self._table.currentIndex().column()
        if (rows, columns, given, count, width, current) == self._offered:
            return
        self._offered = rows, columns, given, count, width, current
        no_rows = None if rows else "Select a token first"
        apart = no_rows or (None if len(rows) == 1 else "Select tokens that stand together")
        no_columns = (
            f"{given}: there are no embeddings" if given else None if columns else "Select a cell of a dimension first"
        )
        together = bool(columns) and columns[-1] - columns[0] + 1 == len(columns)
        columns_apart = no_columns or (None if together else "Select dimensions that stand together")
        one = no_columns or (None if 1 <= current <= width else "Select one dimension")
        reasons = {
            self.add_token: None,
            self.insert_above: no_rows,
            self.insert_below: no_rows,
            self.duplicate: f"{given}: a copy would have none" if given else no_rows,
            self.move_up: apart or ("They are the first" if rows[0].start == 0 else None),
            self.move_down: apart or ("They are the last" if rows[-1].stop == count else None),
            self.delete_tokens: no_rows,
            self.add_dimension: no_columns if given else None,
            self.insert_left: no_columns,
            self.insert_right: no_columns,
            self.rename: one,
            self.move_left: columns_apart or ("They are the first" if columns[0] == 0 else None),
            self.move_right: columns_apart or ("They are the last" if columns[-1] == width - 1 else None),
            self.delete_dimensions: no_columns,
        }
        for action, reason in reasons.items():
            action.setEnabled(reason is None)
            action.setStatusTip(reason or self._tips[action])
            action.setToolTip(reason or self._tips[action])

    def _action(self, text: str, do: Callable[[], None], tip: str, keys: str = "", icon: str = "") -> QAction:
        action = QAction(text, self)
        if keys:
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        if icon:
            action.setIconText(icon)
        action.setStatusTip(tip)
        action.triggered.connect(lambda: do())
        return action


def _copied(of: TokenSequence, name: str, rows: Sequence[int], at: int) -> list[int]:
    """The values of the column ``name`` for copies of ``rows`` that stand at ``at``."""
    values = of.column(name)[list(rows)].tolist()
    # rows from there on stand farther down by as many
    return [value + len(rows) if name == "parent" and value >= at else value for value in values]
