"""Diagnosing: level after level, from no change to several, until something reproduces the numbers."""

from __future__ import annotations

from collections.abc import Generator
from itertools import count
from typing import TypeVar

import torch

from attn_gui.compute.diagnose.levels import HALVES, levels
from attn_gui.compute.diagnose.locating import between, convention, miss
from attn_gui.compute.diagnose.notes import notes
from attn_gui.compute.diagnose.search import Search
from attn_gui.compute.diagnose.trials import Judged
from attn_gui.model.diagnosis import Choice, Departure, Diagnosis, Miss
from attn_gui.model.question import Question

Steps = Generator[float, None, Diagnosis]
Result = TypeVar("Result")

# conventions of so many changes are not tried where they are more than this, or look at more cells than that
MOST_CONVENTIONS = 20_000
MOST_CELLS = 1 << 29
# once something matches, so many changes are still tried: what reproduces the numbers is listed, not the first of it
ENOUGH_DEPTH = 2
# how much nearer rounding has to bring most cells where the numbers do not show it themselves
NEARER = 4.0


def diagnose_steps(question: Question, device: str = "cpu") -> Steps:
    """Find the conventions, in short steps: yields the part done, 0 to 1, and returns the Diagnosis.

    Raises TooLarge where the stages would not fit in memory.
    """
    return (yield from _Diagnosing(question, device).steps())


class _Diagnosing:
    def __init__(self, question: Question, device: str) -> None:
        self._groups, self._question = levels(question)
        self._device = device
        self._searches: list[Search] = []
        self._done, self._planned = 0, 0
        self._left_out: dict[int, int] = {}

    def steps(self) -> Steps:
        matches: list[tuple[Search, Judged]] = []
        for group in self._groups:
            searches = [Search(self._question, level, self._device) for level in group]
            self._searches += searches
            if not self._planned:
                self._planned = self._plan(searches[0])
            yield self._part
            matches = yield from self._among(searches)
            if matches:
                break
        alike: list[Choice] = []
        for search, match in matches[:1]:
            alike = yield from self._alike(search, match)
        return (yield from self._diagnosis(matches, alike))

    def _among(self, searches: list[Search]) -> Generator[float, None, list[tuple[Search, Judged]]]:
        """What matches at the levels of one group; of several, at the one that comes nearest."""
        matches: list[tuple[Search, Judged]] = []
        for depth in count():
            within = [search for search in searches if depth <= search.reach]
            if not within:
                break
            for search in within:
                if not _is_affordable(search, depth):
                    self._left_out[depth] = max(search.count(depth), self._left_out.get(depth, 0))
                    continue
                known = [frozenset(match.chosen) for _, match in matches]
                found = yield from self._through(search.at_depth(depth, known))
                matches += [(search, match) for match in found if self._is_believable(search, match)]
            if len(searches) > 1 and matches:
                best = min(matches, key=lambda match: match[1].mean)[0]
                searches, matches = [best], [match for match in matches if match[0] is best]
            if matches and (depth >= ENOUGH_DEPTH or not matches[0][1].chosen):
                break
        return matches

    def _through(self, steps: Generator[int, None, Result]) -> Generator[float, None, Result]:
        """Run ``steps``, which yield how many conventions they have tried, and yield the part done after each."""
        while True:
            try:
                self._done += next(steps)
            except StopIteration as finished:
                result: Result = finished.value
                return result
            yield self._part

    @property
    def _part(self) -> float:
        return min(0.99, self._done / self._planned)

    def _plan(self, search: Search) -> int:
        """How many conventions are tried where none matches, at most."""
        depths = [range(level.depth + 1) for group in self._groups for level in group]
        return sum(search.count(depth) for each in depths for depth in each if _is_affordable(search, depth))

    def _is_believable(self, search: Search, match: Judged) -> bool:
        """Whether a match at a lower precision than the numbers show is more than that precision's wide tolerance."""
        if search.level.certain:
            return True
        shown = [each for each in self._searches if each.level.certain][-1]
        exact, rounded = (list(each.pairs(match.chosen, len(match.verdicts) - 1)) for each in (shown, search))
        with search.computing():
            apart, nearer, departing = [], [], []
            for (_, _, plain), (_, _, coarse) in zip(exact, rounded, strict=True):
                counting = (plain.found != 0) & torch.isfinite(plain.found)
                apart.append(plain.difference[counting])
                nearer.append(coarse.difference[counting])
                departing.append((plain.difference > plain.tolerance)[counting])
            if not any(part.numel() for part in apart):
                return False
            if search.level.precision not in HALVES:
                cells = torch.cat(departing)
                # by printing, most cells come out the same; that one does not is no sign of another precision
                share, least = (0.05, 2) if search.level.printed else (0.5, 1)
                return int(cells.sum()) >= max(least, share * cells.numel())
            return float(torch.cat(nearer).median()) * NEARER <= float(torch.cat(apart).median())

    def _alike(self, search: Search, match: Judged) -> Generator[float, None, list[Choice]]:
        """The choices that would change nothing beside ``match``."""
        alike = []
        changed = {choice.dimension for choice in match.chosen}
        order = [dimension.name for dimension in search.dimensions]
        for dimension in search.dimensions:
            for choice in dimension.choices if dimension.name not in changed else ():
                chosen = sorted((*match.chosen, choice), key=lambda each: order.index(each.dimension))
                judged = yield from self._through(search.judged(tuple(chosen)))
                if judged is not None and judged.agrees:
                    alike.append(choice)
        return alike

    def _diagnosis(self, matches: list[tuple[Search, Judged]], alike: list[Choice]) -> Steps:
        question = self._question
        conventions = tuple(convention(search, match.chosen) for search, match in matches)
        nearest = departure = None
        if not matches:
            nearest = yield from self._nearest()
        elif conventions[0].choices:
            departure = yield from self._departure(*matches[0])
        search = matches[0][0] if matches else self._searches[0]
        with search.computing():
            said = tuple(notes(question, search, alike, self._left_out if not matches else {}))
        asked = tuple(name for name, _ in question.given())
        tried = sum(search.tried for search in self._searches)
        return Diagnosis(asked, conventions, departure, nearest, tried, said)

    def _nearest(self) -> Generator[float, None, Miss | None]:
        """The nearest miss, by the tolerance that the numbers themselves show."""
        certain = [search for search in self._searches if search.level.certain]
        ranked = [(search, search.nearest) for search in certain if search.level.printed == certain[-1].level.printed]
        missed = [(search, judged) for search, judged in ranked if judged is not None]
        search, judged = min(missed, key=lambda each: each[1].rank)
        return (yield from self._through(miss(search, judged, self._question)))

    def _departure(self, search: Search, match: Judged) -> Generator[float, None, Departure | None]:
        """Where the standard departs: by every stage as the match has it, or by the given numbers alone."""
        found = between(search, match.chosen, self._question) if match.chosen else None
        if found is not None:
            return found
        for plain in (search, self._searches[0]):
            judged = yield from self._through(plain.judged(()))
            if judged is not None and not judged.agrees:
                against = yield from self._through(miss(plain, judged, self._question))
                return None if against is None else against.departure
        return None


def _is_affordable(search: Search, depth: int) -> bool:
    """Whether the conventions of ``depth`` changes can all be tried in a time that a person waits."""
    if depth < 2 or depth > search.level.depth:  # beyond it, only what is left after a settled stage
        return True
    conventions = search.count(depth)
    return conventions <= MOST_CONVENTIONS and conventions * search.sample.cells <= MOST_CELLS
