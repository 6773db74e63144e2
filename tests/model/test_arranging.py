"""Which tokens are drawn, and which share a place, against a plain walk over the tokens."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model import arranging
from attn_gui.model.arranging import (
    HIDE,
    MERGE,
    PLAIN,
    Arrangement,
    Axis,
    arranged,
    framed,
    has_pieces,
    has_special,
    why_not,
)
from attn_gui.model.cache import with_past
from attn_gui.model.columns import NO_WORD
from attn_gui.model.experiment import Experiment
from attn_gui.model.pieces import joined_name, special_tokens, words
from attn_gui.model.precision import Precision
from attn_gui.model.tokens import TokenSequence

BERT = ["[CLS]", "un", "##believ", "##able", "play", "##ers", "won", "[SEP]"]


def experiment(names: list[str], heads: int = 2) -> Experiment:
    return Experiment.from_weights(np.full((heads, len(names), len(names)), 1 / len(names)), tokens=names)


def walked(special: list[bool], of_words: list[int], arrangement: Arrangement) -> list[list[int]]:
    """The tokens of each place, one token after another."""
    places: list[list[int]] = []
    open_word = None
    hide = arrangement.hide_special and not all(special)
    for token, (mark, word) in enumerate(zip(special, of_words, strict=True)):
        if hide and mark:
            open_word = None
        elif arrangement.merge_words and word != NO_WORD and word == open_word:
            places[-1].append(token)
        else:
            places.append([token])
            open_word = word
    return places


arrangements = st.builds(Arrangement, st.booleans(), st.booleans())


@given(st.lists(st.tuples(st.booleans(), st.integers(-1, 2)), min_size=1, max_size=12), arrangements)
def test_every_place_stands_for_the_tokens_that_a_plain_walk_finds(
    columns: list[tuple[bool, int]], arrangement: Arrangement
) -> None:
    special, of_words = [c[0] for c in columns], [c[1] for c in columns]
    n = len(columns)
    sequence = TokenSequence.of([f"t{i}" for i in range(n)], np.zeros((n, 1)), special=special, word=of_words)
    e = replace(Experiment.from_tokens(sequence.tokens, sequence.embeddings.array()), tokens=sequence)
    expected = walked(special, of_words, arrangement)
    found = arranged(e, arrangement)
    if len(expected) == n:
        assert found is None
        assert framed(e, arrangement) is e
        return
    assert found is not None
    for axis in (found.queries, found.keys):
        assert [list(range(a, b)) for a, b in zip(axis.starts, axis.stops, strict=True)] == expected
        assert np.flatnonzero(axis.hidden).tolist() == sorted(set(range(n)) - {t for place in expected for t in place})
        _check_places(axis, expected)
    assert found.merges == any(len(place) > 1 for place in expected)
    assert (found.frame.n_q, found.frame.n_k, found.frame.heads) == (len(expected), len(expected), e.heads)


def _check_places(axis: Axis, expected: list[list[int]]) -> None:
    for token in range(len(axis.hidden)):
        here = [place for place, tokens in enumerate(expected) if token in tokens]
        after = [place for place, tokens in enumerate(expected) if tokens[0] > token]
        assert axis.places[token] == (here or after or [len(expected) - 1])[0]


def test_names_are_joined_without_the_marks_of_the_tokenizer() -> None:
    found = arranged(experiment(BERT), Arrangement(True, True))
    assert found is not None
    assert found.frame.tokens.tokens == found.frame.keys.tokens == ("unbelievable", "players", "won")
    hidden_only = arranged(experiment(BERT), Arrangement(True, False))
    assert hidden_only is not None
    assert hidden_only.frame.tokens.tokens == tuple(BERT[1:-1])
    assert joined_name(("▁un", "believ")) == joined_name(("Ġun", "believ")) == "unbeliev"
    assert joined_name(("▁",)) == "▁"
    assert joined_name(("##",)) == "##"


@pytest.mark.parametrize(
    ("names", "special", "of_words"),
    [
        (BERT, [0, 7], [1, 1, 1, 2, 2, 3]),
        (["<s>", "▁Hel", "lo", "▁you", "</s>"], [0, 4], [1, 1, 2]),
        (["Hel", "lo", "Ġyou", "<|endoftext|>", "Hi"], [3], [1, 1, 2, 3]),
        (["karina", "is", "##"], [], None),
        (["a", "<b>", "[x]"], [], None),
    ],
)
def test_without_columns_the_names_tell(names: list[str], special: list[int], of_words: list[int] | None) -> None:
    sequence = experiment(names).tokens
    assert np.flatnonzero(special_tokens(sequence)).tolist() == special
    found = words(sequence)
    if of_words is None:
        assert (found == NO_WORD).all()
    else:
        rest = [w for w in found.tolist() if w != NO_WORD]
        assert [rest[i] == rest[i + 1] for i in range(len(rest) - 1)] == [
            of_words[i] == of_words[i + 1] for i in range(len(of_words) - 1)
        ]


def test_columns_go_before_names() -> None:
    sequence = TokenSequence.of(BERT, np.zeros((8, 1)), special=[False] * 8, word=[0, 0, *range(1, 7)])
    assert not special_tokens(sequence).any()
    assert words(sequence).tolist() == [0, 0, 1, 2, 3, 4, 5, 6]


def test_the_cache_and_appended_keys_stay_apart() -> None:
    plain = Experiment.from_tokens(["un", "##do", "##ne", "it"], np.eye(4))
    e = with_past(plain, 1)
    found = arranged(e, Arrangement(merge_words=True))
    assert found is not None
    assert found.frame.tokens.tokens == ("done", "it")
    assert found.frame.keys.tokens == ("un", "done", "it")
    assert (found.frame.offset, found.frame.n_k) == (1, 3)
    everything = Experiment.from_tokens(["<s>", "a", "<s>"], np.eye(3))
    cached = arranged(with_past(everything, 2), Arrangement(hide_special=True))
    assert cached is not None and cached.frame.keys.tokens == ("a",)


def test_where_there_is_nothing_to_see_nothing_is_hidden() -> None:
    assert arranged(experiment(["[CLS]", "[SEP]"]), Arrangement(hide_special=True)) is None
    assert not has_special(experiment(["[CLS]", "[SEP]"]))
    assert has_special(experiment(BERT)) and has_pieces(experiment(BERT))
    assert not has_pieces(experiment(["a", "b"])) and not has_special(experiment(["a", "b"]))


def test_what_is_too_long_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arranging, "MOST_CELLS", 63)
    e = experiment(BERT)
    assert why_not(e) is not None
    assert arranged(e, Arrangement(True, True)) is None


def test_half_precision_is_not_claimed_for_sums() -> None:
    e = Experiment.from_weights(np.full((1, 8, 8), 0.125, np.float16), tokens=BERT)
    hidden, merged = arranged(e, Arrangement(True, False)), arranged(e, Arrangement(False, True))
    assert hidden is not None and hidden.frame.precision == Precision.FLOAT16
    assert merged is not None and merged.frame.precision == Precision.FLOAT32


def test_what_a_session_says() -> None:
    assert Arrangement.of_view({}) == PLAIN
    assert Arrangement.of_view({HIDE: True, MERGE: "yes"}) == Arrangement(True, False)
    e = experiment(BERT)
    assert arranged(e, PLAIN) is None
    assert arranged(e, Arrangement(True)) is arranged(e, Arrangement(True))
