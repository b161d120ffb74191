"""CB513 and TS115: protein secondary structure, as PS4 passes on the files of NetSurfP-2.0."""
