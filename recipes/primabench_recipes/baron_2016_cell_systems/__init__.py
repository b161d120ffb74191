"""Baron, Veres, Wolock et al. Cell Systems 3, 346 (2016)."""
