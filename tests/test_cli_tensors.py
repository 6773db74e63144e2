"""``attn-gui info`` and ``export`` of tensors, without a window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attn_gui.cli import main
from attn_gui.files.csv_reader import read
from attn_gui.files.examples import load_session
from attn_gui.files.session import save

# with either meaning every query has a key
BOTH = np.eye(4, dtype=bool) | (np.arange(4) == 0)


def weights(*shape: int) -> Any:
    numbers = np.random.default_rng(0).random(shape)
    return numbers / numbers.sum(-1, keepdims=True)


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_info_says_what_is_there_and_how_it_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "attn.npy", weights(12, 4, 5, 5).astype(np.float32))
    code, out, _ = told(capsys, "info", str(tmp_path / "attn.npy"))
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("attn  float32 12 x 4 x 5 x 5, 0.0")
    assert lines[0].endswith("; Weights N: layer, head, query, key")
    assert lines[1:4] == [
        "attention: 12 layers, 4 heads, 5 queries, 5 keys",
        "doubt: 12 items in axis 0, read as layers: is this a batch? (say so with --axes batch,head,query,key=attn)",
        "The weights are shown as they are",
    ]


def test_export_of_a_layer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = weights(12, 4, 5, 5)
    np.save(tmp_path / "attn.npy", numbers)
    out = tmp_path / "out"
    assert told(capsys, "export", str(tmp_path / "attn.npy"), "--layer", "3", "--out", str(out))[0] == 0
    for head in range(4):
        np.testing.assert_array_equal(read(out / f"N_head{head + 1}.csv").values, numbers[2, head])
    code, _, err = told(capsys, "export", str(tmp_path / "attn.npy"), "--layer", "13", "--out", str(out))
    assert (code, "a layer from 1 to 12, received layer 13" in err) == (1, True)


def test_heads_that_stand_last_are_read_so_and_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    true = weights(4, 4, 4)
    path = tmp_path / "turned.npy"
    np.save(path, true.transpose(1, 2, 0))
    code, out, _ = told(capsys, "info", str(path))
    assert code == 0 and "Weights N: query, key, head" in out
    assert (
        "doubt: The weights: what sums to 1 along axis 1 may be head, key, query as well: does axis 0 count the heads?"
        " (say so with --axes head,key,query=turned)"
    ) in out
    turned = true.transpose(1, 2, 0)[0].T
    for name, axes, head in (("proposed", [], true[0]), ("told", ["--axes", "head,key,query"], turned)):
        folder = tmp_path / name
        assert told(capsys, "export", str(path), *axes, "--out", str(folder))[0] == 0
        np.testing.assert_array_equal(read(folder / "N_head1.csv").values, head)


def test_a_doubt_is_said_with_what_would_clear_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, scores=np.zeros((2, 3, 4, 4)), mask=BOTH, input_ids=np.ones((2, 4), np.int64))
    arguments = ("export", str(path), "--stage", "N", "--out", str(tmp_path / "out"))
    code, _, err = told(capsys, *arguments)
    assert code == 1 and "(say so with --mask-means)" in err
    assert "unclear: The mask: does True (or 1) mean" in told(capsys, "info", str(path))[1]
    assert told(capsys, *arguments, "--mask-means", "allowed", "--batch", "2")[0] == 0
    np.testing.assert_array_equal(read(tmp_path / "out" / "N_head1.csv").values[1], [0.5, 0.5, 0, 0])
    assert told(capsys, *arguments, "--mask-means", "blocked")[0] == 0
    np.testing.assert_array_equal(read(tmp_path / "out" / "N_head1.csv").values[1], [0, 0, 0.5, 0.5])
    code, _, err = told(capsys, *arguments, "--mask-means", "allowed", "--batch", "3")
    assert code == 1 and "The batch has 2 items" in err


@pytest.mark.parametrize("allowed", [True, False])
def test_a_mask_with_one_sensible_meaning_is_read_so_and_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], allowed: bool
) -> None:
    path, out = tmp_path / "a.npz", tmp_path / "out"
    causal = np.tri(4, dtype=bool)
    np.savez(path, scores=np.zeros((2, 4, 4)), mask=causal if allowed else ~causal)
    assert told(capsys, "export", str(path), "--stage", "N", "--out", str(out))[0] == 0
    np.testing.assert_array_equal(read(out / "N_head1.csv").values[1], [0.5, 0.5, 0, 0])
    meaning = "may attend" if allowed else "blocked"
    line = f"mask: true (or 1) means {meaning}: so every query has a key; --mask-means says otherwise"
    assert line in told(capsys, "info", str(path))[1].splitlines()
    line = "mask: true (or 1) means blocked, as --mask-means says"
    assert line in told(capsys, "info", str(path), "--mask-means", "blocked")[1].splitlines()
    np.savez(path, scores=np.zeros((2, 4, 4)), mask=np.where(causal, 0.0, -np.inf))
    assert "mask: its numbers are added to the scores" in told(capsys, "info", str(path))[1].splitlines()
    np.savez(path, scores=np.zeros((2, 4, 4)), key_padding_mask=~causal[1:2])
    assert "mask: true (or 1) means blocked, as its name says" in told(capsys, "info", str(path))[1].splitlines()


def test_names_of_each_item_are_those_of_the_one_that_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "a.npz", scores=np.zeros((2, 1, 2, 2)))
    names = tmp_path / "names.json"
    names.write_text('[["the", "cat"], ["a", "dog"]]')
    arguments = ["export", str(tmp_path / "a.npz"), "--axes", "batch,head,query,key", "--tokens", str(names)]
    for item, first in ((1, "the"), (2, "a")):
        out = tmp_path / str(item)
        assert told(capsys, *arguments, "--batch", str(item), "--stage", "N", "--out", str(out))[0] == 0
        assert first in next(out.glob("N*.csv")).read_text().splitlines()[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--heads", "4"], "expected heads side by side in one axis, for --heads 4, received 12 heads by themselves"),
        (["--kv-heads", "4"], "expected heads side by side in one axis, for --kv-heads 4, received 12 heads"),
        (["--mask-means", "blocked"], "expected a mask, for --mask-means, received none"),
        (["--batch", "1"], "expected an axis that is read as a batch, for --batch 1, received none"),
    ],
)
@pytest.mark.parametrize("command", ["scores", "info"])
def test_what_is_told_of_nothing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, arguments: list[str], said: str
) -> None:
    np.save(tmp_path / "att0.npy", np.full((12, 4, 4), 0.25))
    code, _, err = told(capsys, command, str(tmp_path / "att0.npy"), *arguments)
    assert code == 2 and said in err
    assert told(capsys, command, str(tmp_path / "att0.npy"), "--heads", "12")[0] == 0


@pytest.mark.parametrize("item", ["1", "2", "9"])
def test_an_item_where_layers_were_read_is_answered_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], item: str
) -> None:
    np.save(tmp_path / "w.npy", weights(2, 3, 4, 4))
    for command in (["info"], ["scores"], ["export", "--out", str(tmp_path / "out")]):
        code, _, err = told(capsys, command[0], str(tmp_path / "w.npy"), "--batch", item, *command[1:])
        assert code == 2
        assert (
            f"expected an axis that is read as a batch, for --batch {item}, received axis 0 of w (2 items) read as"
            " layers (say otherwise with --axes batch,head,query,key=w)"
        ) in err


def test_a_mask_beside_weights_alone_means_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "a.npz", attn=np.full((2, 4, 4), 0.25), mask=np.tri(4, dtype=bool))
    code, _, err = told(capsys, "scores", str(tmp_path / "a.npz"), "--mask-means", "allowed")
    assert code == 2 and "expected a mask that acts, for --mask-means, received one beside weights alone" in err


def test_zeros_of_the_weights_decide_what_a_mask_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    live = np.arange(4) < 3
    weights = np.tri(4) * live / (np.tri(4) * live).sum(-1, keepdims=True)
    np.savez(tmp_path / "a.npz", scores=np.zeros((2, 4, 4)), attentions=np.stack([weights] * 2), mask=~live[None])
    line = "mask: true (or 1) means blocked: so it blocks what has weight 0 in the file; --mask-means says otherwise"
    assert line in told(capsys, "info", str(tmp_path / "a.npz"))[1].splitlines()


def test_a_layer_and_an_item_of_a_session_and_of_an_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command takes the same one, or says that there is none."""
    code, out, _ = told(capsys, "scores", "--example", "minilm", "--layer", "3")
    heads = out.splitlines()[1:]
    assert code == 0 and len(heads) == 2 * 12  # of both texts
    assert all(line.startswith("Layer 3 ") for line in heads)
    code, out, _ = told(capsys, "scores", "--example", "minilm", "--layer", "3", "--batch", "2")
    assert code == 0 and len(out.splitlines()) == 1 + 12
    folder = tmp_path / "out"
    code, out, _ = told(capsys, "export", "--example", "minilm", "--layer", "3", "--batch", "2", "--out", str(folder))
    assert (code, out.startswith("Layer 3 · text 2")) == (0, True)
    lines = told(capsys, "info", "--example", "minilm", "--layer", "3")[1].splitlines()
    assert [line for line in lines if line.startswith("Layer ")] == ["Layer 3 · text 1 (current)", "Layer 3 · text 2"]
    for command in ("scores", "info"):
        code, _, err = told(capsys, command, "--example", "minilm", "--layer", "9")
        assert (code, "a layer from 1 to 6, received layer 9" in err) == (1, True)
        code, _, err = told(capsys, command, "--example", "minilm", "--batch", "3")
        assert (code, "a batch of 2 items, received item 3" in err) == (1, True)
        code, _, err = told(capsys, command, "--example", "karina", "--batch", "1")
        assert (code, "a batch, for --batch" in err) == (2, True)
    np.savez(tmp_path / "layers.npz", **{f"layer_{k}": weights(2, 3, 3) for k in range(3)})
    code, out, _ = told(capsys, "scores", str(tmp_path / "layers.npz"), "--layer", "2")
    assert code == 0 and len(out.splitlines()) == 1 + 2


def test_a_doubt_of_what_a_tensor_is_names_the_option_that_says_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random = np.random.default_rng(0)
    np.savez(tmp_path / "states.npz", **{str(k): random.standard_normal((2, 16, 384)) for k in range(3)})
    np.save(tmp_path / "drawn.npy", random.uniform(0.1, 0.9, (4, 5, 5)))
    for name, role in (("states.npz", "hidden states"), ("drawn.npy", "scores")):
        path = str(tmp_path / name)
        (doubt,) = (line for line in told(capsys, "info", path)[1].splitlines() if line.startswith("doubt: "))
        assert f"are these {role}" in doubt
        options = doubt.partition("(say so with ")[2].removesuffix(")").split()
        code, out, _ = told(capsys, "info", path, *options)
        assert code == 0 and f"; {role} " in out.lower() and doubt not in out


def test_a_doubt_names_the_options_that_settle_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(0)
    path = str(tmp_path / "turned.npz")
    np.savez(path, **{name: random.normal(size=(2, 10, 4, 8)) for name in "qkv"})
    doubts = [line for line in told(capsys, "info", path)[1].splitlines() if line.startswith("doubt: ")]
    assert len(doubts) == 1
    options = doubts[0].partition("(say so with ")[2].removesuffix(")").split()
    assert options.count("--axes") == 3
    code, out, _ = told(capsys, "info", path, *options)
    assert code == 0 and "doubt: " not in out and "10 queries, 10 keys" in out
    code, out, _ = told(capsys, "info", path, *options[:2])
    assert "(say so with --kv-heads or --axes)" in out


def test_a_models_folder_is_said_to_be_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "weights.npz", w=np.ones((3, 3)))
    assert "Open model" not in told(capsys, "info", str(tmp_path))[1]
    (tmp_path / "config.json").write_text("{}")
    assert "File > Open model" in told(capsys, "info", str(tmp_path))[1]


def test_info_of_a_layer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "attn.npy", weights(3, 4, 5, 5))
    code, _, err = told(capsys, "info", str(tmp_path / "attn.npy"), "--layer", "9")
    assert (code, "a layer from 1 to 3, received layer 9" in err) == (1, True)
    assert told(capsys, "info", str(tmp_path / "attn.npy"), "--layer", "3")[0] == 0
    np.save(tmp_path / "attn.npy", weights(4, 5, 5))
    code, _, err = told(capsys, "info", str(tmp_path / "attn.npy"), "--layer", "1")
    assert (code, "a file of layers" in err) == (1, True)


def test_a_layer_that_is_missing_among_others_is_told_which_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for layer in (0, 2, 3, 10):
        np.save(tmp_path / f"layer_{layer}.npy", weights(4, 5, 5))
    for command in (["info"], ["export", "--out", str(tmp_path / "out")]):
        code, _, err = told(capsys, command[0], str(tmp_path), "--layer", "2", *command[1:])
        assert (code, "expected one of the layers 1, 3 to 4, 11, received layer 2" in err) == (1, True)


def test_fewer_heads_of_keys_in_a_fused_axis(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = np.random.default_rng(0).random((1, 3, (4 + 2 * 2) * 5))
    np.savez(tmp_path / "qkv.npz", qkv=numbers)
    file, out = str(tmp_path / "qkv.npz"), tmp_path / "out"
    arguments = ("export", file, "--heads", "4", "--kv-heads", "2", "--stage", "Q,K,V", "--out", str(out))
    assert told(capsys, *arguments)[0] == 0
    for stage, head, first in (("Q", 4, 15), ("K", 4, 25), ("V", 1, 30)):
        found = read(out / f"{stage}_head{head}.csv").values
        np.testing.assert_array_equal(found, numbers[0, :, first : first + 5])
    code, _, err = told(capsys, *arguments[:5], "3", *arguments[6:])
    assert code == 1 and "(say so with --kv-heads or --axes)" in err


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    from attn_gui.app import parser
    from attn_gui.cli import COMMANDS

    listed = " ".join(parser().format_help().partition("Commands without a window: attn-gui ")[2].split())
    assert listed.partition(" (each")[0] == ", ".join(COMMANDS)


def test_heads_and_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "qkv.npz", qkv=np.random.default_rng(0).random((1, 3, 24)))
    (tmp_path / "tokens.txt").write_text("the cat sat")
    file, out = str(tmp_path / "qkv.npz"), str(tmp_path / "out")
    code, _, err = told(capsys, "export", file, "--out", out)
    assert code == 1 and "how many heads? (say so with --heads)" in err
    arguments = ("export", file, "--heads", "2", "--tokens", str(tmp_path / "tokens.txt"), "--stage", "N", "--out", out)
    assert told(capsys, *arguments)[0] == 0
    assert read(tmp_path / "out" / "N_head2.csv").rows == ("the", "cat", "sat")
    (tmp_path / "tokens.txt").write_text("the cat")
    code, _, err = told(capsys, *arguments)
    assert code == 1 and "2 tokens for 3 queries" in err


def test_folders_and_files_that_are_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "layers"
    folder.mkdir()
    for layer in range(1, 11):
        np.save(folder / f"layer_{layer}.npy", weights(2, 3, 3))
    out = told(capsys, "info", str(folder))[1]
    assert out.startswith("layer_1 … layer_10 (10)  float64 2 x 3 x 3")
    (folder / "layer_4.npy").write_bytes(b"hello")
    code, _, err = told(capsys, "info", str(folder))
    assert code == 1 and "layer_4.npy: expected a numpy array (.npy)" in err
    code, _, err = told(capsys, "info", str(tmp_path / "gone.npz"))
    assert code == 1 and "a name that does not exist" in err
    assert err.count("\n") == 1


def test_one_token_is_no_mask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "untitled.npy"
    for numbers, role in ((np.ones((3, 1, 1)), "Weights N"), (np.zeros((3, 1, 1)), "Scores A")):
        np.save(path, numbers)
        code, out, _ = told(capsys, "info", str(path))
        assert code == 0 and f"{role}: head, query, key" in out and "unclear" not in out
        assert "Not all rows" not in out
    np.save(path, np.ones((3, 1, 1), bool))
    assert "Mask: head, query, key" in told(capsys, "info", str(path))[1]


def test_what_a_tensor_is_can_be_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "untitled.npy", tmp_path / "out"
    triangle = np.tril(np.ones((4, 4)))
    np.save(path, triangle)  # which is read as a mask
    export = ("export", str(path), "--stage", "N", "--out", str(out))
    assert told(capsys, *export)[0] == 1
    for role in ("weights", "WEIGHTS=untitled"):
        assert told(capsys, *export, "--read", role)[0] == 0
        np.testing.assert_array_equal(read(out / "N_head1.csv").values, triangle)
    assert told(capsys, *export, "--read", "scores")[0] == 0
    raised = np.exp(triangle)
    np.testing.assert_allclose(read(out / "N_head1.csv").values, raised / raised.sum(1, keepdims=True), rtol=1e-6)
    # with the axes in another order
    assert told(capsys, *export, "--read", "weights", "--axes", "key,query")[0] == 0
    np.testing.assert_array_equal(read(out / "N_head1.csv").values, triangle.T)
    said = ("--read", "weights", "--axes", "key,query=untitled")
    assert "Weights N: key, query" in told(capsys, "info", str(path), *said)[1]
    assert told(capsys, "scores", str(path), "--read", "weights")[0] == 0


def test_what_is_said_goes_before_names_and_leaves_others_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "a.npz", tmp_path / "out"
    first, second = weights(2, 3, 3), weights(2, 3, 3)[::-1]
    np.savez(path, attn=first, other=second, loss=np.ones(2))
    export = ("export", str(path), "--stage", "N", "--out", str(out))
    for said, expected in ((), first), (("--read", "weights=other"), second):
        assert told(capsys, *export, *said)[0] == 0
        np.testing.assert_array_equal(read(out / "N_head2.csv").values, expected[1])
    lines = told(capsys, "info", str(path), "--read", "weights=other")[1].splitlines()
    assert [line.partition("  ")[0] for line in lines if line.endswith("not read")] == ["attn", "loss"]
    code, _, err = told(capsys, *export, "--read", "nothing=attn", "--read", "nothing=other")
    assert code == 1 and "Nothing is chosen" in err


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        (("--read", "weight=attn"), 2, "expected one of weights, scores, Q, "),
        (("--read", "weights=none"), 1, "expected the name of a tensor (attn, other, loss), received 'none'"),
        (("--read", "weights"), 1, "expected the name of a tensor (attn, other, loss), received none"),
        (("--axes", "head,query,keys=attn"), 2, "received 'keys'"),
        (("--axes", "query,key=attn"), 1, "expected 3 axes for attn, of shape (2, 3, 3), received query,key"),
        (("--axes", "query,query,key=attn"), 1, "axes 0 and 1 are both read as query"),
        (("--read", "mask=attn", "--read", "mask=other"), 2, "that is mask in an attention, received attn and"),
        (("--read", "weights=attn", "--read", "scores=attn"), 2, "--read: expected once for each tensor"),
        (("--read", "weights=attn", "--read", "weights=attn"), 2, "received twice of attn"),
        (("--read", "weights", "--read", "scores"), 2, "received twice without a name"),
        (("--axes", "head,query,key=attn", "--axes", "head,key,query=attn"), 2, "--axes: expected once for each"),
        (("--axes", "head,query,key=loss"), 2, "expected axes of a tensor that is read (--read says as what: "),
        (("--read", "nothing=attn", "--axes", "head,query,key=attn"), 2, "received those of attn, which is not"),
    ],
)
def test_what_is_said_and_makes_no_sense(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], said: tuple[str, ...], code: int, words: str
) -> None:
    np.savez(tmp_path / "a.npz", attn=weights(2, 3, 3), other=weights(2, 3, 3), loss=np.ones((2, 3, 3)) * 5)
    out = tmp_path / "out"
    found = told(capsys, "export", str(tmp_path / "a.npz"), "--out", str(out), *said)
    assert found[0] == code and words in found[2]
    assert found[2].startswith("attn-gui") and found[2].count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize("command", ["info", "scores"])
@pytest.mark.parametrize(
    ("said", "words"),
    [
        (("--read", "weights", "--read", "scores=attn"), "expected one role for attn, received weights and scores"),
        (("--read", "weights", "--read", "nothing=attn"), "expected one role for attn, received weights and nothing"),
        (("--axes", "head,query,key", "--axes", "head,key,query=attn"), "expected the axes of attn once"),
    ],
)
def test_the_only_tensor_is_told_of_once_by_its_name_or_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, said: tuple[str, ...], words: str
) -> None:
    np.save(tmp_path / "attn.npy", weights(2, 3, 3))
    code, out, err = told(capsys, command, str(tmp_path / "attn.npy"), *said)
    assert (code, out, words in err, err.count("\n")) == (2, "", True, 1)


def test_layers_of_one_part_are_told_of_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "a.npz", **{f"layer_{k}": weights(2, 3, 3) for k in range(3)})
    file = str(tmp_path / "a.npz")
    code, _, err = told(capsys, "info", file, "--read", "weights=layer_0", "--read", "scores=layer_2")
    assert (code, "one role for layer_2, received weights and scores" in err) == (2, True)
    assert told(capsys, "info", file, "--read", "weights=layer_0", "--read", "weights=layer_2")[0] == 0


def test_tensors_of_several_attentions_may_be_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = "encoder.layers.0.p", "decoder.layers.0.p"
    np.savez(tmp_path / "a.npz", **{name: weights(2, 3, 3) for name in names})
    said = [word for name in names for word in ("--read", f"weights={name}")]
    code, out, _ = told(capsys, "info", str(tmp_path / "a.npz"), *said)
    assert code == 0 and out.count("Weights N") == 2


@pytest.mark.parametrize("command", ["info", "scores", "export"])
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--read", "weights"),
        ("--axes", "query,key"),
        ("--heads", "2"),
        ("--kv-heads", "2"),
        ("--mask-means", "allowed"),
        ("--tokens", "tokens.txt"),
    ],
)
def test_what_is_said_of_tensors_is_not_said_of_sessions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, option: str, value: str
) -> None:
    save(load_session("karina"), tmp_path / "a.attn")
    rest = ("--out", str(tmp_path / "out")) if command == "export" else ()
    for source, what in ((("--example", "karina"), "an example"), ((str(tmp_path / "a.attn"),), "which is a session")):
        code, out, err = told(capsys, command, *source, *rest, option, value)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"attn-gui: {option}: expected a file of tensors, received ") and what in err
    assert not (tmp_path / "out").exists()
