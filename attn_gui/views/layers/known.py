"""Known: the pictures and the scores that there are of the heads of a session."""

from __future__ import annotations

from collections.abc import Iterable

from attn_gui.control.overview_jobs import Pictured, Scored, Wanted
from attn_gui.model.experiment import Experiment
from attn_gui.model.layers import HeadAt
from attn_gui.model.session import Session
from attn_gui.model.table import Floats
from attn_gui.model.trace import Head
from attn_gui.views.drawers.tile import Thumbnail

# pictures of some 20 kB each; those longest out of sight go first
MOST_PICTURES = 4096

Key = tuple[int, Head]


class Known:
    """By experiment and head. An edit of one layer leaves what is known of the others."""

    def __init__(self, session: Session) -> None:
        self._experiments: list[Experiment] = []
        self._thumbnails: dict[Key, Thumbnail | None] = {}
        self._scores: dict[Key, Floats] = {}
        self.set_session(session)

    def set_session(self, session: Session) -> None:
        """Forget what is of no experiment of ``session``."""
        self._experiments = [named.experiment for named in session.experiments]
        there = {experiment.revision for experiment in self._experiments}
        self._thumbnails = {key: found for key, found in self._thumbnails.items() if key[0] in there}
        self._scores = {key: found for key, found in self._scores.items() if key[0] in there}

    def heads(self) -> list[HeadAt]:
        """Every head of every experiment."""
        return [HeadAt(layer, head) for layer, e in enumerate(self._experiments) for head in range(e.heads)]

    def key(self, at: HeadAt) -> Key:
        return self._experiments[at.layer].revision, at.head

    def places(self, revision: int, head: Head) -> list[HeadAt]:
        """Where the head of the experiment with ``revision`` stands; nowhere where that is no longer there."""
        return [HeadAt(layer, head) for layer, e in enumerate(self._experiments) if e.revision == revision]

    def put_picture(self, answer: Pictured) -> None:
        self._thumbnails[answer.revision, answer.head] = (
            None if answer.picture is None else Thumbnail.of(answer.picture)
        )
        if len(self._thumbnails) > MOST_PICTURES:
            del self._thumbnails[next(iter(self._thumbnails))]

    def put_scores(self, answer: Scored) -> None:
        self._scores[answer.revision, answer.head] = answer.values

    def forget_pictures(self) -> None:
        self._thumbnails.clear()

    def forget(self) -> None:
        self._thumbnails.clear()
        self._scores.clear()

    def thumbnail(self, at: HeadAt) -> Thumbnail | None:
        return self._thumbnails.get(self.key(at))

    def scores(self, at: HeadAt) -> Floats | None:
        """The scores of a head, [len(HEAD_SCORES)], None while they are not known."""
        return self._scores.get(self.key(at))

    def without_picture(self, heads: Iterable[HeadAt]) -> list[Wanted]:
        """Those of ``heads`` that nothing is known of to show."""
        return [(self._experiments[at.layer], at.head) for at in heads if self.key(at) not in self._thumbnails]

    def without_scores(self, heads: Iterable[HeadAt]) -> list[Wanted]:
        """Those of ``heads`` that are to be scored; the mean over heads is none."""
        return [
            (self._experiments[at.layer], at.head)
            for at in heads
            if at.head != "mean" and self.key(at) not in self._scores
        ]
