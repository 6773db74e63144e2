"""Opening a model of this computer and capturing it on a text."""
