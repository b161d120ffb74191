"""Notin et al. Advances in Neural Information Processing Systems (2023)."""
