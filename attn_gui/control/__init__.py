"""Qt without widgets: the document, its undo commands, the worker."""
