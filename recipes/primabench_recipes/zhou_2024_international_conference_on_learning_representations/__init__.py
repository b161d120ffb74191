"""Zhou et al. International Conference on Learning Representations (2024)."""
