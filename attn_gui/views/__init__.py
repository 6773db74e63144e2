"""Qt widgets: they draw, forward intents, and hold nothing that a session would miss."""
