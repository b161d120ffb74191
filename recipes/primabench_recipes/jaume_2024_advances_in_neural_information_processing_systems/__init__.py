"""Jaume et al. Advances in Neural Information Processing Systems 37 (2024)."""
