"""Merz et al. Journal of Open Source Software 7, 3981 (2022)."""
