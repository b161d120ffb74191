"""Colange et al. Scientific Reports 15, 18104 (2025)."""
