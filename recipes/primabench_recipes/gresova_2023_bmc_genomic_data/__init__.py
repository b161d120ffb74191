"""Grešová et al. BMC Genomic Data 24, 25 (2023)."""
