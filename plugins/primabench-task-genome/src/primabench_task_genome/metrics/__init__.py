"""Metrics of variants, labelled sequences and tracks: loaded when they run."""
