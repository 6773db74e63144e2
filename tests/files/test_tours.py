"""Tours and experiments to try: the notation tells its faults, and every number in a shipped text is the right one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attn_gui.files import examples, tours
from attn_gui.files.errors import FileError
from attn_gui.model.masks import Causal
from attn_gui.model.tour import Claim, Instrument, Passage, Scene
from attn_gui.model.variant import Variant
from tests.tour_claims import as_printed, value_of

SHIPPED = [listed.path for listed in tours.listed()]
EXAMPLES = examples.names()
# a number that only an experiment gives: per cent, or with decimals
NUMBER = re.compile(r"\d+(?:\.\d+)?\s?%|\d*\.\d+")

STEP = """# A tour

What it is about.

## First

It says [1.0](raw is the) and goes on
in the next line.

```set
example: karina
select: is the
```
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "tour.md"
    path.write_text(text, encoding="utf-8")
    return path


def claims(path: Path) -> list[tuple[Passage, Scene, Scene | None]]:
    """Every passage of a tour, with its scene and the one before."""
    tour, before = tours.load(path), None
    found: list[tuple[Passage, Scene, Scene | None]] = []
    for step in tour.steps:
        found.append((step.text, step.scene, before))
        before = step.scene
    for question in tour.questions:
        found += [(question.text, question.asked, None), (question.answer, question.tried, question.asked)]
    return found


def check(passage: Passage, scene: Scene, before: Scene | None) -> None:
    for claim in passage.claims:
        assert as_printed(claim.text, value_of(claim, scene, before)) == claim.text, claim
    rest = "".join(piece for piece in passage.pieces if isinstance(piece, str))
    assert not NUMBER.findall(rest), "a number that nothing works out again"


def test_there_are_seven_tours_and_each_says_what_it_is_about() -> None:
    assert len(SHIPPED) == 7
    assert all(listed.title and listed.summary.endswith(".") for listed in tours.listed())
    assert len({listed.title for listed in tours.listed()}) == 7


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_tour_is_brief(path: Path) -> None:
    tour = tours.load(path)
    assert 5 <= len(tour.steps) <= 9
    assert 2 <= len(tour.questions) <= 3
    assert len(tour) == len(tour.steps) + len(tour.questions)
    for text in (step.text.text for step in tour.steps):
        assert 1 <= len(re.findall(r"[.:?](?= |$)", text)) <= 5 and len(text) <= 320, text
    assert all("!" not in passage.text for passage, _, _ in claims(path))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_number_in_a_tour_is_the_right_one(path: Path) -> None:
    for passage, scene, before in claims(path):
        check(passage, scene, before)
    assert sum(len(passage.claims) for passage, _, _ in claims(path)) >= 5


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_outcome_to_try_is_the_right_one(name: str) -> None:
    shipped = examples.load(name)
    assert shipped.focus is not None
    before = Scene(shipped, shipped.focus[0], shipped.focus[1:])
    tries = tours.tries(name)
    assert 1 <= len(tries) <= 2
    for one in tries:
        assert one.outcome.claims
        check(one.outcome, one.scene, before)
        assert one.scene.named.experiment is not shipped.experiment
        assert len(one.action) + len(one.outcome.text) <= 160


def test_making_store_larger_raises_its_own_column_alone() -> None:
    """What the answer to a question of the first tour says of every row."""
    tour = tours.load(SHIPPED[0])
    shipped, larger = tour.steps[0].scene, tour.questions[1].tried
    tokens = shipped.named.experiment.tokens.tokens
    for query in tokens:
        for key in tokens:
            claim = Claim("", f"N {query} {key}", None)
            grown = value_of(claim, larger, None) > value_of(claim, shipped, None)
            assert grown == (key == "store")


def test_a_step_goes_on_from_the_one_before(tmp_path: Path) -> None:
    more = """
## Second

More.

```set
variant: multi_head_self
mask: causal
set: is x2 = -3
append: now = 4, 5
keep: 6
rename: now = then
scale: 2
normaliser: sparsemax
head: 2
select: then #2
drawer: heads
highlight: mask
instrument: saturation 16 0.25
```

## Third

And more.
"""
    first, second, third = tours.load(written(tmp_path, STEP + more)).steps
    assert first.text.text == "It says 1.0 and goes on in the next line."
    assert first.text.claims == (Claim("1.0", "raw is the", (0, 1, 3)),)
    assert first.scene.cell == (1, 3)
    e = second.scene.named.experiment
    assert e.variant is Variant.MULTI_HEAD_SELF and e.heads == 2 and e.rule == Causal()
    assert e.tokens.tokens == ("karina", "is", "to", "the", "store", "then")
    assert e.tokens.embeddings.array().tolist()[1] == [0, -3] and e.tokens.embeddings.array().tolist()[5] == [4, 5]
    assert e.scale == 2 and e.scoring.normaliser.kind == "sparsemax"
    s = second.scene
    assert (s.head, s.cell, s.drawer, s.highlight) == (1, (5, 1), "heads", "mask")
    assert s.instrument == Instrument("saturation", 16, 0.25)
    assert third.scene.named is second.scene.named and third.scene.cell == (5, 1)
    assert (third.scene.drawer, third.scene.highlight, third.scene.instrument) == (None, None, None)


def test_a_cache_and_equal_names(tmp_path: Path) -> None:
    more = "\n## Second\n\nMore.\n\n```set\nexample: cat\nselect: the#2 the\ncache: 4\n```\n"
    scene = tours.load(written(tmp_path, STEP + more)).steps[1].scene
    e = scene.named.experiment
    assert (e.n_q, e.n_k, e.offset) == (4, 8, 4)
    assert scene.cell == (3, 0)  # brought within the queries that are left


@pytest.mark.parametrize(
    ("text", "where", "expected"),
    [
        ("", "line 1", "“# ” and a title"),
        ("words\n", "line 1", "“# ” and a title"),
        ("## A step\n", "line 1", "“# ” and the title of it all"),
        ("# A\n\n# B\n", "line 3", "“## ” or “### ” and a heading"),
        ("# A\n\n#### B\n", "line 3", "“## ” or “### ” and a heading"),
        ("# A\n\n## \n", "line 3", "“## ” or “### ” and a heading"),
        ("# A\n", "line 1", "steps, each under “## ” and its title"),
        ("# A\n\n## B\n", "line 3", "a text under the heading"),
        ("# A\n\n## B\n\ntext\n", "", "“example: ” in the first block of settings"),
        ("# A\n\n## B\n\ntext\n\n```python\n```\n", "line 7", "“```set” under a heading"),
        ("# A\n\n## B\n\ntext\n\n```set\nexample: karina\n", "line 7", "“```” at the end of the block"),
        (STEP + "\n### B\n\ntext\n", "line 15", "“## ” and the title of a step"),
        (STEP + "\n## Questions\n\n## B\n\ntext\n", "line 17", "“### ” and a question"),
        (STEP + "\n## B\n\n[1](X is the)\n", "under line 15", "one of N, A, raw,"),
    ],
)
def test_a_fault_of_the_notation_names_the_line_and_what_was_expected(
    tmp_path: Path, text: str, where: str, expected: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FileError) as caught:
        tours.load(path)
    assert caught.value.path == path
    assert caught.value.where == where
    assert caught.value.expected.startswith(expected)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("nonsense", "“key: value”"),
        ("colour: red", "one of the keys example, variant"),
        ("example: nobody", "the name of an example"),
        ("select: is nobody", "one of the tokens karina, is, to"),
        ("select: is the#2", "one of the tokens karina, is, to"),
        ("select: is", "“query key”"),
        ("heads: many", "a whole number"),
        ("heads: 3", "a count that fits"),
        ("variant: both", "one of self, cross"),
        ("mask: none at all", "one of none, "),
        ("scale: large", "a number"),
        ("set: is x3 = 1", "one of x1, x2"),
        ("set: is x1", "“token dimension = number”"),
        ("set: is x1 = inf", "a finite number"),
        ("append: now = 1", "2 numbers after “=”"),
        ("keep: 0", "1 to 5 tokens"),
        ("cache: 5", "0 to 4 tokens"),
        ("head: 2", "one of 1"),
        ("drawer: attic", "one of weights, stages"),
        ("highlight: everything", "one of tokens, scores"),
        ("instrument: piano", "one of saturation, influence"),
        ("instrument: saturation 64", "“saturation d_k scale”"),
        ("instrument: saturation 100 1", "a power of 2 up to 1024"),
        ("instrument: saturation 64 0.3", "root, or a power of 1/√2"),
        ("instrument: saturation 64 2", "root, or a power of 1/√2"),
    ],
)
def test_a_fault_of_a_setting_names_the_line_and_what_was_expected(tmp_path: Path, setting: str, expected: str) -> None:
    path = written(tmp_path, STEP.replace("select: is the", setting))
    with pytest.raises(FileError) as caught:
        tours.load(path)
    assert caught.value.path == path
    assert caught.value.where.startswith("line 12")
    assert caught.value.expected.startswith(expected)


def test_settings_before_an_example_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, STEP.replace("example: karina\n", ""))
    with pytest.raises(FileError, match="line 11: expected “example: ” first of all, received “select”"):
        tours.load(path)


def test_what_is_no_file_or_no_text_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="a name that does not exist"):
        tours.load(tmp_path / "nowhere.md")
    (tmp_path / "binary.md").write_bytes(b"# A\n\xff\xfe")
    with pytest.raises(FileError, match="byte 4: expected text in UTF-8"):
        tours.load(tmp_path / "binary.md")


def test_what_a_tour_is_about_is_plain_text() -> None:
    assert all("`" not in listed.summary for listed in tours.listed())
