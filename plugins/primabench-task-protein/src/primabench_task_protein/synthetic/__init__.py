"""Made scans for offline trials: the same bytes on every machine."""
