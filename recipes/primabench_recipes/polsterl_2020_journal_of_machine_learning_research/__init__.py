"""Pölsterl. Journal of Machine Learning Research 21, 1 (2020)."""
