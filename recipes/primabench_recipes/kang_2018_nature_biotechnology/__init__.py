"""Kang et al. Nature Biotechnology 36, 89 (2018)."""
