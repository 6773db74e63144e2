"""The benchmarks at sizes that take no time: what they measure is measured, written down and judged. No time is."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from tests.bench import (
    alone,
    csv_export,
    eager,
    edit_to_painted,
    first_paint,
    first_picture,
    flow,
    growth,
    layers,
    memory,
    stages,
    stream,
    tour,
    why,
    windows,
)
from tests.bench.__main__ import cases, main
from tests.bench.answering import Answering
from tests.bench.bare_map import Map, Maps
from tests.bench.frames import Frames, Stalls
from tests.bench.given import SIZE, Passes, given, tensors
from tests.bench.moves import Pan, Zoom
from tests.bench.moves import tour as moves
from tests.bench.report import Amount, Case, Figure, Measured, Pairs
from tests.bench.subject import KARINA, SIZES, WIDE, Forward, Size, alternate, experiment

SMALL = Size(6, 4, 2)
TWICE = Pairs((2.0, 3.0, 2.0), (1.0, 1.0, 1.0))


linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured by what Linux tells of a process")


def case(name: str, limit: float | None, measured: Measured = TWICE) -> Case:
    return Case(name, "the peer", limit, lambda: measured)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_table_and_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], [case("first", 2.0), case("second", None)]) == 0
    told = capsys.readouterr().out
    for word in ("torch threads", torch.__version__, "name", "limit", "holds", "first", "second", "2,000 ms", "yes"):
        assert word in told
    one, other = json.loads((folder / "bench.json").read_text(encoding="utf-8"))
    assert one == {
        "name": "first",
        "value": 2.0,
        "unit": "ratio to peer",
        "peer": "the peer: 1,000 ms",
        "limit": 2.0,
        "holds": True,
    }
    assert (other["limit"], other["holds"]) == (None, None)


def test_a_limit_that_does_not_hold(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], [case("first", None), case("second", 1.9), case("third", 2.1)]) == 1
    assert [figure["holds"] for figure in json.loads((folder / "bench.json").read_text())] == [None, False, True]
    assert "NO" in capsys.readouterr().out


def test_a_figure_that_is_no_ratio(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = Amount(300.5, "MB", ("80 ms", "or 2,147 MB"))
    assert main([], [case("fits", 301.0, told), case("does not", 300.0, told), case("bare", None, Amount(1.0, "ms"))])
    figures = json.loads((folder / "bench.json").read_text(encoding="utf-8"))
    assert [figure["holds"] for figure in figures] == [True, False, None]
    assert [(figure["value"], figure["unit"]) for figure in figures[1:]] == [(300.5, "MB"), (1.0, "ms")]
    assert [figure["peer"] for figure in figures[1:]] == ["the peer: or 2,147 MB", "the peer"]
    line = capsys.readouterr().out.splitlines()[2]
    assert line.split()[:5] == ["fits", "300", "MB", "80", "ms"]


def test_cases_are_chosen_by_a_part_of_their_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    available = [case("edit, n 5", None), case("edit, n 64", None), case("csv", None)]
    assert main(["n 64", "csv"], available) == 0
    assert [figure["name"] for figure in json.loads((folder / "bench.json").read_text())] == ["edit, n 64", "csv"]
    assert main(["nothing"], available) == 2
    assert "edit, n 5" in capsys.readouterr().out


def test_ratios_are_of_neighbours() -> None:
    assert Pairs((1.0, 20.0, 3.0), (2.0, 10.0, 1.0)).value == 2.0
    assert Figure(case("equal", 2.0), TWICE).holds


def test_every_limit_of_the_programme_is_there() -> None:
    limits = {made.name: made.limit for made in cases()}
    assert len(limits) == len(cases())
    assert limits["first paint"] == 1.3
    assert [limits[f"edit to painted, {size}"] for size in SIZES] == [1.5] * 4
    assert [str(size) for size in SIZES][::3] == ["n 5, d 2, 1 head", "n 1,024, d 64, 8 heads"]
    assert limits[f"edit to painted, {WIDE}"] is None
    assert limits["csv of A, 4 million cells"] == 0.2
    for words in ("stream", "stream, causal"):
        assert [limits[f"{words}, n {n}"] for n in ("4,096", "16,384", "32,768")] == [2.2, 2.2, 1.5]
    assert limits["window of 1,024 x 1,024, n 32,768"] == 1.5
    assert limits["tour of one map, n 32,768"] == limits["tour of one map during a pass, n 32,768"] == 1.5
    assert limits["tour of both maps, n 32,768"] is None
    assert limits["first picture, n 131,072"] == 1.5
    assert limits["flow, n 200"] == limits["why panel, n 1,024"] == 1.5
    assert limits["grid of 144 heads, n 1,024"] == 2


@linux
def test_limits_of_what_runs_in_processes_of_its_own() -> None:
    limits = {made.name: made.limit for made in cases()}
    assert [limits[f"memory of a pass, n {n}"] for n in ("32,768", "131,072")] == [256, 600]
    assert [limits[f"{words}, n 16,384"] for words in ("against whole A and N", "memory against theirs")] == [0.5, 0.05]
    for n in (1024, 4096, 16_384, 32_768, 65_536, 131_072):
        assert limits[f"growth, n {n:,}"] is None
    assert limits["growth, time per n² from n 32,768 up"] == 1.25
    assert limits["memory of a grid, 32 x 32 heads, n 2,048"] == 1000


@pytest.mark.parametrize("size", [KARINA, SMALL])
def test_the_peer_computes_the_same(size: Size) -> None:
    e = experiment(size)
    A, N, output = Forward(e)()
    ours = trace(e)
    for name, peer in (("A", A), ("N", N), ("output", output)):
        np.testing.assert_allclose(ours.stage(name), peer.numpy(), rtol=1e-5, atol=1e-6)


def test_we_and_the_peer_take_turns() -> None:
    turns: list[str] = []
    pairs = alternate(lambda: turns.append("ours"), lambda: turns.append("peer"), 4, 60.0)
    assert turns == ["ours", "peer"] * 5
    assert len(pairs.ours) == len(pairs.peer) == 4


def test_an_edit_is_waited_for_until_it_is_painted(qtbot: QtBot) -> None:
    pairs = edit_to_painted.measure(SMALL, count=2)
    assert len(pairs.ours) == len(pairs.peer) == 2
    assert min(*pairs.ours, *pairs.peer) > 0


def test_stages_and_csv() -> None:
    assert min(stages.measure_trace(SMALL, count=2).ours) > 0
    assert min(stages.measure_pictures(SMALL, count=2).peer) > 0
    assert min(csv_export.measure(SMALL, count=2).ours) > 0


def test_whole_programs_are_started() -> None:
    paint, result = first_paint.starts(1)
    assert paint.peer == result.peer
    assert 0 < paint.ours[0] < result.ours[0]


WITHOUT_QT = """
import os, sys
from tests.bench import alone, eager, first_picture, growth, memory, report, stream, subject
report.hold_threads()
print(os.environ["OMP_NUM_THREADS"], report.machine())
print([name for name in ("PySide6", "shiboken6", "pyqtgraph") if name in sys.modules])
"""


def test_what_needs_no_window_runs_without_qt() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT_QT], capture_output=True, text=True, check=True)
    told, brought = run.stdout.splitlines()
    assert told.startswith("2 2 torch threads of ") and torch.__version__ in told
    assert brought == "[]"


def test_the_stream_by_itself(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "LIMITS", {100: 1e9})
    assert stream.main([]) == 0
    assert "torch threads" in capsys.readouterr().out
    names = [figure["name"] for figure in json.loads((folder / "bench.json").read_text(encoding="utf-8"))]
    assert names == ["stream, n 100", "stream, causal, n 100"]
    monkeypatch.setattr(stream, "LIMITS", {100: 0.0})
    assert stream.main(["--device", "cpu"]) == 1
    if not torch.cuda.is_available():
        with pytest.raises(SystemExit):
            stream.main(["--device", "cuda"])
        assert "no CUDA device" in capsys.readouterr().err


@pytest.mark.cuda
def test_the_stream_on_a_card() -> None:
    pairs = stream.measure(3000, True, "cuda", count=2)
    assert min(*pairs.ours, *pairs.peer) > 0


@pytest.mark.parametrize("causal", [False, True])
def test_peers_of_the_pass_compute_the_same(causal: bool) -> None:
    subject = given(700, causal=causal)
    passes = Passes(subject)
    passes.prepare()
    passes()
    assert passes.trace is not None and passes.trace.part() == 1
    output = passes.trace.stage("head_output", 0)
    peer = stream.Attention(tensors(subject), causal, "cpu")()
    np.testing.assert_allclose(output, peer.numpy(), rtol=1e-4, atol=1e-6)
    if not causal:
        A, N, whole = alone.eager(*tensors(subject))
        np.testing.assert_allclose(output, whole.numpy(), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(passes.trace.stage("A", 0), A.numpy(), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(passes.trace.stage("N", 0), N.numpy(), rtol=1e-4, atol=1e-7)


def test_every_pass_is_over_a_trace_of_its_own() -> None:
    passes, parts = Passes(given(600)), []

    def ours() -> None:
        assert passes.trace is not None
        parts.append(passes.trace.part())
        passes()

    alternate(ours, lambda: None, 3, 60.0, passes.prepare)
    assert parts == [0.0] * 4


def test_a_window_is_of_the_same_cells_for_both(qtbot: QtBot) -> None:
    subject = given(300)
    passes = Passes(subject)
    passes.prepare()
    passes()
    assert passes.trace is not None
    ours, peer = windows.Ours(passes.trace, 64), windows.Peer(subject, 64)
    ours.corner = peer.corner = 131, 57
    shown, bare = ours(), peer()
    assert (shown.width(), shown.height()) == (bare.width(), bare.height()) == (64, 64)
    Q, K, _ = tensors(subject)
    weights = torch.softmax(Q @ K.T * SIZE**-0.5, dim=1)[131:195, 57:121]
    found = passes.trace.matrix("N", 0).block(slice(131, 195), slice(57, 121))
    np.testing.assert_allclose(found, weights.numpy(), rtol=1e-4)
    sums = torch.exp(Q @ K.T * SIZE**-0.5).sum(dim=1, keepdim=True)[131:195]
    np.testing.assert_allclose(peer._image.image / sums.numpy(), weights.numpy(), rtol=1e-4)
    # a heavier weight is drawn darker
    lightness = np.array([[shown.pixelColor(x, y).lightness() for x in range(64)] for y in range(64)])
    least, most = (np.unravel_index(place, (64, 64)) for place in (int(weights.argmin()), int(weights.argmax())))
    assert lightness[most] < lightness[least]


def test_windows_and_first_pictures(qtbot: QtBot) -> None:
    for pairs in (windows.measure(300, 64, count=2), first_picture.measure(3000, count=2)):
        assert len(pairs.ours) == len(pairs.peer) >= 2
        assert min(*pairs.ours, *pairs.peer) > 0


def test_the_first_picture_samples_as_many_rows_as_its_peer() -> None:
    subject = given(4096)
    passes = Passes(subject)
    passes.prepare()
    assert passes.trace is not None
    shown = first_picture.first_picture(passes.trace)
    assert shown.sampled and passes.trace.part() == 0
    assert len(shown.index) == first_picture.Sampled(subject)() == 1024


@linux
def test_memory_is_that_of_the_run_alone() -> None:
    size = 64 << 20
    kept = np.ones(2 * size, np.uint8)  # was there before
    done = alone.run(lambda: np.ones(3 * size, np.uint8).sum(), lambda: np.ones(size, np.uint8).sum())
    assert 0.95 * size < done.extra < 1.2 * size
    assert done.seconds > 0
    assert kept.all()


def test_the_grid_paints_every_head_of_the_file(qtbot: QtBot) -> None:
    found = layers.measure(6, count=2)
    assert len(found.ours) == 2 and min(found.ours + found.bare + found.loads) > 0
    assert layers.Grids((4.0, 6.0), (1.0, 1.0), (2.0, 1.0)).value == 3.25


@linux
def test_the_grid_of_a_file_with_holes(qtbot: QtBot) -> None:
    small = layers.own_memory((3, 2, 40, 40))
    assert small.unit == "MB" and small.value > 0
    assert small.told[0] == "6 heads"


@linux
def test_processes_of_their_own() -> None:
    runs = alone.passes(300)
    assert len(runs) == 1 + alone.AGAIN
    assert min(run.seconds for run in runs) > 0
    figure = memory.measure(300)
    assert (figure.value, figure.unit) == (runs[0].extra / 1e6, "MB")
    assert len(eager.measure_time(300).ours) == eager.COUNT
    assert eager.measure_memory(300).value > 0


def test_a_process_that_ends_is_no_answer() -> None:
    with (
        Answering("tests.bench.alone", "pass", "-1") as broken,
        pytest.raises(RuntimeError, match=r"tests\.bench\.alone"),
    ):
        broken.ask("run")


def test_growth_is_time_per_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {
        10: [alone.Run(9.0, 5_000_000), alone.Run(2.0, 0), alone.Run(3.0, 0)],
        20: [alone.Run(5.0, 7_000_000)],
        40: [alone.Run(40.0, 9_000_000)],
    }
    monkeypatch.setattr(growth, "passes", runs.__getitem__)
    assert growth.measure(20, 10).value == pytest.approx(5 / 8)
    assert "5 MB" in growth.measure(10, 20).told[1]
    assert growth.measure_flatness([10, 20, 40]).value == pytest.approx(2.0)


def test_the_tour_goes_in_and_comes_back() -> None:
    made = moves(500)
    assert len(made) == 500
    scale, scales = 1.0, []
    for move in made:
        scale *= move.factor if isinstance(move, Zoom) else 1.0
        scales.append(scale)
    assert max(scales) > 500
    assert scales[99::100] == pytest.approx([1.0] * 5)
    assert sum(isinstance(move, Pan) for move in made) == 210


def test_the_bare_map_is_moved_as_told(qtbot: QtBot) -> None:
    view = Map(200, 100)
    qtbot.addWidget(view)
    assert not view.move_by(Pan(10.0, 10.0))  # all of it is in sight
    assert view.move_by(Zoom(2.0, 0.25, 0.5))
    assert view.move_by(Pan(-30.0, 20.0))
    place = view._image.mapRectToScene(view._image.boundingRect())
    assert (place.x(), place.y(), place.width(), place.height()) == (-80.0, -30.0, 400.0, 200.0)
    assert view.move_by(Zoom(0.25, 0.5, 0.5))
    place = view._image.mapRectToScene(view._image.boundingRect())
    assert (place.x(), place.y(), place.width(), place.height()) == (0.0, 0.0, 200.0, 100.0)


def test_a_frame_ends_when_all_of_the_window_is_painted(qtbot: QtBot) -> None:
    class Slow(QWidget):
        def paintEvent(self, event: object) -> None:
            time.sleep(0.03)

    window = QWidget()
    view, label = QWidget(window), Slow(window)
    label.move(0, 50)
    qtbot.addWidget(window)
    frames = Frames(window, [view])
    window.show()
    qtbot.wait(1)

    def change(some: list[QWidget]) -> bool:
        for part in some:
            part.update()
        return bool(some)

    assert frames.time(partial(change, [])) is None
    alone, both = frames.time(partial(change, [view])), frames.time(partial(change, [view, label]))
    assert alone is not None and both is not None
    assert 0 < alone.seconds < 0.03 <= both.seconds < 10  # painted after the view, and waited for
    assert 0 < both.computing < both.seconds + 0.1


@pytest.mark.parametrize("maps", [1, 2])
def test_a_frame_of_a_tour_leaves_nothing_to_be_painted(qtbot: QtBot, maps: int) -> None:
    with edit_to_painted.opened(experiment(Size(1024, 64, 1)), memory=0) as watched:
        window = watched.window
        window.context.settings.reduced_motion = True
        if maps == 1:
            window.formula.alone.show(window.formula.weights)
        watched.settle()
        panels = (window.formula.weights, window.formula.scores)[:maps]
        frames = Frames(window, [panel.heatmap.plot.canvas for panel in panels])
        differing = []

        def stop(filtered: QObject, event: QEvent) -> bool:
            handled = Frames.eventFilter(frames, filtered, event)
            if handled:  # what is on the screen at the end of the frame, and what it would be if all were drawn anew
                screen = window.screen().grabWindow(window.winId()).toImage()
                differing.append(screen != window.grab().toImage().convertToFormat(screen.format()))
            return handled

        frames.eventFilter = stop
        for move in moves(24):
            frames.time(partial(tour._change, window, move))
    assert len(differing) >= 24
    assert not any(differing)


def test_a_stall_is_seen(qtbot: QtBot) -> None:
    stalls = Stalls()
    with stalls:
        qtbot.wait(20)
        time.sleep(0.1)
        qtbot.wait(20)
    assert 0.09 < stalls.longest < 10


@pytest.mark.parametrize("maps", [1, 2])
def test_a_tour_at_rest_and_during_a_pass(qtbot: QtBot, maps: int) -> None:
    for toured in tour.tours(Size(1024, 64, 1), 12, maps):
        assert len(toured.ours) == len(toured.peer) == 12
        assert min(frame.seconds for frame in (*toured.ours, *toured.peer)) > 0
        assert toured.stall > 0
        for amount in (tour.median_frame, tour.median_computing, tour.slow_frame, tour.longest_stall):
            assert amount(lambda toured=toured: toured).value > 0


def test_the_peer_of_a_tour_is_as_large_as_the_map(qtbot: QtBot) -> None:
    window = Maps(300, 100, 2)
    qtbot.addWidget(window)
    window.show()
    qtbot.wait(1)
    assert [(each.width(), each.height()) for each in window.maps] == [(300, 100)] * 2
    assert window.move_by(Zoom(2.0, 0.5, 0.5)) and not window.move_by(Zoom(1.0, 0.5, 0.5))


def test_the_flow_and_its_peer_draw_the_same_lines(qtbot: QtBot) -> None:
    with edit_to_painted.opened(experiment(SMALL)) as watched:
        ours = flow.Ours(watched)
        before = ours.drawer.canvas.flow
        ours()
        drawn, places = ours.drawer.canvas.flow, ours.drawer.canvas.places
        assert drawn is not None and drawn is not before
        peer = flow.BareLines(places, ours.weights)
        qtbot.addWidget(peer)
        assert peer.count == len(drawn.weight) == SMALL.n**2
    pairs = flow.measure(SMALL, count=2)
    assert min(*pairs.ours, *pairs.peer) > 0


def test_the_why_panel_and_its_peer_show_the_same_texts(qtbot: QtBot) -> None:
    with edit_to_painted.opened(experiment(SMALL)) as watched:
        ours = why.Ours(watched)
        peer = why.Peer(ours)
        qtbot.addWidget(peer.view)
        ours()
        peer()
        # of a formula, which is drawn, HTML has nothing
        texts = [view.toPlainText().replace("\ufffc", "") for view in (ours.steps, peer.view)]
        assert texts[0] == texts[1] and "Row maximum" in texts[0]
    pairs = why.measure(SMALL, count=2)
    assert min(*pairs.ours, *pairs.peer) > 0
