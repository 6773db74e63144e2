"""The stages of the computation, under fixed names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """One stage: its name in code and files, its formula on screen, and the shape of what it holds.

    square: n_q x n_k, asked for as a Matrix; per_head: there is one for each head.
    """

    name: str
    formula: str
    what: str
    per_head: bool = True
    square: bool = False

    @property
    def entry(self) -> str:
        """``N   weights`` in a list to choose from; a name that says what it is stands alone."""
        return self.name if self.name == self.what else f"{self.name}   {self.what}"


STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage("X", "X", "token embeddings", per_head=False),
        Stage("context", "X'", "context embeddings", per_head=False),
        Stage("values", "X''", "embeddings of the values", per_head=False),
        Stage("X_in", "X + P", "embeddings with their positions", per_head=False),
        Stage("context_in", "X' + P", "context with its positions", per_head=False),
        Stage("Q_projected", "X W_Q + b_Q", "queries before norm and rotary positions"),
        Stage("K_projected", "X W_K + b_K", "keys before norm and rotary positions"),
        Stage("Q", "X W_Q + b_Q", "queries"),
        Stage("K", "X W_K + b_K", "keys"),
        Stage("V", "X W_V + b_V", "values"),
        Stage("raw", "Q Kᵀ", "dot products", square=True),
        Stage("scaled", "scale · Q Kᵀ", "scaled scores", square=True),
        Stage("capped", "c · tanh(scaled / c)", "softcapped scores", square=True),
        Stage("bias", "B", "bias on the scores", square=True),
        Stage("A", "Q Kᵀ / √d_k", "scores", square=True),
        Stage("A_masked", "A, −∞ where masked", "masked scores", square=True),
        Stage("N", "softmax(A)", "weights", square=True),
        Stage("head_output", "N V", "what each head gathers"),
        Stage("concat", "[head 1, head 2, …]", "heads side by side", per_head=False),
        Stage("output", "concat W_O + b_O", "output", per_head=False),
    )
}
