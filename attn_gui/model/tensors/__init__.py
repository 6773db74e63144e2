"""Tensors that a person brings: what a file holds, how its axes are read, and whether that fits together.

:mod:`info` says what is in a file, :mod:`reading` how a person reads it, :mod:`proposals` what is proposed first,
:mod:`checks` what does not fit, naming the axis, and :mod:`offers` what can be derived. No number of a tensor is held
here; :mod:`attn_gui.files.tensors` reads them.
"""
