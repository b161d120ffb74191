"""Luecken et al. Nature Methods 19, 41 (2022)."""
