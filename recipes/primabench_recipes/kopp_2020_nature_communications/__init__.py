"""Kopp et al. Nature Communications 11, 3488 (2020)."""
