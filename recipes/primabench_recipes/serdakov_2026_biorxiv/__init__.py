"""Serdakov et al. bioRxiv (2026)."""
