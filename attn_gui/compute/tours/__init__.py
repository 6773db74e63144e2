"""What tours measure beside the stages of an experiment."""
