"""Öztürk, Özgür, Ozkirimli. Bioinformatics 34, i821 (2018)."""
