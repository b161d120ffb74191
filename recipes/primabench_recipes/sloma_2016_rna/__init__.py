"""Sloma, Mathews. RNA 22, 1808 (2016)."""
