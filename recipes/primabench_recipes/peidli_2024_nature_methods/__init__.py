"""Peidli et al. Nature Methods 21, 531 (2024)."""
