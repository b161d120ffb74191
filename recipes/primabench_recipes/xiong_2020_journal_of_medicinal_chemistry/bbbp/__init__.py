"""About 2,050 molecules that pass the blood-brain barrier or do not."""
