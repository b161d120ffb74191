"""Umarov and Solovyev. PLoS ONE 12, e0171410 (2017)."""
