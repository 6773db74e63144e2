"""What a script or a notebook hands over: tensors into session files, and into the window."""
