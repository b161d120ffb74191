"""The command ``primabench patient``."""
