"""Notes: what the given numbers cannot tell, and how they were compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attn_gui.compute.diagnose.levels import HALVES
from attn_gui.compute.diagnose.outputs import projects
from attn_gui.compute.diagnose.search import Search
from attn_gui.model.diagnosis import Choice
from attn_gui.model.question import Question

LONGEST_LIST = 8


def notes(question: Question, search: Search, alike: Sequence[Choice], left_out: Mapping[int, int]) -> Iterator[str]:
    """Each a sentence. alike: choices that would change nothing; left_out: counts of conventions by their changes."""
    allowed = search.inputs.allowed
    if question.masked and (allowed is None or bool(allowed.all())):
        yield "The numbers cannot tell the mask as given from no mask: it allows everything."
    if alike:
        titles = [choice.title for choice in alike[:LONGEST_LIST]]
        more = f" and {len(alike) - LONGEST_LIST} more" if len(alike) > LONGEST_LIST else ""
        yield f"Would change nothing here, and so cannot be told: {'; '.join(titles)}{more}."
    if question.scores is not None and allowed is not None and search.theirs.before_mask:
        yield "No cell of the scores is masked: they were compared before the mask, of which they say nothing."
    last = list(question.given())[-1][0]
    if last != "output":
        yield f"What comes after the {last} is not judged."
    weights = question.experiment.weights
    if question.joined and weights is not None and weights.W_O is not None and not projects(question):
        yield "The output was compared before W_O, by its width."
    yield _tolerance(search)
    if search.left_out:
        unseen = " and ".join(choice.title for choice in search.left_out)
        yield f"Not tried at this size, since every query would have to be looked at at once: {unseen}."
    for changes, count in sorted(left_out.items()):
        yield f"The {count:,} conventions of {changes} changes were not tried: they would take too long at this size."


def _tolerance(search: Search) -> str:
    level = search.level
    if level.printed:
        return f"Compared as printed, to within half of the last place, and as {level.precision} numbers."
    if level.precision in HALVES:
        return f"Compared as {level.precision} numbers, to within a few of its last places."
    return f"Compared as {level.precision} numbers."
