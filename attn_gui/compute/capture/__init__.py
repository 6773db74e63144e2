"""Capture: every attention of a transformers model, exactly as it was used, as experiments of a session.

``opening`` opens a model, ``interface`` stands in for its attentions while it runs, ``texts`` makes tokens of texts,
``layers`` an experiment of an attention, ``capturing`` a session of a forward pass.
"""
