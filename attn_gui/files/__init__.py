"""Between bytes and the model: sessions, CSV, NPZ, JSON, examples. No Qt, no torch."""
