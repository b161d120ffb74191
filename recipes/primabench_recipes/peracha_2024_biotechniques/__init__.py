"""Peracha. BioTechniques 76, 63 (2024)."""
