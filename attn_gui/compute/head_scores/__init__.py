"""Scores of the heads of a layer, and attention rollout across layers."""

from attn_gui.compute.head_scores.rollout import Rollout
from attn_gui.compute.head_scores.scoring import head_scores, layer_scores, no_scores, scores_of_head

__all__ = ["Rollout", "head_scores", "layer_scores", "no_scores", "scores_of_head"]
