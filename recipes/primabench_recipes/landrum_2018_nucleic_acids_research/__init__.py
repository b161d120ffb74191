"""Landrum et al. Nucleic Acids Research 46, D1062 (2018)."""
