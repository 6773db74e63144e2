"""A derivation as text that is copied: plain, Markdown, LaTeX."""

from attn_gui.files.derivation_text.latex import latex
from attn_gui.files.derivation_text.markdown import markdown
from attn_gui.files.derivation_text.plain import plain_text

__all__ = ["latex", "markdown", "plain_text"]
