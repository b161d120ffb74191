"""Angerer et al. Bioinformatics 32, 1241 (2016)."""
