"""Dalla-Torre et al. Nature Methods 22, 287 (2025)."""
