"""485 RNA secondary structures of at most 150 bases out of the files inside SQUARNA."""
