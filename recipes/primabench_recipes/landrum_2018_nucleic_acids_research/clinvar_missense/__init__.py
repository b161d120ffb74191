"""Missense variants of ClinVar with their reference context."""
