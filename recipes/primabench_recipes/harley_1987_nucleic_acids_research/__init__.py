"""Harley, Reynolds. Nucleic Acids Research 15, 2343 (1987)."""
