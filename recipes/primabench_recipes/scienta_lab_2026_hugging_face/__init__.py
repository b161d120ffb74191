"""Scienta Lab, PRIMO, Hugging Face (2026)."""
