"""Pedregosa et al. Journal of Machine Learning Research 12, 2825 (2011)."""
