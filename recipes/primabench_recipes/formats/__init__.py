"""Readers of file formats that several recipes share; each refuses what it does not understand."""
