"""The heads of all layers of a session side by side."""
