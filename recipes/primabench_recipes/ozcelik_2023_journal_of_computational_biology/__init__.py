"""Özçelik et al. Journal of Computational Biology 30, 1240 (2023)."""
