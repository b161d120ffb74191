"""Bergen et al. Nature Biotechnology 38, 1408 (2020)."""
