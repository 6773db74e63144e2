"""The shipped examples say what their notes claim, by a numpy forward pass of their own.

Nothing of attn_gui is imported: the files are read as plain JSON and the formulas are written out here, so
that an example cannot look right merely because the program and the test share a mistake.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

Array = NDArray[np.float64]

EXAMPLES = Path(__file__).parent.parent / "resources" / "examples"
DATA = Path(__file__).parent / "data"
NAMES = (
    "karina",
    "animal",
    "animal_one_head",
    "cat",
    "cat_one_head",
    "random_5x512",
    "translation",
)
WRITTEN_OUT = tuple(name for name in NAMES if name != "random_5x512")
VARIANTS = ("self", "cross", "multi_head_self", "multi_head_cross")
WEIGHTS = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O")


class Job(NamedTuple):
    """A query word that should look at a key word: more than `at_least` of its row, in head `head` (from 1).

    The jobs of one query word ask for more than 1 in all, and a row of N sums to 1: heads have to share them.
    """

    head: int
    query: str
    key: str
    at_least: float


JOBS = {
    "animal": (
        Job(1, "it", "animal", 0.6),
        Job(2, "it", "tired", 0.6),
        Job(3, "it", "was", 0.6),
        Job(2, "was", "tired", 0.6),
        Job(3, "was", "it", 0.6),
        Job(2, "cross", "didn't", 0.6),
        Job(3, "cross", "animal", 0.35),
        Job(3, "cross", "street", 0.35),
    ),
    "cat": (
        Job(1, "was", "cat", 0.6),
        Job(3, "was", "hungry", 0.6),
        Job(2, "chased", "cat", 0.35),
        Job(2, "chased", "mouse", 0.35),
        Job(3, "chased", "that", 0.6),
    ),
}

# What every row of every head asks for; a word left out asks nothing there and must look at all words alike.
PURPOSE: dict[str, tuple[dict[str, set[str]], ...]] = {
    "animal": (
        {"the": {"animal", "street"}, "it": {"animal"}, "tired": {"animal"}},
        {
            "animal": {"tired"},
            "it": {"tired"},
            "was": {"tired"},
            "too": {"tired"},
            "tired": {"too"},
            "didn't": {"cross"},
            "cross": {"didn't"},
        },
        {
            "animal": {"cross"},
            "street": {"cross"},
            "cross": {"animal", "street"},
            "it": {"was"},
            "was": {"it"},
            "because": {"cross", "was"},
        },
    ),
    "cat": (
        {"the": {"cat", "mouse"}, "that": {"cat"}, "was": {"cat"}, "hungry": {"cat"}},
        {"cat": {"chased"}, "mouse": {"chased"}, "that": {"chased"}, "chased": {"cat", "mouse"}},
        {"cat": {"hungry"}, "was": {"hungry"}, "hungry": {"was"}, "chased": {"that"}},
    ),
}


def refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not strict JSON")


def load(path: Path) -> dict[str, Any]:
    example: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    return example


def example(name: str) -> dict[str, Any]:
    return load(EXAMPLES / f"{name}.json")


def embeddings(sequence: dict[str, Any]) -> Array:
    """X [n, d] in float64, drawn from the seed where the file states one."""
    stored = sequence["embeddings"]
    if isinstance(stored, dict):
        assert stored.keys() == {"kind", "seed", "shape"}
        assert stored["kind"] == "normal"
        return np.random.RandomState(stored["seed"]).standard_normal(tuple(stored["shape"]))
    return np.array(stored, dtype=np.float64)


def forward(
    x: Array, context: Array, weights: dict[str, Any], heads: int, scale: float | None = None
) -> dict[str, Array]:
    """softmax(scale Q K^T) V per head, joined and times W_O where there is one.

    Returns raw, A and N [heads, n_q, n_k] and output [n_q, d_out]; scale is 1/sqrt(d_k) where none is given.
    """
    q = x @ np.array(weights["W_Q"], dtype=np.float64)  # [n_q, heads * d_k]
    k = context @ np.array(weights["W_K"], dtype=np.float64)  # [n_k, heads * d_k]
    v = context @ np.array(weights["W_V"], dtype=np.float64)  # [n_k, heads * d_v]
    d_k = q.shape[1] // heads
    raw = np.stack([a @ b.T for a, b in zip(np.split(q, heads, 1), np.split(k, heads, 1), strict=True)])
    scores = raw * (1 / np.sqrt(d_k) if scale is None else scale)
    exponentials = np.exp(scores - scores.max(axis=2, keepdims=True))
    n = exponentials / exponentials.sum(axis=2, keepdims=True)
    output = np.hstack([a @ b for a, b in zip(n, np.split(v, heads, 1), strict=True)])
    if weights["W_O"] is not None:
        output = output @ np.array(weights["W_O"], dtype=np.float64)
    return {"raw": raw, "A": scores, "N": n, "output": output}


def run(name: str, scale: float | None = None) -> dict[str, Array]:
    stored = example(name)
    x = embeddings(stored["tokens"])
    context = x if stored["context"] is None else embeddings(stored["context"])
    return forward(x, context, stored["source"], stored["heads"], scale)


def weight(n: Array, words: list[str], job: Job, head: int) -> float:
    return float(n[head - 1, words.index(job.query), words.index(job.key)])


def shortfalls(name: str, scale: float | None) -> dict[Job, float]:
    """By how much each job of `name` falls short (positive) in its one-head version."""
    words = example(name)["tokens"]["tokens"]
    n = run(f"{name}_one_head", scale)["N"]
    return {job: job.at_least - weight(n, words, job, 1) for job in JOBS[name]}


def test_the_shipped_files_are_the_ones_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.json")} == set(NAMES)


def test_names_are_told_apart_in_the_dropdown() -> None:
    assert len({example(name)["name"] for name in NAMES}) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_has_every_field_of_the_format(name: str) -> None:
    stored = example(name)
    assert stored.keys() == {
        "format",
        "version",
        "name",
        "note",
        "focus",
        "variant",
        "heads",
        "kv_heads",
        "precision",
        "tokens",
        "context",
        "source",
        "mask",
        "scoring",
    }
    assert (stored["format"], stored["version"]) == ("attn-experiment", 1)
    assert stored["variant"] in VARIANTS
    assert stored["precision"] == "float32"
    assert stored["name"].strip()
    assert stored["note"].strip().endswith(".")
    assert stored["mask"] == {"rule": {"kind": "none"}, "painted": []}
    assert stored["scoring"] == {"scale": None, "softcap": None}


@pytest.mark.parametrize("name", NAMES)
def test_tokens_dimensions_and_embeddings_agree(name: str) -> None:
    stored = example(name)
    assert (stored["context"] is not None) == stored["variant"].endswith("cross")
    for sequence in (stored["tokens"], stored["context"]):
        if sequence is None:
            continue
        assert sequence.keys() == {"tokens", "dimensions", "embeddings", "columns"}
        assert all(isinstance(label, str) and label for label in sequence["tokens"] + sequence["dimensions"])
        assert len(set(sequence["dimensions"])) == len(sequence["dimensions"])
        x = embeddings(sequence)
        assert x.shape == (len(sequence["tokens"]), len(sequence["dimensions"]))
        assert np.isfinite(x).all()
        assert sequence["columns"] == {}


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_weights_fit_the_tokens_and_the_heads(name: str) -> None:
    stored = example(name)
    source, heads = stored["source"], stored["heads"]
    assert source.keys() == {"kind", *WEIGHTS}
    assert source["kind"] == "weights"
    assert all(source[bias] is None for bias in WEIGHTS if bias.startswith("b_"))
    matrices = {key: np.array(source[key], dtype=np.float64) for key in WEIGHTS if source[key] is not None}
    assert all(matrix.ndim == 2 and np.isfinite(matrix).all() for matrix in matrices.values())

    d_model = len(stored["tokens"]["dimensions"])
    d_context = d_model if stored["context"] is None else len(stored["context"]["dimensions"])
    assert [matrices[key].shape[0] for key in ("W_Q", "W_K", "W_V")] == [d_model, d_context, d_context]
    assert matrices["W_Q"].shape[1] == matrices["W_K"].shape[1]
    assert stored["kv_heads"] == heads
    if stored["variant"].startswith("multi_head"):
        assert heads > 1
        assert matrices["W_Q"].shape[1] == matrices["W_V"].shape[1] == d_model
        assert d_model % heads == 0
        assert matrices["W_O"].shape == (d_model, d_model)
    else:
        assert heads == 1
        assert "W_O" not in matrices


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_a_matrix_row_is_one_line_of_the_file(name: str) -> None:
    stored = example(name)
    sequences = [stored["tokens"]] + ([stored["context"]] if stored["context"] else [])
    rows = [row for sequence in sequences for row in sequence["embeddings"]]
    rows += [row for key in WEIGHTS if stored["source"][key] is not None for row in stored["source"][key]]
    lines = (EXAMPLES / f"{name}.json").read_text(encoding="utf-8").splitlines()
    numeric = [line.strip().rstrip(",") for line in lines if re.match(r" *\[ *[-\d]", line)]
    assert [json.loads(line) for line in numeric] == rows
    assert max(map(len, (line for line in lines if '"note"' not in line))) <= 180


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_every_stage_is_finite_and_every_row_sums_to_one(name: str) -> None:
    stages = run(name)
    assert all(np.isfinite(stage).all() for stage in stages.values())
    np.testing.assert_allclose(stages["N"].sum(axis=2), 1, rtol=0, atol=8 * np.finfo(np.float64).eps)


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_the_percentages_in_the_note_are_the_computed_ones(name: str) -> None:
    stored = example(name)
    queries = stored["tokens"]["tokens"]
    keys = queries if stored["context"] is None else stored["context"]["tokens"]
    n = run(name)["N"]
    claims = 0
    head = 1
    query = ""
    for match in re.finditer(r"[Hh]ead (\d)|(?:([\w']+) → |and )([\w']+) (\d+)%", stored["note"]):
        if match[1]:
            head = int(match[1])
            continue
        query = match[2] or query
        claims += 1
        assert f"{n[head - 1, queries.index(query), keys.index(match[3])]:.0%}" == f"{match[4]}%", match[0]
    assert claims >= (0 if name == "karina" else 2)


def test_karina_gives_the_exact_figures() -> None:
    reference = load(DATA / "karina.json")
    stored = example("karina")
    assert stored["tokens"]["tokens"] == reference["tokens"]
    assert stored["tokens"]["embeddings"] == reference["X"]
    for key in ("W_Q", "W_K", "W_V"):
        assert reference[key] == "identity"
        np.testing.assert_array_equal(stored["source"][key], np.eye(2))
    stages = run("karina")
    for stage, ours in (("QKt", stages["raw"][0]), ("A", stages["A"][0]), ("N", stages["N"][0])):
        np.testing.assert_allclose(ours, reference["exact"][stage], rtol=0, atol=1e-12)
    np.testing.assert_allclose(stages["output"], reference["exact"]["output"], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("animal", "The animal didn't cross the street because it was too tired"),
        ("cat", "The cat that chased the mouse was hungry"),
    ],
)
def test_the_sentence_is_the_promised_one(name: str, sentence: str) -> None:
    assert example(name)["tokens"]["tokens"] == sentence.lower().split()


@pytest.mark.parametrize(("name", "job"), [(name, job) for name, jobs in JOBS.items() for job in jobs])
def test_each_job_is_done_by_a_head_of_its_own(name: str, job: Job) -> None:
    n = run(name)["N"]
    assert weight(n, example(name)["tokens"]["tokens"], job, job.head) > job.at_least


@pytest.mark.parametrize("name", PURPOSE)
def test_a_row_looks_where_its_head_asks_and_else_at_all_words_alike(name: str) -> None:
    words = example(name)["tokens"]["tokens"]
    n = run(name)["N"]
    assert len(n) == len(PURPOSE[name])
    for head, purpose in zip(n, PURPOSE[name], strict=True):
        for word, row in zip(words, head, strict=True):
            wanted = np.isin(words, list(purpose.get(word, ())))
            if wanted.any():
                assert row[wanted].sum() > 0.75, word
                assert row[wanted].min() > 4 * row[~wanted].max(), word
            else:
                np.testing.assert_allclose(row, 1 / len(words), rtol=1e-12)


def test_it_becomes_an_animate_noun_in_a_state() -> None:
    stored = example("animal")
    row = run("animal")["output"][stored["tokens"]["tokens"].index("it")]
    features = dict(zip(stored["tokens"]["dimensions"], row, strict=True))
    assert {name for name, value in features.items() if value > 0.5} == {"noun", "animate", "state", "copula"}


@pytest.mark.parametrize("name", JOBS)
def test_one_head_reads_the_same_features_and_weights(name: str) -> None:
    many, one = example(name), example(f"{name}_one_head")
    assert one["tokens"] == many["tokens"]
    for key in ("W_Q", "W_K", "W_V"):
        assert one["source"][key] == many["source"][key]
    assert one["variant"] == "self"
    summed = run(name)["raw"].sum(axis=0)
    np.testing.assert_allclose(run(f"{name}_one_head")["raw"][0], summed, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "failing", "worst"), [("animal", 8, 0.34), ("cat", 5, 0.32)])
def test_one_head_visibly_compromises(name: str, failing: int, worst: float) -> None:
    short = shortfalls(name, scale=None)
    assert sum(amount > 0.05 for amount in short.values()) == failing
    assert max(short.values()) > worst


@pytest.mark.parametrize(("name", "worst"), [("animal", 0.26), ("cat", 0.26)])
def test_no_scale_rescues_the_one_head(name: str, worst: float) -> None:
    """The smaller 1/sqrt(d_k) of the wide head is not to blame: the best scale leaves a job far short too."""
    assert min(max(shortfalls(name, float(scale)).values()) for scale in np.geomspace(0.01, 100, 81)) > worst


def test_one_head_fails_the_three_jobs_that_made_the_cat_sentence() -> None:
    n = run("cat_one_head")["N"]
    words = example("cat")["tokens"]["tokens"]
    promised = {("was", "cat"), ("chased", "cat"), ("chased", "mouse")}
    jobs = [job for job in JOBS["cat"] if (job.query, job.key) in promised]
    assert len(jobs) == 3
    assert all(weight(n, words, job, 1) < job.at_least - 0.05 for job in jobs)


def test_the_note_compares_it_with_its_own_heads() -> None:
    assert "over 80%" in example("animal_one_head")["note"]
    words = example("animal")["tokens"]["tokens"]
    n = run("animal")["N"]
    assert all(weight(n, words, job, job.head) > 0.8 for job in JOBS["animal"] if job.query == "it")


@pytest.mark.parametrize("name", ["animal", "cat"])
def test_the_note_says_what_each_head_does(name: str) -> None:
    stored = example(name)
    heads = {int(number) for number in re.findall(r"[Hh]ead (\d)", stored["note"])}
    assert heads == set(range(1, stored["heads"] + 1))


def test_random_says_that_it_means_nothing_and_fits_its_heads() -> None:
    stored = example("random_5x512")
    assert "untrained: no meaning" in stored["name"]
    assert stored["variant"] == "multi_head_self"
    assert embeddings(stored["tokens"]).shape == (5, 512)
    source = stored["source"]
    assert source == {"kind": "random", "initialiser": "normal", "seed": 42, "d_k": 64, "d_v": 64}
    assert stored["heads"] == stored["kv_heads"] == 8
    assert stored["heads"] * source["d_k"] == stored["heads"] * source["d_v"] == 512


def test_random_looks_strong_by_chance_as_its_note_says() -> None:
    stored = example("random_5x512")
    x = embeddings(stored["tokens"])
    generator = np.random.RandomState(stored["source"]["seed"])
    weights = {key: generator.standard_normal((512, 512)) * 0.1 for key in ("W_Q", "W_K", "W_V", "W_O")}
    stages = forward(x, x, weights, stored["heads"])
    assert np.isfinite(stages["output"]).all()
    assert np.median(stages["N"].max(axis=2)) > 0.6


def test_translation_crosses_where_the_word_order_differs() -> None:
    stored = example("translation")
    french, english = stored["tokens"]["tokens"], stored["context"]["tokens"]
    assert french == ["le", "chat", "noir", "dort"]
    assert english == ["the", "black", "cat", "sleeps"]
    assert len(stored["tokens"]["dimensions"]) != len(stored["context"]["dimensions"])
    n = run("translation")["N"][0]
    partners = [english[column] for column in n.argmax(axis=1)]
    assert dict(zip(french, partners, strict=True)) == {
        "le": "the",
        "chat": "cat",
        "noir": "black",
        "dort": "sleeps",
    }
    assert (n.max(axis=1) > 0.6).all()
