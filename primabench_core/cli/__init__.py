"""The ``primabench`` command: a thin shell over the public functions."""
