"""The parts of the dialog that finds a convention."""
