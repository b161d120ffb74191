"""Huang et al. Bioinformatics 37, 830 (2021)."""
